import { nearestNames } from '../common/index.ts'

/** Words the three names most like a wanted one, however far, for the end of a message: the names of a document are few words among many. */
export function nameNearest(wanted: string, names: Iterable<string>): string {
  return `nearest: ${nearestNames(wanted, names, { within: Infinity }).join(', ') || 'none'}`
}
