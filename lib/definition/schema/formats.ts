import { readDuration } from '../duration.ts'

/** Formats of our schema, by name. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  // Whether a constant holds a duration is known when the definition is whole.
  'swf-duration': (text) => text.includes('$CONST') || readDuration(text, {}) !== undefined,
}
