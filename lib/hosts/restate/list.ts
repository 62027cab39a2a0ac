import type { InstancePage, InstanceQuery, InstanceRecord } from '../host.ts'
import { fitsQuery, pageOf } from '../lives.ts'
import { recordOfLife, type Head, type Life } from './life.ts'
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
  const heads = rows.map((row): InstanceRecord & Head => ({ id: String(row['service_key']), version: '', data: null, ...JSON.parse(String(row['value_utf8'])) as Head }))
  const shown = heads.filter((head) => (head.endedAt === undefined || now < (head.visibleUntil ?? 0)) && fitsQuery(head, query))
  const { instances, cursor } = pageOf(shown.sort((one, other) => (one.id < other.id ? -1 : 1)), query)
  if (instances.length === 0) return { instances }
  const ids = instances.map(({ id }) => `'${id.replaceAll('\'', '\'\'')}'`).join(', ')
  const found = await engine.query(`select service_key, value_utf8 from state where service_name = '${names.instance}' and key = 'life' and service_key in (${ids})`)
  const lives = new Map(found.map((row) => [String(row['service_key']), JSON.parse(String(row['value_utf8'])) as Life]))
  const records = instances.flatMap(({ id }) => {
    const life = lives.get(id)
    // It ended between the two looks.
    return life === undefined ? [] : [recordOfLife(life)]
  })
  return { instances: records, ...(cursor === undefined ? {} : { cursor }) }
}
