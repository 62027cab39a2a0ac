import { expect } from 'chai'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StoreLine } from '../../lib/hosts/sqlite/index.ts'
import { importStore } from '../../lib/hosts/sqlite/index.ts'
import { createDurableProject } from '../support/durable-runtime.ts'

// Each journal is an export of a store that a release has written, with what its instances must come to: added to, never changed.
const folder = fileURLToPath(new URL('journals/', import.meta.url))

interface Replay {
  /** Milliseconds since the epoch. */
  readonly recordedAt: number
  readonly events: readonly { readonly id: string; readonly type: string; readonly order: string; readonly data: { readonly amount: number } }[]
  /** Steps of time, milliseconds, before the events. */
  readonly advance: readonly number[]
  readonly expected: Readonly<Record<string, unknown>>
}

describe('replay: journals of releases', () => {
  for (const release of readdirSync(folder)) {
    it(`of ${release} are continued by this code`, async () => {
      const project = await createDurableProject({ settings: { 'sonatina.store': 'sqlite', 'sonatina.instances.retention': 'P1D' } })
      try {
        mkdirSync(dirname(project.file))
        const lines = readFileSync(`${folder}${release}/journal.jsonl`, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as StoreLine)
        importStore(project.file, lines, project.clock.now())
        const { recordedAt, events, advance, expected } = JSON.parse(readFileSync(`${folder}${release}/replay.json`, 'utf8')) as Replay
        project.clock.moveTo(recordedAt)
        const runtime = await project.open()
        await runtime.quiet()
        for (const milliseconds of advance) {
          project.clock.advance(milliseconds)
          await runtime.quiet()
        }
        for (const event of events) await runtime.host.deliver({ specversion: '1.0', source: 'suite', ...event })
        const { instances } = await runtime.host.list({ limit: 100 })
        expect(Object.fromEntries(instances.map(({ id, status, data }) => [id, { status, data }]))).to.deep.equal(expected)
        await runtime.close(0)
      } finally {
        await project.remove()
      }
    })
  }
})
