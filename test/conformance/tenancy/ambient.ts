import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { Facts, type Call } from '../../../lib/tenancy/call.ts'
import { compilePolicy } from '../../../lib/tenancy/compile.ts'
import type { AuthorizationPolicy } from '../../../lib/tenancy/types.ts'
import { failed, listFiles, readObjects, type Check, type Verdict } from './files.ts'
import { aimedCall, createRandom } from './random-calls.ts'

const CALLS = 1500

type Text = { readonly exact?: string; readonly prefix?: string; readonly suffix?: string; readonly presence?: object }
type Block = { readonly address: string; readonly length: number }
type Account = { readonly namespace: string; readonly serviceAccount: string }
type Match = Readonly<Record<string, readonly unknown[]>>

interface Authorization {
  readonly action?: string
  readonly groups?: readonly { readonly rules: readonly { readonly matches: readonly Match[] }[] }[]
}

/** Checks `ambient/*-in.yaml` against the authorization that a node proxy gets: both decide equally on random connections. */
export async function ambientChecks(folder: string): Promise<Check[]> {
  const files = await listFiles(join(folder, 'ambient'), /-in\.ya?ml$/)
  return files.map((file) => ({
    id: `ambient/${file.replace(/-in\.ya?ml$/, '')}`,
    feature: 'ambient',
    async run() {
      const [policy] = (await readObjects(folder, 'ambient', file)).map(({ value }) => value as unknown as AuthorizationPolicy)
      const wanted = parse(await readFile(join(folder, 'ambient', file.replace('-in.', '.')), 'utf8')) as Authorization
      return policy === undefined ? failed('the input holds no policy') : judge(policy, wanted)
    },
  }))
}

function judge(policy: AuthorizationPolicy, wanted: Authorization): Verdict {
  const compiled = compilePolicy(policy, 'ambient')
  if (compiled.action !== (wanted.action ?? 'ALLOW')) return failed(`the action is ${compiled.action}`)
  if (compiled.rules.length !== (wanted.groups ?? []).length) return failed(`${String(compiled.rules.length)} rules, ${String(wanted.groups?.length)} groups`)
  const random = createRandom(11)
  let matched = 0
  for (let count = 0; count < CALLS; count += 1) {
    const call = aimedCall([policy], 'tcp', random)
    for (const [index, rule] of compiled.rules.entries()) {
      const expected = (wanted.groups?.[index]?.rules ?? []).every(({ matches }) => matches.some((match) => holds(match, call)))
      if (rule.test(new Facts(call)) !== expected) return failed(`rule ${String(rule.index)} says ${String(!expected)} on ${JSON.stringify(call)}`)
      if (expected) matched += 1
    }
  }
  return { outcome: 'passed', reason: `${String(CALLS)} connections, ${String(matched)} matches` }
}

function holds(match: Match, call: Call): boolean {
  return Object.entries(match).every(([name, values]) => {
    const positive = name.replace(/^not(.)/, (_, letter: string) => letter.toLowerCase())
    const some = values.some((value) => holdsValue(positive, value, call))
    return positive === name ? some : !some
  })
}

function holdsValue(name: string, value: unknown, call: Call): boolean {
  const identity = /^spiffe:\/\/[^/]+\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(call.peer ?? '')
  switch (name) {
    case 'principals': return holdsText(value as Text, call.peer?.slice('spiffe://'.length))
    case 'namespaces': return holdsText(value as Text, identity?.[1])
    case 'serviceAccounts': return (value as Account).namespace === identity?.[1] && (value as Account).serviceAccount === identity[2]
    case 'sourceIps': return holdsBlock(value as Block, call.sourceIp)
    case 'destinationIps': return holdsBlock(value as Block, call.destination.ip)
    case 'destinationPorts': return call.destination.port === value
    default: throw new TypeError(`the oracle does not know "${name}"`)
  }
}

function holdsText(pattern: Text, text: string | undefined): boolean {
  if (text === undefined || text === '') return false
  if (pattern.exact !== undefined) return text === pattern.exact
  if (pattern.prefix !== undefined) return text.startsWith(pattern.prefix)
  return pattern.suffix === undefined || text.endsWith(pattern.suffix)
}

function holdsBlock(block: Block, address: string | undefined): boolean {
  if (address === undefined) return false
  const bits = (bytes: Iterable<number>): string => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits(Buffer.from(block.address, 'base64')).slice(0, block.length) === bits(address.split('.').map(Number)).slice(0, block.length)
}
