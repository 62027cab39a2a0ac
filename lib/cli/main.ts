#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import type { CommandIo } from './io.ts'
import { runCommandLine } from './run.ts'

// The program: ties the command line to the terminal and to the signals of the system.

// Only commands that wait to be stopped take the signals: any other ends at once.
function stopped(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        resolve(signal)
        // A second one ends what will not end by itself.
        process.once(signal, () => { process.exit(130) })
      })
    }
  })
}

const io: CommandIo = {
  out: (line) => { process.stdout.write(`${line}\n`) },
  err: (line) => { process.stderr.write(`${line}\n`) },
  async read() {
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks).toString('utf8')
  },
  cwd: process.cwd(),
  stopped,
}

process.exitCode = await runCommandLine(process.argv.slice(2), io, { version: readVersion() })
// Whatever still tries, such as an exporter of traces, has had its time.
process.stdout.write('', () => { process.exit() })

// The compiled program lies one directory deeper than its source.
function readVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { name: string; version: string }
      if (name === 'sonatina') return version
    } catch {
      // Looked for one directory further up.
    }
  }
  return 'unknown'
}
