import type { Fields } from '../case-file.ts'

/** A call that the product makes: of a function, or of a sub-flow. */
export interface SimulatedCall {
  readonly function?: string
  readonly subflow?: string
  readonly args?: unknown
  readonly input?: unknown
  readonly version?: string
  /** Virtual milliseconds since the case began. */
  readonly at: number
}

/** What is seen of the product from outside while a case runs. */
export class Recorder {
  readonly calls: SimulatedCall[] = []
  readonly events: Fields[] = []
  /** Grows with everything that happens: still means idle. */
  activity = 0
  private flying = 0
  private highest = 0
  private groups = 0

  /** A call begins. */
  begin(call: SimulatedCall): void {
    this.calls.push(call)
    this.activity++
    if (this.flying === 0) this.groups++
    this.flying++
    this.highest = Math.max(this.highest, this.flying)
  }

  /** A call is answered. */
  end(): void {
    this.flying--
    this.activity++
  }

  /** Most calls that were under way at once. */
  get maxConcurrency(): number {
    return this.highest
  }

  /** How often calls began while none was under way. */
  get batches(): number {
    return this.groups
  }
}
