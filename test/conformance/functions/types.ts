/** An application of `functions/vectors.yaml`: signatures in short, and settings. */
export interface App {
  readonly binding?: string
  readonly functions: Readonly<Record<string, string>>
  readonly config?: Readonly<Record<string, string>>
  readonly note?: string
}

/** A request of the vectors: one key is the method, its value the path. */
export interface VectorRequest {
  readonly ct?: string
  readonly ce?: Readonly<Record<string, string>>
  /** Exact text. */
  readonly body?: string
  readonly json?: unknown
  /** Raw bytes. */
  readonly hex?: string
  readonly [method: string]: unknown
}

/** What the answer must be; members that are absent are not compared. */
export interface VectorAnswer {
  readonly status: number
  readonly body?: string
  readonly jsonSubset?: unknown
  readonly hex?: string
  readonly ct?: string
  readonly ce?: Readonly<Record<string, string>>
  readonly any?: readonly string[]
  readonly absent?: readonly string[]
  readonly note?: string
}

/** One exchange and who says so. */
export interface Vector {
  readonly app: string
  readonly src: string
  readonly req: VectorRequest
  readonly res: VectorAnswer
}

/** Something that has to happen at start, in words. */
export interface StartupRule {
  readonly src: string
  readonly given: string
  readonly then: string
}

/** The file of vectors. */
export interface VectorFile {
  readonly apps: Readonly<Record<string, App>>
  readonly vectors: readonly Vector[]
  readonly startup?: readonly StartupRule[]
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Gives method and path of a request. */
export function targetOf(request: VectorRequest): { readonly method: (typeof METHODS)[number]; readonly path: string } {
  const method = METHODS.find((name) => name in request) ?? 'GET'
  const path = request[method]
  return { method, path: typeof path === 'string' ? path : '/' }
}

/** Gives the body of a request as it goes over the wire; `undefined` when there is none. */
export function bodyOf(request: VectorRequest): Buffer | undefined {
  if (request.body !== undefined) return Buffer.from(request.body)
  if (request.hex !== undefined) return Buffer.from(request.hex, 'hex')
  return request.json === undefined ? undefined : Buffer.from(JSON.stringify(request.json))
}

/** Tells whether a request carries an event. */
export function isEvent(request: VectorRequest): boolean {
  return request.ce !== undefined || request.ct?.startsWith('application/cloudevents+json') === true
}
