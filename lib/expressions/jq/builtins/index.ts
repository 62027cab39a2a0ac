import { constant } from '../compile/filter.ts'
import { deepFreeze } from '../value.ts'
import { CONTAINERS } from './containers.ts'
import { CORE } from './core.ts'
import { DATES } from './dates.ts'
import type { Builtins } from './define.ts'
import { EVENTS } from './events.ts'
import { FORMAT } from './format.ts'
import { MATH } from './math.ts'
import { PATHS } from './paths.ts'
import { PRELUDE } from './prelude.ts'
import { REGEX } from './regex.ts'
import { SORTING } from './sorting.ts'
import { STREAMS } from './streams.ts'
import { STRINGS } from './strings.ts'

/** All builtins that are written in TypeScript, by name and number of arguments. */
export const BUILTINS: Builtins = {
  ...CORE, ...CONTAINERS, ...DATES, ...FORMAT, ...MATH, ...REGEX, ...SORTING, ...STREAMS, ...PATHS, ...EVENTS, ...STRINGS,
  'builtins/0': () => constant(deepFreeze(builtinNames())),
}

function builtinNames(): string[] {
  return [...Object.keys(BUILTINS), ...Object.keys(PRELUDE)].filter((name) => !name.startsWith('_'))
}

export { formatFilter, formatter } from './format.ts'
export { PRELUDE } from './prelude.ts'
