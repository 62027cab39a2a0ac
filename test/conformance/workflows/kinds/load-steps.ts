import { assertKnown, type Step } from '../case-file.ts'
import { shorten } from '../match.ts'
import { profileOf, withoutRemark } from '../settings.ts'
import type { World } from '../world.ts'
import type { Definition, LoadFailure } from '../../../../lib/definition/index.ts'
import { startProduct } from '../product.ts'
import { silentLogger } from '../../../../lib/common/index.ts'
import type { Faults } from './outcome.ts'

const KNOWN = ['valid', 'id', 'name', 'nameEqualsId', 'version', 'type', 'error', 'message', 'messageContains', 'minErrors']

interface Expected {
  readonly valid?: boolean
  readonly id?: string
  readonly name?: string
  readonly nameEqualsId?: boolean
  readonly version?: string
  readonly type?: string
  readonly error?: string
  readonly message?: string
  readonly messageContains?: readonly string[]
  readonly minErrors?: number
}

/** `load`: reads and checks definitions, in a product of their own when the step names files. */
export async function loadStep(world: World, step: Step): Promise<Faults> {
  assertKnown(step.expect ?? {}, KNOWN, 'expect')
  if (step['load'] === true) return checkLoaded(world, step, world.runtime.catalogue)
  const definitions = await Promise.all((step['load'] as readonly string[]).map((path, index) => world.definitionInput(path, index)))
  const config = Object.entries(world.file.config ?? {}).map(([key, value]) => [key, world.variables.resolve(withoutRemark(value))])
  const runtime = await startProduct({
    definitions,
    settings: { 'sonatina.profile': profileOf(world.file.group), 'sonatina.store': 'memory', ...Object.fromEntries(config) as object },
    ...world.host.options(world.file),
    root: world.root(),
    settingsFiles: [],
    clock: world.time.clock,
    log: silentLogger,
  })
  try {
    return checkLoaded(world, step, runtime.catalogue)
  } finally {
    await runtime.close(0)
  }
}

function checkLoaded(world: World, step: Step, catalogue: World['runtime']['catalogue']): Faults {
  const expected = (step.expect ?? {}) as Expected
  const { failures } = catalogue
  const told = failures.flatMap(textsOf)
  if (expected.valid === false || expected.error !== undefined) return checkRefused(expected, failures, told)
  if (failures.length > 0) return [`it was refused: ${shorten(told, 1000)}`]
  const id = expected.id ?? world.file.workflow
  const found = id === undefined ? undefined : catalogue.find(id)
  if (found === undefined) return [`no definition "${id ?? ''}" was loaded; there are ${catalogue.list().map(({ definition }) => definition.id).join(', ')}`]
  return propertyFaults(expected, found.definition)
}

function propertyFaults(expected: Expected, { id, name, version }: Definition): Faults {
  const facts: readonly (readonly [string, unknown, unknown])[] = [
    ['name', name, expected.name],
    ['name', name ?? id, expected.nameEqualsId === true ? id : undefined],
    ['version', version, expected.version],
    // The type of every definition of this product, as its management addresses show it.
    ['type', 'SW', expected.type],
  ]
  return facts.filter(([, actual, wanted]) => wanted !== undefined && actual !== wanted)
    .map(([what, actual, wanted]) => `${what} is ${shorten(actual)}, expected ${shorten(wanted)}`)
}

function checkRefused(expected: Expected, failures: readonly LoadFailure[], told: readonly string[]): Faults {
  if (failures.length === 0) return ['it was loaded, expected it to be refused']
  const faults: string[] = []
  const all = told.join('\n').toLowerCase()
  const count = failures.reduce((sum, { error }) => sum + Math.max(1, error.violations.length), 0)
  if (expected.minErrors !== undefined && count < expected.minErrors) faults.push(`${count} faults were told, expected at least ${expected.minErrors}: ${shorten(told, 1000)}`)
  for (const part of [...expected.message === undefined ? [] : [expected.message], ...expected.messageContains ?? []]) {
    if (!all.includes(part.toLowerCase())) faults.push(`no message has "${part}"; told were ${shorten(told, 1000)}`)
  }
  return faults
}

function textsOf({ error }: LoadFailure): readonly string[] {
  return [error.message, ...error.violations.map(({ pointer, message, hint }) => `${pointer} ${message} ${hint ?? ''}`)]
}
