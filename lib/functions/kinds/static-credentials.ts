import type { Authorization } from '../../auth/index.ts'
import { Secret, settingKey } from '../../configuration/index.ts'
import { ConfigurationError } from '../../errors/index.ts'
import type { FunctionSource } from '../compile-options.ts'
import type { RemoteParts } from './parts.ts'

/**
 * Gives the credentials of a function that has no document to state a scheme: its `auth` definition, else the settings
 * `sonatina.functions.<fn>.*` or function metadata of the same names, which wins (configuration.md §6): user and password as http
 * basic, `access_token` as bearer, `api_key` as header `X-API-KEY`.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` for a user name with a colon
 */
export function credentialsOf(source: FunctionSource, parts: RemoteParts): Authorization | undefined {
  const defined = parts.authorizationOf(source)
  if (defined !== undefined) return defined
  const user = valueOf(source, 'username')
  const token = valueOf(source, 'access_token')
  const key = valueOf(source, 'api_key')
  if (user !== undefined) {
    if (user.includes(':')) {
      throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${keyOf(source, 'username')} holds a ":", which http basic cannot send` })
    }
    return header('Authorization', `Basic ${Buffer.from(`${user}:${valueOf(source, 'password') ?? ''}`).toString('base64')}`)
  }
  if (token !== undefined) return header('Authorization', `Bearer ${token}`)
  if (key !== undefined) {
    const prefix = valueOf(source, 'api_key_prefix')
    return header('X-API-KEY', prefix === undefined ? key : `${prefix} ${key}`)
  }
  return undefined
}

function header(name: string, value: string): Authorization {
  const secret = new Secret(value)
  return { apply: (request) => { request.headers[name] = secret.reveal() }, renew: () => false }
}

function valueOf(source: FunctionSource, attribute: string): string | undefined {
  const stated = source.definition.metadata[attribute]
  if (typeof stated === 'string' && stated !== '') return stated
  return source.options.settings.secret(keyOf(source, attribute))?.reveal()
}

function keyOf({ definition }: FunctionSource, attribute: string): string {
  return settingKey('sonatina.functions', definition.name, attribute)
}
