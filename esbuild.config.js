import { bundle } from './esbuild.bundle.js'

// Two packages are themselves hundreds of files: of rest functions, and of dev services.
await bundle({ inside: ['swagger-client', 'oidc-provider'], isRelease: true })
