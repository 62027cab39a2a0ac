export { deploy, type DeployOptions } from './deploy.ts'
export { createLoader, type Loader, type LoaderOptions } from './loader.ts'
export { createRegistry, type Registry } from './registry.ts'
export { watchFiles } from './watch.ts'
