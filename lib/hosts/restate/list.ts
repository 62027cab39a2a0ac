import type { Json } from '../../common/index.ts'
import type { InstancePage, InstanceQuery, InstanceRecord } from '../host.ts'
import { fitsQuery, pageOf } from '../lives.ts'
import { recordOfLife, type Head, type Life } from './life.ts'
import { headOf } from './rest.ts'
import type { RestateHostParts } from './restate-host.ts'

/**
 * Lists instances by what the engine tells about its state.
 *
 * Of all instances only the heads are read; the lives of those on the page follow.
 *
 * @throws {@link HostError} `STORE_UNAVAILABLE`
 */
export async function listInstances({ engine, names, options: { clock } }: Pick<RestateHostParts, 'engine' | 'names' | 'options'>, query: InstanceQuery): Promise<InstancePage> {
  const now = clock.now()
  const rows = await engine.query(`select service_key, value_utf8 from state where service_name = '${names.instance}' and key = 'head'`)
  // What is in its first turn has no head yet.
  const first = await engine.query(`select service_key, value_utf8 from state where service_name = '${names.instance}' and key = 'life' and value_utf8 like '%"running":"%' ` +
    `and service_key not in (select service_key from state where service_name = '${names.instance}' and key = 'head')`)
  const heads = [
    ...first.map((row) => entryOf(row, headOf(JSON.parse(textOf(row, 'value_utf8')) as Life))),
    ...rows.map((row) => entryOf(row, JSON.parse(textOf(row, 'value_utf8')) as Head)),
  ]
  const shown = heads.filter((head) => (head.endedAt === undefined || now < (head.visibleUntil ?? 0)) && fitsQuery(head, query))
  const { instances, cursor } = pageOf(shown.sort((one, other) => (one.id < other.id ? -1 : 1)), query)
  if (instances.length === 0) return { instances }
  const ids = instances.map(({ id }) => `'${id.replaceAll('\'', '\'\'')}'`).join(', ')
  const found = await engine.query(`select service_key, value_utf8 from state where service_name = '${names.instance}' and key = 'life' and service_key in (${ids})`)
  const lives = new Map(found.map((row) => [textOf(row, 'service_key'), JSON.parse(textOf(row, 'value_utf8')) as Life]))
  const records = instances.flatMap(({ id }) => {
    const life = lives.get(id)
    // It ended between the two looks.
    return life === undefined ? [] : [recordOfLife(life)]
  })
  return { instances: records, ...(cursor === undefined ? {} : { cursor }) }
}

type Row = Readonly<Record<string, Json>>

function entryOf(row: Row, head: Head): InstanceRecord & Head {
  return { id: textOf(row, 'service_key'), version: '', data: null, ...head }
}

function textOf(row: Row, column: string): string {
  const value = row[column]
  return typeof value === 'string' ? value : ''
}
