import { createRequire } from 'node:module'
import type * as JsonP3 from 'json-p3'
import { isJsonObject, type Json } from '../../common/index.ts'
import { ProgramFailure } from '../language.ts'
import type { LanguageOptions } from '../languages.ts'
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
      return this.#library().compile(part.path)
    } catch (error) {
      throw toSyntaxFault(error, part)
    }
  }

  #single(query: JsonP3.JSONPathQuery, path: string, data: Json, offset: number): Json {
    const node = query.match(data as JsonP3.JSONValue)
    if (node === undefined) throw new ProgramFailure('failed', `no results for path ${path}`, offset)
    return node.value as Json
  }

  #list(query: JsonP3.JSONPathQuery, data: Json, offset: number): Json {
    const { clock, limits } = this.#options
    this.#steps = 0
    this.#deadline = clock.now() + limits.timeout
    const values: Json[] = []
    try {
      for (const node of query.lazyQuery(data as JsonP3.JSONValue)) {
        this.#tick()
        if (values.length >= limits.maxCells) throw new ProgramFailure('limit', `max-cells: the path selects more than ${limits.maxCells} values`)
        values.push(node.value as Json)
      }
    } catch (error) {
      if (error instanceof ProgramFailure) throw error
      throw new ProgramFailure(error instanceof RangeError ? 'limit' : 'failed', error instanceof Error ? error.message : String(error), offset, error)
    }
    return values
  }

  #tick(): void {
    this.#steps += 1
    const { clock, limits } = this.#options
    if (this.#steps > limits.maxSteps) throw new ProgramFailure('limit', `max-steps: the path takes more than ${limits.maxSteps} steps`)
    if (this.#steps % CLOCK_INTERVAL === 0 && clock.now() > this.#deadline) {
      throw new ProgramFailure('limit', `timeout: the path takes more than ${limits.timeout} ms`)
    }
  }

  #library(): JsonP3.JSONPathEnvironment {
    if (this.#environment !== undefined) return this.#environment
    const { JSONPathEnvironment, FunctionExpressionType } = load()
    const tick = (): void => { this.#tick() }
    class GuardedEnvironment extends JSONPathEnvironment {
      override entries(object: Record<string, JsonP3.JSONValue>): [string, JsonP3.JSONValue][] {
        tick()
        return super.entries(object)
      }
    }
    const environment = new GuardedEnvironment()
    const engine = createRegexEngine(this.#options.regex)
    const matcher = (anchored: boolean): JsonP3.FilterFunction => ({
      argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
      returnType: FunctionExpressionType.LogicalType,
      call: (text: unknown, pattern: unknown) => {
        tick()
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

function keysOf(query: JsonP3.JSONPathQuery): (string | number)[] {
  return query.segments.flatMap((segment) => segment.selectors.map((selector) =>
    'name' in selector ? (selector as { name: string }).name : (selector as unknown as { index: number }).index))
}
