import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CaseFile, Fields } from './case-file.ts'

/** A server that settings may name, by the address that stands for it. */
export interface ServerAddresses {
  /** Address of the default stub server; absent when the case has none. */
  readonly main?: string
  readonly named: ReadonlyMap<string, string>
}

/** Language profile of a group (decisions of the project): a case may override it. */
export function profileOf(group: string): 'spec' | 'sonataflow' {
  return group.startsWith('sonataflow') ? 'sonataflow' : 'spec'
}

/** Takes the remark in parentheses off a value of `config`, which some cases carry for the reader. */
export function withoutRemark(value: unknown): unknown {
  return typeof value === 'string' ? /^(\S+) \(.*\)$/s.exec(value)?.[1] ?? value : value
}

const OF_ALL_FUNCTIONS = /^((?:kogito\.sw|sonatina)\.functions)\.(host|port|protocol|timeout)$/

/** What `config` says of all functions holds for each of them, whatever the settings files say of one. */
export function spreadOverFunctions(config: Readonly<Record<string, unknown>>, functions: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).flatMap(([key, value]) => {
    const [, prefix, attribute] = OF_ALL_FUNCTIONS.exec(key) ?? []
    return prefix === undefined || attribute === undefined ? [[key, value]] : functions.map((name) => [`${prefix}.${name}.${attribute}`, value])
  }))
}

/**
 * Completes settings files of an origin whose placeholders its own test set-up fills: addresses of the servers it stubs, and the
 * paths of their token endpoints.
 */
export async function originPlaceholders(file: CaseFile, folder: string, servers: ServerAddresses): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const path of file.properties ?? []) {
    const text = await readFile(join(folder, path), 'utf8')
    for (const [, name] of text.matchAll(/\$\{([\w.-]+)\}/g)) {
      const value = name === undefined ? undefined : placeholder(name, file.mocks ?? [], servers)
      if (name !== undefined && value !== undefined) found[name] = value
    }
  }
  return found
}

function placeholder(name: string, mocks: readonly Fields[], servers: ServerAddresses): string | undefined {
  if (/\burl$/.test(name)) {
    const server = [...servers.named].find(([key]) => name.toLowerCase().includes(key.toLowerCase()))
    return server?.[1] ?? servers.main
  }
  return /\btoken-path$/.test(name) ? tokenPath(name, mocks) : undefined
}

/** The token endpoint whose path shares most words with the placeholder. */
function tokenPath(name: string, mocks: readonly Fields[]): string {
  const words = name.split(/[.-]/)
  const shared = (path: string): number => words.filter((word) => path.split(/[/-]/).includes(word)).length
  const paths = mocks.map((mock) => String(mock['path'] ?? '')).filter((path) => /\/token$/.test(path))
  // Where the case has none, nobody calls it: the settings only have to be complete.
  return paths.sort((left, right) => shared(right) - shared(left) || left.length - right.length)[0] ?? '/token'
}

/** What tells which OpenAPI documents have no address. */
export interface RestClientCase {
  readonly file: CaseFile
  readonly folder: string
  readonly texts: readonly string[]
  readonly address: string | undefined
  readonly config: Readonly<Record<string, unknown>>
}

/** The stub server is the address of each OpenAPI document that the settings of the case give none. */
export async function restClientSettings({ file, folder, texts, address, config }: RestClientCase): Promise<Record<string, string>> {
  if (address === undefined || !file.needs.includes('rest-mock')) return {}
  const configured = [...(await readProperties(file, folder)).map(([key]) => key), ...Object.keys(config)].join('\n').replaceAll(/[^A-Za-z0-9\n]/g, '_')
  const documents = texts.flatMap((text) => [...text.matchAll(/([\w.-]+\.(?:ya?ml|json))#/g)].flatMap(([, name]) => name ?? []))
  const keys = [...new Set(documents.map((name) => name.replaceAll(/[^A-Za-z0-9]/g, '_')))]
  return Object.fromEntries(keys.filter((key) => !configured.includes(`rest_client_${key}_`)).map((key) => [`sonatina.rest-client.${key}.url`, address]))
}

/** Names and topics of the channels that settings declare, with the path of an incoming one. */
export interface Channels {
  readonly outgoing: ReadonlySet<string>
  /** Path for each name and topic. */
  readonly incoming: ReadonlyMap<string, string>
}

const CHANNEL = /^(?:mp|sonatina)\.messaging\.(incoming|outgoing)\.("[^"]+"|[^.]+)\.(.+)$/

/** Reads the channels from settings files and from `config`, which wins. */
export async function readChannels(file: CaseFile, folder: string, config: Readonly<Record<string, unknown>>): Promise<Channels> {
  const outgoing = new Set<string>()
  const incoming = new Map<string, { path?: string; topic?: string }>()
  for (const [key, value] of [...await readProperties(file, folder), ...Object.entries(config)]) {
    const [, direction, quoted = '', attribute = ''] = CHANNEL.exec(key) ?? []
    const name = quoted.replaceAll('"', '')
    if (direction === 'outgoing') outgoing.add(attribute === 'topic' ? String(value) : name)
    else if (direction === 'incoming') incoming.set(name, { ...incoming.get(name), [attribute]: String(value) })
  }
  const paths = [...incoming].flatMap(([name, { path = '/', topic = name }]): [string, string][] => [[name, path], [topic, path]])
  return { outgoing, incoming: new Map(paths) }
}

async function readProperties(file: CaseFile, folder: string): Promise<readonly (readonly [string, string])[]> {
  const texts = await Promise.all((file.properties ?? []).map((path) => readFile(join(folder, path), 'utf8')))
  return texts.flatMap((text) => text.split('\n')).flatMap((line): [string, string][] => {
    const match = /^\s*([^#!=:\s][^=\s]*)\s*=\s*(.*?)\s*$/.exec(line)
    return match?.[1] === undefined || match[2] === undefined ? [] : [[match[1], match[2]]]
  })
}
