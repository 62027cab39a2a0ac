/** What a command talks to: the terminal in the program, texts in tests. */
export interface CommandIo {
  /** Writes a line to standard output. */
  out(line: string): void
  /** Writes a line to standard error. */
  err(line: string): void
  /** Reads standard input to its end. */
  read(): Promise<string>
  /** Directory that relative paths start from. */
  readonly cwd: string
  /** Waits until the user or the system asks the command to stop; gives the name of the signal (SIGINT, SIGTERM). */
  stopped(): Promise<string>
}

/**
 * Runs a command with the arguments after its name.
 *
 * @returns the exit code: 0 done, 1 it failed or found something, 2 it was called wrongly
 */
export type Command = (args: readonly string[], io: CommandIo) => Promise<number>
