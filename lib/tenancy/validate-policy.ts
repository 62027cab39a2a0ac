import { isJsonObject, nearestNames, toPointer, type JsonObject } from '../common/index.ts'
import type { Violation } from '../errors/index.ts'
import { CONDITION_KEYS, conditionKind, type ConditionValues } from './conditions.ts'
import { faultOfBlock } from './ip.ts'
import { isPathTemplate } from './patterns.ts'

type Path = readonly (string | number)[]

/**
 * Checks what the published schema of an AuthorizationPolicy leaves to CEL rules and to Istio's webhook: selectors, empty sources and
 * operations, empty texts, ports, addresses, path templates, condition keys, service accounts (tenancy.md, section 4).
 *
 * Tolerates values of a wrong type: those are the schema's to report.
 */
export function checkPolicy(document: JsonObject): Violation[] {
  const spec = record(document['spec'])
  const found: Violation[] = [...checkAttachment(spec), ...checkAction(spec)]
  for (const [index, rule] of list(spec['rules']).entries()) found.push(...checkRule(record(rule), ['spec', 'rules', index]))
  return found
}

/** Checks the rules on ports that the schema of a PeerAuthentication leaves to CEL. */
export function checkPeerAuthentication(document: JsonObject): Violation[] {
  const spec = record(document['spec'])
  const ports = Object.keys(record(spec['portLevelMtls']))
  const found = checkLabels(spec['selector'])
  for (const port of ports) {
    if (faultOfPort(port) !== undefined || Number(port) === 0) {
      found.push(violation(['spec', 'portLevelMtls', port], 'port must be between 1-65535'))
    }
  }
  const hasLabels = Object.keys(record(record(spec['selector'])['matchLabels'])).length > 0
  if (ports.length > 0 && !hasLabels) found.push(violation(['spec', 'portLevelMtls'], 'portLevelMtls requires selector'))
  return found
}

function checkAttachment(spec: JsonObject): Violation[] {
  const found = checkLabels(spec['selector'])
  const attachments = ['selector', 'targetRef', 'targetRefs'].filter((name) => spec[name] !== undefined)
  if (attachments.length > 1) found.push(violation(['spec', attachments[1] ?? ''], 'only one of targetRefs or selector can be set'))
  const references: [Path, unknown][] = list(spec['targetRefs']).map((reference, index) => [['spec', 'targetRefs', index], reference])
  if (spec['targetRef'] !== undefined) references.push([['spec', 'targetRef'], spec['targetRef']])
  for (const [path, reference] of references) {
    const namespace = record(reference)['namespace']
    if (typeof namespace === 'string' && namespace !== '') {
      found.push(violation([...path, 'namespace'], 'cross namespace referencing is not currently supported'))
    }
  }
  return found
}

function checkLabels(selector: unknown): Violation[] {
  return Object.entries(record(record(selector)['matchLabels'])).flatMap(([key, value]) => {
    const path: Path = ['spec', 'selector', 'matchLabels', key]
    if (key === '') return [violation(path, 'key must not be empty')]
    if (key.includes('*')) return [violation(path, 'wildcard not allowed in label key match')]
    return typeof value === 'string' && value.includes('*') ? [violation(path, 'wildcard not allowed in label value match')] : []
  })
}

function checkAction(spec: JsonObject): Violation[] {
  const action = spec['action'] ?? 'ALLOW'
  const provider = record(spec['provider'])['name']
  const found: Violation[] = []
  if ((action === 'DENY' || action === 'CUSTOM') && list(spec['rules']).length === 0) {
    found.push(violation(['spec', 'rules'], `${action} action without rules can never match`, 'add an empty rule {} to match every request'))
  }
  if (action === 'CUSTOM' && (typeof provider !== 'string' || provider === '')) {
    found.push(violation(['spec', 'provider', 'name'], 'provider.name must not be empty with CUSTOM action'))
  }
  if (action !== 'CUSTOM' && spec['provider'] !== undefined) {
    found.push(violation(['spec', 'provider'], 'provider must not be set without CUSTOM action'))
  }
  return found
}

function checkRule(rule: JsonObject, path: Path): Violation[] {
  const found: Violation[] = []
  for (const [name, part, check] of [['from', 'source', checkSource], ['to', 'operation', checkOperation]] as const) {
    if (Array.isArray(rule[name]) && rule[name].length === 0) {
      found.push(violation([...path, name], `${name} cannot be empty`, 'list at least one entry or leave the field out'))
    }
    for (const [index, entry] of list(rule[name]).entries()) {
      const at = [...path, name, index, part]
      const fields = record(record(entry)[part])
      if (Object.values(fields).every((value) => value === null || (Array.isArray(value) && value.length === 0))) {
        found.push(violation(at, `${part} must have at least one field with a value`, 'it would mean any; leave the entry out to say so'))
      }
      found.push(...checkEmptyTexts(fields, at), ...check(fields, at))
    }
  }
  for (const [index, condition] of list(rule['when']).entries()) found.push(...checkCondition(record(condition), [...path, 'when', index]))
  return found
}

function checkSource(source: JsonObject, path: Path): Violation[] {
  const accounts = ['serviceAccounts', 'notServiceAccounts'].filter((name) => source[name] !== undefined)
  const clashes = ['principals', 'notPrincipals', 'namespaces', 'notNamespaces'].some((name) => source[name] !== undefined)
  const found = accounts.flatMap((name) => eachText(source[name], [...path, name], faultOfServiceAccount))
  if (accounts.length > 0 && clashes) {
    found.push(violation([...path, accounts[0] ?? ''], 'Cannot set serviceAccounts with namespaces or principals'))
  }
  for (const name of ['ipBlocks', 'notIpBlocks', 'remoteIpBlocks', 'notRemoteIpBlocks']) {
    found.push(...eachText(source[name], [...path, name], faultOfBlock))
  }
  return found
}

function checkOperation(operation: JsonObject, path: Path): Violation[] {
  return [
    ...['ports', 'notPorts'].flatMap((name) => eachText(operation[name], [...path, name], faultOfPort)),
    ...['paths', 'notPaths'].flatMap((name) => eachText(operation[name], [...path, name], faultOfPath)),
  ]
}

function checkCondition(condition: JsonObject, path: Path): Violation[] {
  const found = checkEmptyTexts(condition, path)
  if (list(condition['values']).length + list(condition['notValues']).length === 0) {
    found.push(violation(path, 'at least one of values or notValues must be set'))
  }
  const key = condition['key']
  if (typeof key !== 'string') return found
  const kind = conditionKind(key)
  if (kind === undefined) return [...found, unknownKey(key, path)]
  const fault = FAULTS[kind.values]
  return [...found, ...['values', 'notValues'].flatMap((name) => eachText(condition[name], [...path, name], fault))]
}

function unknownKey(key: string, path: Path): Violation {
  if (key === '') return violation([...path, 'key'], 'key must not be empty')
  const plain = key.replace(/\[.*$/, '[]')
  const [nearest] = nearestNames(plain, CONDITION_KEYS)
  return violation([...path, 'key'], `unknown attribute "${key.slice(0, 100)}"`, nearest === undefined
    ? `known attributes: ${CONDITION_KEYS.join(', ')}`
    : `did you mean "${nearest}"${nearest.endsWith('[]') ? ' with a name in the brackets' : ''}?`)
}

const FAULTS: Readonly<Record<ConditionValues, (value: string) => string | undefined>> = {
  text: () => undefined,
  address: faultOfBlock,
  port: faultOfPort,
  serviceAccount: faultOfServiceAccount,
}

function faultOfPort(value: string): string | undefined {
  return /^\d{1,10}$/.test(value) && Number(value) <= 65535 ? undefined : `bad port "${value}": a number from 0 to 65535 is expected`
}

function faultOfServiceAccount(value: string): string | undefined {
  return /^([^/*]+\/)?[^/*]+$/.test(value) ? undefined : `bad service account "${value}": "name" or "namespace/name" without wildcards is expected`
}

function faultOfPath(value: string): string | undefined {
  if (!isPathTemplate(value)) return undefined
  const rest = value.replaceAll(/\{\*\*?\}/g, '')
  return /[{}*]/.test(rest) ? `invalid or unsupported path template "${value}": only {*} and {**} may stand in it` : undefined
}

function checkEmptyTexts(fields: JsonObject, path: Path): Violation[] {
  return Object.entries(fields).flatMap(([name, values]) => list(values).flatMap((value, index) =>
    value === '' ? [violation([...path, name, index], `empty value not allowed in ${name}`)] : []))
}

function eachText(values: unknown, path: Path, fault: (value: string) => string | undefined): Violation[] {
  return list(values).flatMap((value, index) => {
    const message = typeof value === 'string' && value !== '' ? fault(value) : undefined
    return message === undefined ? [] : [violation([...path, index], message)]
  })
}

function violation(path: Path, message: string, hint?: string): Violation {
  return { pointer: toPointer(path), message, ...(hint === undefined ? {} : { hint }) }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function record(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}
