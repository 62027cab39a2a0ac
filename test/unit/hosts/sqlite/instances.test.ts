import { expect } from 'chai'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createLogger } from '../../../../lib/common/index.ts'
import type { FunctionCall, FunctionResult } from '../../../../lib/functions/index.ts'
import { openStore } from '../../../../lib/hosts/sqlite/index.ts'
import { MIGRATIONS } from '../../../../lib/hosts/sqlite/migrations.ts'
import { createDurableProject, type DurableProject } from '../../../support/durable-runtime.ts'
import { call, definition, event, until, WAIT } from '../durable-definitions.ts'

interface Connection {
  exec(sql: string): void
  prepare(sql: string): { all(): readonly Readonly<Record<string, string | number>>[]; run(...values: readonly unknown[]): void }
  close(): void
}
const Database = createRequire(import.meta.url)('libsql') as new (path: string) => Connection

describe('hosts: sqlite, instances under way', () => {
  const projects: DurableProject[] = []
  let project: DurableProject
  let answers: ((result: FunctionResult) => void)[]
  const slow = (_: FunctionCall): Promise<FunctionResult> => new Promise((resolve) => { answers.push(resolve) })

  beforeEach(async () => {
    answers = []
    project = await createDurableProject({ definitions: [definition('order', [{ name: 'Call', type: 'operation', actions: [call({ arguments: { order: '${ .order }' } })], transition: 'Wait' }, WAIT])] })
    projects.push(project)
  })
  afterEach(() => Promise.all(projects.splice(0).map((each) => each.remove())))

  function rows(table: string, { file }: DurableProject = project): readonly Readonly<Record<string, string | number>>[] {
    const database = new Database(file)
    const all = database.prepare(`select * from ${table}`).all()
    database.close()
    return all
  }

  function change(sql: string, ...values: readonly unknown[]): void {
    const database = new Database(project.file)
    database.prepare(sql).run(...values)
    database.close()
  }

  it('stand in a table of their own until they wait', async () => {
    const runtime = await project.open({ call: slow })
    const { id } = await runtime.host.start({ workflowId: 'order', input: { order: 'a' }, respondAsync: true })
    expect(rows('passing').map((row) => row['id'])).to.deep.equal([id])
    expect(rows('instance')).to.deep.equal([])
    expect(rows('history')).to.deep.equal([])
    await until(() => answers.length === 1)
    answers[0]?.({ output: 'answered' })
    await runtime.quiet()
    expect(rows('passing')).to.deep.equal([])
    expect(rows('instance').map((row) => [row['id'], row['status'], row['busy']])).to.deep.equal([[id, 'waiting', 0]])
    expect(rows('history').length).to.be.greaterThan(0)
    await runtime.host.deliver(event('go', 'a'))
    await runtime.quiet()
    expect(rows('instance')).to.deep.equal([])
    expect(rows('history')).to.deep.equal([])
    await runtime.close(0)
  })

  it('are continued by the next process, with their history', async () => {
    const runtime = await project.open({ call: slow })
    const { id } = await runtime.host.start({ workflowId: 'order', input: { order: 'a' }, respondAsync: true })
    const before = await runtime.host.history('order', id)
    const next = project.killed()
    projects.push(next)
    const continued = await next.open()
    await continued.quiet()
    expect(next.calls).to.deep.equal([{ order: 'a' }])
    const after = await continued.host.history('order', id)
    expect(after.slice(0, before.length)).to.deep.equal(before)
    expect(after.map(({ sequence }) => sequence)).to.deep.equal(after.map((_, index) => index))
    expect((await continued.host.get('order', id))?.status).to.equal('waiting')
    await continued.close(0)
    await runtime.close(0)
  })

  it('are listed among the others, in the order in which all began, page by page', async () => {
    const runtime = await project.open({ call: slow })
    const ids: string[] = []
    // Most of them in the same millisecond.
    for (let number = 0; number < 9; number += 1) {
      if (number === 5) project.clock.advance(1)
      ids.push((await runtime.host.start({ workflowId: 'order', input: { order: `o${String(number)}` }, respondAsync: true, businessKey: number % 2 === 0 ? 'even' : 'odd' })).id)
    }
    await until(() => answers.length === 9)
    for (const number of [1, 4, 6]) answers[number]?.({ output: 1 })
    await until(() => rows('passing').length === 6)
    expect(rows('instance')).to.have.length(3)
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const page = await runtime.host.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      listed.push(...page.instances.map(({ id }) => id))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(listed).to.deep.equal([...ids].reverse())
    const even = await runtime.host.list({ limit: 9, businessKey: 'even', status: ['active'] })
    expect(even.instances.map(({ id }) => id)).to.deep.equal([8, 2, 0].map((number) => ids[number]))
    expect((await runtime.host.list({ limit: 9, workflowId: 'other' })).instances).to.deep.equal([])
    await runtime.close(0)
  })

  it('that cannot be read are told by name, and keep no other from going on', async () => {
    const runtime = await project.open({ call: slow })
    const ids: string[] = []
    for (const order of ['a', 'b', 'c', 'd', 'e']) ids.push((await runtime.host.start({ workflowId: 'order', input: { order }, respondAsync: true })).id)
    await runtime.close(0)
    const texts = ['{"form":1,', '{"form":2}', '{"form":1}', 'null']
    texts.forEach((text, index) => { change('update passing set instance = ? where id = ?', text, ids[index]) })
    const lines: string[] = []
    const next = await project.open({ log: createLogger({ level: 'error', write: (line) => { lines.push(line) } }) })
    await next.quiet()
    expect((await next.host.readiness()).ready).to.equal(true)
    expect((await next.host.list({ limit: 9, workflowId: 'order' })).instances.map(({ id, status, startedAt }) => [id, status, startedAt])).to.deep.equal(
      [...ids].reverse().map((id, index) => [id, index === 0 ? 'waiting' : 'active', project.clock.now()]))
    expect(project.calls).to.deep.equal([{ order: 'e' }])
    await next.close(0)
    const told = [
      'is damaged in the store: its instance is no JSON', 'has a text of form 2; this release knows 1',
      'is damaged in the store: its text does not say what it should', 'is damaged in the store: its text does not say what it should',
    ].map((text, index) => `Instance ${String(ids[index])} of "order" ${text}`)
    for (const text of told) expect(lines.some((line) => line.includes(JSON.stringify(text).slice(1, -1))), text).to.equal(true)
    const store = openStore(project.file, 0)
    expect(store.verify().map((fault) => told.find((text) => fault.startsWith(text)))).to.deep.equal(told)
    expect(store.summary().instances).to.deep.equal({ unreadable: 4, waiting: 1 })
    store.close()
  })

  it('come last where others have their positions, as after an import', async () => {
    const runtime = await project.open({ call: slow })
    const ids: string[] = []
    for (const order of ['a', 'b']) ids.push((await runtime.host.start({ workflowId: 'order', input: { order }, respondAsync: true })).id)
    await runtime.close(0)
    for (const { position } of rows('passing')) {
      change(`insert into instance (rowid, id, workflow_id, definition, status, dependent, busy, undelivered, started_at, ended_at, next_step, facts, record)
        values (?, ?, 'order', '', 'completed', 0, 0, 0, 0, ?, 0, '{}', '{"startedAt":0}')`, position, `other${String(position)}`, project.clock.now())
    }
    const next = await project.open({ settings: { 'sonatina.instances.retention': 'P1D' } })
    await next.quiet()
    expect(rows('instance').map((row) => row['id'])).to.deep.equal(['other1', 'other2', ...ids])
    expect(rows('passing')).to.deep.equal([])
    expect((await next.host.list({ limit: 9, status: ['waiting'] })).instances.map(({ id }) => id)).to.deep.equal([...ids].reverse())
    await next.close(0)
  })

  it('are taken up from a store of the schema before, where they stand among the others', async () => {
    const runtime = await project.open({ call: slow })
    const { id } = await runtime.host.start({ workflowId: 'order', input: { order: 'a' }, respondAsync: true })
    const before = await runtime.host.history('order', id)
    const made = project.killed()
    projects.push(made)
    await runtime.close(0)
    const [passing] = rows('passing', made)
    const [{ text, hash } = {}] = rows('definition', made)
    const { facts, status, state } = JSON.parse(String(passing?.['instance'])) as { facts: object; status: string; state: object }
    rmSync(made.file)
    rmSync(`${made.file}-wal`, { force: true })
    const old = new Database(made.file)
    old.exec('pragma journal_mode = wal')
    for (const step of MIGRATIONS.slice(0, 2)) old.exec(step)
    old.exec('pragma user_version = 2')
    old.prepare('insert into definition (hash, workflow_id, version, uri, text) values (?, ?, ?, ?, ?)').run(hash, 'order', '1', 'order.sw.json', text)
    old.prepare(`insert into instance (id, workflow_id, definition, status, dependent, busy, undelivered, started_at, next_step, facts, state, record)
      values (?, 'order', ?, ?, 0, 1, 0, ?, ?, ?, ?, ?)`).run(
      id, hash, status, made.clock.now(), before.length, JSON.stringify(facts), JSON.stringify({ form: 1, steps: before, ...state }),
      JSON.stringify({ id, workflowId: 'order', version: '1', status, startedAt: made.clock.now() }))
    old.close()
    const next = await made.open()
    await next.quiet()
    expect(made.calls).to.deep.equal([{ order: 'a' }])
    expect((await next.host.history('order', id)).slice(0, before.length)).to.deep.equal(before)
    await next.host.deliver(event('go', 'a'))
    await next.quiet()
    expect([rows('instance', made), rows('passing', made)]).to.deep.equal([[], []])
    await next.close(0)
    const store = openStore(made.file, 0)
    expect(store.summary()).to.include({ schemaVersion: MIGRATIONS.length })
    store.close()
  })

  it('are listed once each while they move, end and begin between two pages', async () => {
    const runtime = await project.open({ call: slow })
    const ids: string[] = []
    for (let number = 0; number < 8; number += 1) ids.push((await runtime.host.start({ workflowId: 'order', input: { order: `o${String(number)}` }, respondAsync: true })).id)
    await until(() => answers.length === 8)
    const first = await runtime.host.list({ limit: 3 })
    // One of the first page and one of the others come to wait, a new one begins.
    for (const number of [6, 2]) answers[number]?.({ output: 1 })
    await until(() => rows('instance').length === 2)
    await runtime.host.start({ workflowId: 'order', input: { order: 'new' }, respondAsync: true })
    const second = await runtime.host.list({ limit: 9, ...(first.cursor === undefined ? {} : { cursor: first.cursor }) })
    expect([...first.instances, ...second.instances].map(({ id }) => id)).to.deep.equal([...ids].reverse())
    await runtime.close(0)
  })
})
