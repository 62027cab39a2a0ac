/** The reasons why a case or a step does not hold; none: it does. */
export type Faults = readonly string[]

/** Ends a case with its reasons. */
export class CaseFailure extends Error {
  readonly faults: Faults

  constructor(faults: Faults) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

/** Puts the place of a step before its faults. */
export function inStep(index: number, label: string, faults: Faults): Faults {
  return faults.map((fault) => `step ${index + 1} (${label}): ${fault}`)
}
