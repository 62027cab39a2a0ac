/** Gives what was caught as an error, so that promises reject with nothing else. */
export function asError(caught: unknown): Error {
  return caught instanceof Error ? caught : new Error('Something that is no error was thrown', { cause: caught })
}
