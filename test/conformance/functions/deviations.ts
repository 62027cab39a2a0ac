import { bodyOf, isEvent, targetOf, type App, type Vector, type VectorAnswer } from './types.ts'
import type { Signature } from './signature.ts'

/** What is known about a vector when a deviation is looked for. */
export interface VectorCase {
  readonly vector: Vector
  readonly app: App
  /** Function that the path names, or the only one. */
  readonly target: Signature | undefined
}

/** A row of the table "Deviations from Funqy" of the function runtime, as far as it changes an answer. */
interface Deviation {
  /** First column of the table. */
  readonly row: string
  readonly applies: (item: VectorCase) => boolean
  /** The answer here; `left out` when there is nothing to compare, `lenient` when it holds with lenient events only. */
  readonly here: Partial<VectorAnswer> | 'left out' | 'lenient'
}

const isNull = ({ vector }: VectorCase): boolean => bodyOf(vector.req)?.toString().trim() === 'null'
const takesEvents = ({ vector }: VectorCase): boolean => isEvent(vector.req)
const acceptsNothing = ({ target }: VectorCase): boolean => target?.options.input.kind === 'nothing'

const DEVIATIONS: readonly Deviation[] = [
  {
    row: '`HttpResponse` return type',
    applies: ({ app }) => Object.values(app.functions).some((signature) => signature.includes('HttpResponse')),
    here: 'left out',
  },
  {
    row: 'binary event without ce-specversion or ce-type; camelCase attributes',
    applies: ({ vector: { req } }) => (req.ce !== undefined && ['specversion', 'type', 'source'].some((name) => !(name in (req.ce ?? {})))) ||
      (req.json !== undefined && Object.keys(req.json as object).some((name) => /[A-Z]/.test(name))),
    here: 'lenient',
  },
  {
    row: 'wrong method',
    applies: ({ vector }) => !['GET', 'HEAD', 'POST', 'OPTIONS'].includes(targetOf(vector.req).method) && vector.res.status === 406,
    here: { status: 405 },
  },
  {
    row: 'null for a non-null bean',
    applies: (item) => isNull(item) && item.vector.res.status === 500,
    here: { status: 400 },
  },
  {
    row: 'malformed event, missing attribute',
    applies: (item) => takesEvents(item) && item.vector.res.status === 500 && item.target?.behaviour.throws !== true,
    here: { status: 400 },
  },
  {
    row: 'bytes by plain HTTP',
    applies: (item) => !takesEvents(item) && item.target?.options.input.kind === 'bytes' && item.vector.res.status === 200,
    here: { status: 400 },
  },
  {
    row: '`/` with one function',
    applies: (item) => !takesEvents(item) && targetOf(item.vector.req).path === '/' && Object.keys(item.app.functions).length === 1 &&
      item.app.config?.['export'] === undefined && item.vector.res.status === 404,
    here: { status: 200 },
  },
  {
    row: 'GET to a string function',
    applies: (item) => !takesEvents(item) && targetOf(item.vector.req).method === 'GET' && item.vector.res.status === 200 &&
      item.target?.options.input.kind === 'json' && item.target.options.input.schema['type'] === 'string',
    here: { status: 400 },
  },
  {
    row: 'POST without body and content type to a function without input',
    applies: (item) => !takesEvents(item) && targetOf(item.vector.req).method === 'POST' && item.vector.res.status === 406 &&
      item.vector.req.ct === undefined && bodyOf(item.vector.req) === undefined && acceptsNothing(item),
    here: { status: 204 },
  },
  {
    row: '`NaN` for a float in a query',
    applies: ({ vector }) => /=(NaN|[+-]?Infinity)(&|$)/.test(targetOf(vector.req).path),
    here: { status: 400 },
  },
]

/** Finds the rows that change the answer of a vector. */
export function deviationsOf(item: VectorCase): readonly Pick<Deviation, 'row' | 'here'>[] {
  return DEVIATIONS.filter(({ applies }) => applies(item))
}

/** The answer that is expected here: what a deviation says wins, and what follows from another status is not compared. */
export function answerHere(answer: VectorAnswer, deviations: readonly Pick<Deviation, 'here'>[]): VectorAnswer {
  const changes = deviations.flatMap(({ here }) => typeof here === 'string' ? [] : [here])
  if (changes.length > 0) return Object.assign({ status: answer.status }, ...changes) as VectorAnswer
  if (answer.status < 400) return answer
  // Error bodies are `{message, code}` here.
  const { body: _body, ct: _type, ...rest } = answer
  return rest
}
