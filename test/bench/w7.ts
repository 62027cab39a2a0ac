import { createRequire } from 'node:module'
import { createRandomIdSource, createSystemClock, type Json } from '../../lib/common/index.ts'
import { createBindings, createExpressions, type Compiled } from '../../lib/expressions/index.ts'

/** One line of the table: how fast a contender evaluates a program, as median, least and most of all rounds. */
export interface W7Row {
  readonly program: string
  readonly contender: string
  /** Evaluations a second of processor time. */
  readonly median: number
  readonly min: number
  readonly max: number
  /** Hand-written JavaScript divided by this contender: how many times slower it is. */
  readonly ratio: number
}

/** How long the bench runs. */
export interface W7Options {
  /** @default 5 */
  readonly rounds?: number
  /** Milliseconds that one contender runs in one round. @default 200 */
  readonly milliseconds?: number
}

/** Runs once; gives something so that the engine cannot leave the work out. */
type Contender = () => unknown

interface Item {
  readonly program: string
  readonly jsonata: string
  readonly input: Json
  readonly byHand: (input: never) => unknown
}

interface Row { readonly id: number; readonly v: number; readonly ok: boolean; readonly group: string }

const ROWS: readonly Row[] = Array.from({ length: 10_000 }, (_, id) => ({ id, v: (id * 7919) % 100, ok: id % 3 !== 0, group: `g${id % 10}` }))

const ITEMS: readonly Item[] = [
  {
    program: '.amount * .exchangeRate',
    jsonata: 'amount * exchangeRate',
    input: { amount: 120.5, exchangeRate: 0.92, currencyTo: 'EUR' },
    byHand: (input: { amount: number; exchangeRate: number }) => input.amount * input.exchangeRate,
  },
  {
    program: '.executionStatus == "ERROR"',
    jsonata: 'executionStatus = "ERROR"',
    input: { executionStatus: 'ERROR', message: 'x' },
    byHand: (input: { executionStatus: string }) => input.executionStatus === 'ERROR',
  },
  {
    program: '{result: ((.result // "") + "A")}',
    jsonata: '{"result": (result ? result : "") & "A"}',
    input: { result: 'x' },
    byHand: (input: { result?: string | null }) => ({ result: `${input.result ?? ''}A` }),
  },
  {
    program: 'map(select(.v > 50 and .ok) | .id)',
    jsonata: '$[v > 50 and ok].id',
    input: ROWS.slice(0, 1000) as unknown as Json,
    byHand: (input: readonly Row[]) => input.filter((row) => row.v > 50 && row.ok).map((row) => row.id),
  },
  {
    program: 'group_by(.group) | map({key: .[0].group, sum: (reduce .[] as $row (0; . + $row.v))})',
    jsonata: '$each($ {group: $sum(v)}, function($v, $k) {{"key": $k, "sum": $v}})',
    input: ROWS as unknown as Json,
    byHand: (input: readonly Row[]) => {
      const groups = new Map<string, Row[]>()
      for (const row of input) {
        const group = groups.get(row.group)
        if (group === undefined) groups.set(row.group, [row])
        else group.push(row)
      }
      return [...groups.keys()].sort().map((key) => ({ key, sum: (groups.get(key) ?? []).reduce((sum, row) => sum + row.v, 0) }))
    },
  },
]

/** Runs the expressions of expressions.md "Speed" against hand-written JavaScript and jsonata, interleaved. */
export async function runW7(options: W7Options = {}): Promise<W7Row[]> {
  const rows: W7Row[] = []
  for (const item of ITEMS) rows.push(...await runItem(item, options.rounds ?? 5, options.milliseconds ?? 200))
  return rows
}

/** Evaluations a second of each program, by itself: what the guard of a run costs shows against a process that has none. */
export async function measurePrograms(milliseconds: number): Promise<readonly number[]> {
  const rates: number[] = []
  for (const item of ITEMS) {
    const evaluate = sonatina(item)
    await measure(evaluate, milliseconds)
    rates.push(await measure(evaluate, milliseconds))
  }
  return rates
}

async function runItem(item: Item, rounds: number, milliseconds: number): Promise<W7Row[]> {
  const contenders: Readonly<Record<string, Contender>> = {
    'by-hand': () => item.byHand(item.input as never),
    sonatina: sonatina(item),
    ...jqjs(item),
    jsonata: jsonata(item),
  }
  const rates = new Map<string, number[]>(Object.keys(contenders).map((name) => [name, []]))
  for (const contender of Object.values(contenders)) await measure(contender, milliseconds / 4)
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, contender] of Object.entries(contenders)) rates.get(name)?.push(await measure(contender, milliseconds))
  }
  const byHand = median(rates.get('by-hand') ?? [])
  return [...rates].map(([contender, measured]) => ({
    program: item.program, contender, median: median(measured), min: Math.min(...measured), max: Math.max(...measured), ratio: byHand / median(measured),
  }))
}

function sonatina(item: Item): Contender {
  const expressions = createExpressions({ language: 'jq', profile: 'spec', clock: createSystemClock(), ids: createRandomIdSource() })
  const compiled: Compiled<Json> = expressions.compileFilter(item.program, { pointer: '' })
  const bindings = createBindings({})
  return () => compiled.evaluate(item.input, bindings)
}

function jsonata(item: Item): Contender {
  const library = createRequire(import.meta.url)('jsonata') as (text: string) => { evaluate(input: unknown): Promise<unknown> }
  const compiled = library(item.jsonata)
  return () => compiled.evaluate(item.input)
}

/** jqjs takes part only where somebody has installed it. */
function jqjs(item: Item): Readonly<Record<string, Contender>> {
  try {
    const library = createRequire(import.meta.url)('@michaelhomer/jqjs') as { compile(text: string): (input: unknown) => Iterable<unknown> }
    const compiled = library.compile(item.program)
    return { jqjs: () => [...compiled(item.input)] }
  } catch {
    return {}
  }
}

let sink: unknown

/** Gives evaluations a second of processor time, which other load on the machine does not change; one is awaited before the next. */
async function measure(contender: Contender, milliseconds: number): Promise<number> {
  const start = process.cpuUsage()
  let batch = 1
  let count = 0
  for (;;) {
    for (let turn = 0; turn < batch; turn += 1) {
      sink = contender()
      if (sink instanceof Promise) await sink
    }
    count += batch
    const { user, system } = process.cpuUsage(start)
    const elapsed = (user + system) / 1000
    if (elapsed >= milliseconds) return (count / elapsed) * 1000
    if (elapsed < milliseconds / 20) batch *= 2
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}
