import { CaseFault } from './case-fault.ts'

/** Splits a path such as `workflowdata.a[0].'/x.y'.b` into keys and indexes; `$` is the whole body. */
export function parsePath(path: string): readonly (string | number)[] {
  const tokens: (string | number)[] = []
  const pattern = /'([^']*)'|\[(\d+)\]|([^.[\]']+)/gy
  let rest = path === '$' ? '' : path.replace(/^\$\.?/, '')
  while (rest !== '') {
    rest = rest.replace(/^\./, '')
    pattern.lastIndex = 0
    const match = pattern.exec(rest)
    if (match === null) throw new CaseFault(`"${path}" is no path; stopped at "${rest}"`)
    const [whole, quoted, index, name] = match
    tokens.push(index === undefined ? quoted ?? name ?? '' : Number(index))
    rest = rest.slice(whole.length)
  }
  return tokens
}

/** Gives what stands at a path of a document; `undefined` when nothing is there. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document
  for (const token of parsePath(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined
    value = (value as Record<string | number, unknown>)[token]
  }
  return value
}
