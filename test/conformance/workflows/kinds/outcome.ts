/** The reasons why a case or a step does not hold; none: it does. */
export type Faults = readonly string[]

/** Puts the place of a step before its faults. */
export function inStep(index: number, label: string, faults: Faults): Faults {
  return faults.map((fault) => `step ${index + 1} (${label}): ${fault}`)
}
