import { expect } from 'chai'
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
    for (const order of ['a', 'b', 'c']) ids.push((await runtime.host.start({ workflowId: 'order', input: { order }, respondAsync: true })).id)
    await runtime.close(0)
    change(`update passing set instance = '{"form":1,' where id = ?`, ids[0])
    change(`update passing set instance = '{"form":2}' where id = ?`, ids[1])
    const lines: string[] = []
    const next = await project.open({ log: createLogger({ level: 'error', write: (line) => { lines.push(line) } }) })
    await next.quiet()
    expect((await next.host.list({ limit: 9 })).instances.map(({ id, status, workflowId }) => [id, status, workflowId])).to.have.deep.members([
      [ids[0], 'active', 'order'], [ids[1], 'active', 'order'], [ids[2], 'waiting', 'order'],
    ])
    expect(lines.some((line) => line.includes(`Instance ${String(ids[0])} of \\"order\\" is damaged in the store`))).to.equal(true)
    expect(lines.some((line) => line.includes(`Instance ${String(ids[1])} of \\"order\\" has a text of form 2`))).to.equal(true)
    expect(project.calls).to.deep.equal([{ order: 'c' }])
    await next.close(0)
    const store = openStore(project.file, 0)
    expect(store.verify()).to.deep.equal([`instance ${String(ids[0])}: instance is no JSON`])
    expect(store.summary().instances).to.include({ unreadable: 2, waiting: 1 })
    store.close()
  })

  it('come last where another has their position, as after an import', async () => {
    const runtime = await project.open({ call: slow })
    const { id } = await runtime.host.start({ workflowId: 'order', input: { order: 'a' }, respondAsync: true })
    await runtime.close(0)
    const [{ position } = {}] = rows('passing')
    change(`insert into instance (rowid, id, workflow_id, definition, status, dependent, busy, undelivered, started_at, ended_at, next_step, facts, record)
      values (?, 'other', 'order', '', 'completed', 0, 0, 0, 0, ?, 0, '{}', '{}')`, position, project.clock.now())
    const next = await project.open({ settings: { 'sonatina.instances.retention': 'P1D' } })
    await next.quiet()
    expect(rows('instance').map((row) => [row['id'], row['status']])).to.deep.equal([['other', 'completed'], [id, 'waiting']])
    expect(rows('passing')).to.deep.equal([])
    await next.close(0)
  })

  it('are taken up from a store of the schema before, where they stand among the others', async () => {
    const runtime = await project.open()
    const { id } = await runtime.host.start({ workflowId: 'order', input: { order: 'a' } })
    await runtime.close(0)
    change('drop table passing')
    change('pragma user_version = 2')
    const next = await project.open()
    expect((await next.host.list({ limit: 9 })).instances.map((instance) => instance.id)).to.deep.equal([id])
    expect((await next.host.deliver(event('go', 'a'))).instances).to.deep.equal([id])
    await next.close(0)
    const store = openStore(project.file, 0)
    expect(store.summary()).to.include({ schemaVersion: MIGRATIONS.length })
    store.close()
  })
})
