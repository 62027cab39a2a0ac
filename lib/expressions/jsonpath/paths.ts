import { createRequire } from 'node:module'
import type * as JsonP3 from 'json-p3'
import { isJsonObject, type Json } from '../../common/index.ts'
import { ProgramFailure } from '../language.ts'
import type { LanguageOptions } from '../language-options.ts'
import { createRegexEngine } from '../regex/engine.ts'
import { RegexFault } from '../regex/pattern.ts'
import { toSyntaxFault } from './faults.ts'
import type { PathPart } from './split.ts'
import { SyntaxFault } from '../syntax-fault.ts'

/** A compiled path. */
export interface CompiledPath {
  /** Names and positions of a definite path; absent when it may select several values. */
  readonly keys?: readonly (string | number)[]
  /**
   * Gives the value of a definite path, or a list.
   *
   * @throws {@link ProgramFailure} when a definite path leads nowhere, or a limit is exceeded.
   */
  select(data: Json): Json
}

// Each `..` multiplies the work by the size of the data.
const MOST_DESCENTS = 3
const CLOCK_INTERVAL = 1000

let library: typeof JsonP3 | undefined

function load(): typeof JsonP3 {
  library ??= createRequire(import.meta.url)('json-p3') as typeof JsonP3
  return library
}

/** Compiles paths with the guards of one definition. */
export class Paths {
  readonly #options: LanguageOptions
  #environment: JsonP3.JSONPathEnvironment | undefined
  #steps = 0
  #deadline = 0

  constructor(options: LanguageOptions) {
    this.#options = options
  }

  /**
   * Compiles a path.
   *
   * @throws {@link SyntaxFault} with the library's reason.
   */
  compile(part: PathPart): CompiledPath {
    const { path, offset } = part
    const query = this.#parse(part)
    const descents = path.split('..').length - 1
    if (descents > MOST_DESCENTS) throw new SyntaxFault(`a path may have at most ${MOST_DESCENTS} ".."`, offset, 'name the steps between, or select in two steps')
    if (query.singularQuery()) {
      const keys = keysOf(query)
      return { keys, select: (data) => this.#single(query, path, data, offset) }
    }
    const filtersRoot = path.startsWith('$[?')
    // A filter tests the elements of a list; on an object at the root it tests the object itself, as SonataFlow has it.
    return { select: (data) => this.#list(query, filtersRoot && isJsonObject(data) ? [data] : data, offset) }
  }

  #parse(part: PathPart): JsonP3.JSONPathQuery {
    try {
      const query = this.#library().compile(part.path)
      watchSelections(query, (steps) => { this.#spend(steps) }, () => { this.#lookAtClock() })
      return query
    } catch (error) {
      throw toSyntaxFault(error, part)
    }
  }

  #single(query: JsonP3.JSONPathQuery, path: string, data: Json, offset: number): Json {
    const node = this.#run(offset, () => query.match(data as JsonP3.JSONValue))
    if (node === undefined) throw new ProgramFailure('failed', `no results for path ${path}`, offset)
    return node.value as Json
  }

  #list(query: JsonP3.JSONPathQuery, data: Json, offset: number): Json {
    const { maxCells } = this.#options.limits
    const values: Json[] = []
    return this.#run(offset, () => {
      for (const node of query.lazyQuery(data as JsonP3.JSONValue)) {
        if (values.length >= maxCells) throw new ProgramFailure('limit', `max-cells: the path selects more than ${maxCells} values`)
        values.push(node.value as Json)
      }
      return values
    })
  }

  #run<T>(offset: number, select: () => T): T {
    const { clock, limits } = this.#options
    this.#steps = 0
    this.#deadline = clock.now() + limits.timeout
    try {
      return select()
    } catch (error) {
      if (error instanceof ProgramFailure) throw error
      if (error instanceof RangeError) throw new ProgramFailure('limit', 'depth: the path, or the data that it goes through, is too deep or too wide', offset, error)
      throw new ProgramFailure('failed', error instanceof Error ? error.message : String(error), offset, error)
    }
  }

  /** Counts steps: one for each selector at each value that it is applied to, and for each member that it looks at. */
  #spend(steps: number): void {
    const before = this.#steps
    this.#steps += steps
    const { limits } = this.#options
    if (this.#steps > limits.maxSteps) throw new ProgramFailure('limit', `max-steps: the path takes more than ${limits.maxSteps} steps`)
    if (Math.floor(before / CLOCK_INTERVAL) !== Math.floor(this.#steps / CLOCK_INTERVAL)) this.#lookAtClock()
  }

  #lookAtClock(): void {
    const { clock, limits } = this.#options
    if (clock.now() > this.#deadline) throw new ProgramFailure('limit', `timeout: the path takes more than ${limits.timeout} ms`)
  }

  #library(): JsonP3.JSONPathEnvironment {
    if (this.#environment !== undefined) return this.#environment
    const { JSONPathEnvironment, FunctionExpressionType } = load()
    const environment = new JSONPathEnvironment()
    const engine = createRegexEngine(this.#options.regex)
    const matcher = (anchored: boolean): JsonP3.FilterFunction => ({
      argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
      returnType: FunctionExpressionType.LogicalType,
      call: (text: unknown, pattern: unknown) => {
        this.#lookAtClock()
        if (typeof text !== 'string' || typeof pattern !== 'string') return false
        try {
          return engine.compile(anchored ? `^(?:${pattern})$` : pattern, { ignoreCase: false, extended: false, dotAll: false, longest: false }).test(text)
        } catch (error) {
          if (error instanceof RegexFault) throw new ProgramFailure('failed', `the regular expression of a filter is refused: ${error.message}`)
          throw error
        }
      },
    })
    environment.functionRegister.set('match', matcher(true))
    environment.functionRegister.set('search', matcher(false))
    this.#environment = environment
    return environment
  }
}

/** A part of a path that the library applies to a value. */
interface Selector {
  resolve(node: JsonP3.JSONPathNode): unknown
  lazyResolve(node: JsonP3.JSONPathNode): unknown
}

/** The condition of a filter. */
interface Filter {
  evaluate(context: unknown): unknown
}

/** Makes each selector of a path, those inside filters among them, tell how much it is about to look at. Comparing takes time by the size of the data. */
function watchSelections(query: JsonP3.JSONPathQuery, spend: (steps: number) => void, lookAtClock: () => void): void {
  const seen = new Set<unknown>()
  const pending: unknown[] = [query]
  while (pending.length > 0) {
    const part = pending.pop()
    if (typeof part !== 'object' || part === null || seen.has(part)) continue
    seen.add(part)
    if ('lazyResolve' in part && 'resolve' in part && !('selectors' in part)) countSelector(part as Selector, spend)
    if ('expression' in part) watchFilter(part.expression as Filter, lookAtClock)
    for (const [name, member] of Object.entries(part)) if (name !== 'environment' && name !== 'token') pending.push(member)
  }
}

function countSelector(selector: Selector, spend: (steps: number) => void): void {
  const resolve = selector.resolve.bind(selector)
  const lazyResolve = selector.lazyResolve.bind(selector)
  const looksAtAll = !('name' in selector || 'index' in selector)
  const count = ({ value }: JsonP3.JSONPathNode): void => { spend(1 + (looksAtAll && Array.isArray(value) ? value.length : 0)) }
  selector.resolve = (node) => {
    count(node)
    return resolve(node)
  }
  selector.lazyResolve = (node) => {
    count(node)
    return lazyResolve(node)
  }
}

function watchFilter(filter: Filter, lookAtClock: () => void): void {
  const evaluate = filter.evaluate.bind(filter)
  filter.evaluate = (context) => {
    lookAtClock()
    return evaluate(context)
  }
}

function keysOf(query: JsonP3.JSONPathQuery): (string | number)[] {
  return query.segments.flatMap((segment) => segment.selectors.map((selector) =>
    'name' in selector ? (selector as { name: string }).name : (selector as unknown as { index: number }).index))
}
