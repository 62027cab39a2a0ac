/** A long list in pages: with another entry it shares all pages but one with the list before, so that a long loop costs no more per iteration. */
export type Pages<Entry> = readonly (readonly Entry[])[]

const PAGE_SIZE = 128

/** Puts an entry at an index; places before it in its page that have none yet hold null. */
export function withEntry<Entry>(pages: Pages<Entry | null>, index: number, entry: Entry): Pages<Entry | null> {
  const number = Math.floor(index / PAGE_SIZE)
  const copy = [...pages]
  while (copy.length <= number) copy.push([])
  const page = [...copy[number] ?? []]
  while (page.length < index % PAGE_SIZE) page.push(null)
  page[index % PAGE_SIZE] = entry
  copy[number] = page
  return copy
}

/** Gives the pages of a list that was stored with them, or as one list, before there were pages. */
export function pagesOf<Entry>({ pages, results = [] }: { readonly pages?: Pages<Entry>; readonly results?: readonly Entry[] }): Pages<Entry> {
  return pages ?? Array.from({ length: Math.ceil(results.length / PAGE_SIZE) }, (_, number) => results.slice(number * PAGE_SIZE, (number + 1) * PAGE_SIZE))
}
