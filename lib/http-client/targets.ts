import { lookup as resolveName, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { ConfigurationError } from '../errors/index.ts'

/** The networks that are never called unless a setting says otherwise: link-local, where clouds keep their metadata. */
export const DEFAULT_DENIED: readonly string[] = ['169.254.0.0/16', 'fe80::/10']

/** Decides which addresses and hosts a client may call (openapi-functions.md §7). */
export interface Targets {
  /** Says why a host and port may not be called; `undefined` when they may. */
  refuse(hostname: string, port: number): string | undefined
  /** Resolves names for sockets, leaving denied addresses out, so that what was checked is what is used. */
  readonly lookup: LookupFunction
}

/** Makes the rules of a client. @throws {@link ConfigurationError} for a network that is not CIDR. */
export function createTargets(options: {
  readonly denyAddresses: readonly string[]
  readonly allowAddress?: string
  readonly allowTargets?: readonly string[]
}): Targets {
  const denied = toBlockList(options.denyAddresses)
  const isDenied = (address: string, family: number): boolean => denied.check(address, family === 6 ? 'ipv6' : 'ipv4')
  const allowed = options.allowTargets?.map(toTargetPattern)
  return {
    refuse(hostname, port) {
      const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
      if (allowed && !allowed.some((matches) => matches(host, port))) return 'its host is not one of sonatina.http-client.allow-targets'
      const family = isIP(host)
      if (family !== 0 && host !== options.allowAddress && isDenied(host, family)) return DENIED
      return undefined
    },
    lookup(hostname, lookupOptions, callback) {
      resolveName(hostname, { ...lookupOptions, all: true }, (error, addresses: LookupAddress[]) => {
        if (error) {
          callback(error, '')
          return
        }
        const usable = addresses.filter(({ address, family }) => !isDenied(address, family))
        const first = usable[0]
        if (!first) callback(Object.assign(new Error(DENIED), { code: DENIED_CODE }), '')
        else if (lookupOptions.all === true) callback(null, usable)
        else callback(null, first.address, first.family)
      })
    },
  }
}

/** Code of the error of a name that resolves to denied addresses only. */
export const DENIED_CODE = 'ERR_ADDRESS_DENIED'
/** What is said of a denied address. */
export const DENIED = 'its address is denied by sonatina.http-client.deny-addresses'

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const match = /^([0-9a-fA-F.:]+)(?:\/(\d+))?$/.exec(network)
    const address = match?.[1] ?? ''
    const family = isIP(address)
    const prefix = match?.[2] === undefined ? (family === 6 ? 128 : 32) : Number(match[2])
    if (family === 0 || prefix > (family === 6 ? 128 : 32)) {
      throw new ConfigurationError({
        code: 'CONFIGURATION_INVALID',
        message: `sonatina.http-client.deny-addresses: "${network}" is not a network such as 10.0.0.0/8 or fd00::/8`,
      })
    }
    list.addSubnet(address, prefix, family === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

function toTargetPattern(text: string): (host: string, port: number) => boolean {
  const match = /^(.*?)(?::(\d+))?$/.exec(text.toLowerCase())
  const name = (match?.[1] ?? '').replace(/^\[|\]$/g, '')
  const port = match?.[2] === undefined ? undefined : Number(match[2])
  const matchesHost = name.startsWith('*.') ? (host: string) => host.endsWith(name.slice(1)) : (host: string) => host === name
  return (host, actual) => matchesHost(host) && (port === undefined || port === actual)
}
