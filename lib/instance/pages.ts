/** A long list in pages: with another entry it shares all pages but one with the list before, so that a long loop costs no more per iteration. */
export type Pages<Entry> = readonly (readonly Entry[])[]

const PAGE_SIZE = 128

/** Puts an entry at an index; places before it that have none yet hold null. */
export function withEntry<Entry>(pages: Pages<Entry | null>, index: number, entry: Entry): Pages<Entry | null> {
  const number = Math.floor(index / PAGE_SIZE)
  const copy = [...pages]
  while (copy.length <= number) {
    const last = copy.pop()
    if (last !== undefined) copy.push(filled(last, PAGE_SIZE))
    copy.push([])
  }
  const page = filled(copy[number] ?? [], index % PAGE_SIZE)
  page[index % PAGE_SIZE] = entry
  copy[number] = page
  return copy
}

function filled<Entry>(page: readonly (Entry | null)[], length: number): (Entry | null)[] {
  const copy = [...page]
  while (copy.length < length) copy.push(null)
  return copy
}

/** Cuts a list into pages. */
export function toPages<Entry>(entries: readonly Entry[]): Pages<Entry> {
  return Array.from({ length: Math.ceil(entries.length / PAGE_SIZE) }, (_, number) => entries.slice(number * PAGE_SIZE, (number + 1) * PAGE_SIZE))
}
