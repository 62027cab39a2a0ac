import type { Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import type { ServingFacts } from './project.ts'

/**
 * Tells how a service is reached, as its settings say.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` when a port is not fixed
 */
export function servingFacts(settings: Settings): ServingFacts {
  const managementPort = settings.number('sonatina.management.port')
  const isTls = settings.list('sonatina.http.ssl.certificate.files', []).length > 0
  const delay = settings.duration('sonatina.shutdown.delay', 0)
  const path = `/${settings.text('sonatina.http.root-path', '/').replace(/^\/+|\/+$/g, '')}`
  return {
    port: fixedPort('sonatina.http.port', settings.number('sonatina.http.port', 8080)),
    ...(managementPort === undefined ? {} : { managementPort: fixedPort('sonatina.management.port', managementPort) }),
    rootPath: path === '/' ? '' : path,
    // Probes present no client certificate.
    probe: settings.text('sonatina.http.ssl.client-auth') === 'required' ? 'tcp' : isTls ? 'https' : 'http',
    isTls,
    shutdownTimeout: settings.duration('sonatina.shutdown.timeout', 30_000),
    ...(delay > 0 ? { shutdownDelay: delay } : {}),
  }
}

function fixedPort(key: string, port: number): number {
  if (port > 0) return port
  throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${key}=0 takes any free port, which a cluster cannot find; name one`, details: { key } })
}
