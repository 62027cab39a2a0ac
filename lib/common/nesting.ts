/**
 * Tells whether a YAML text may nest deeper than so many levels, without parsing it.
 *
 * Parsers recurse, and from some thousand levels on the process can end with them: no exception reaches anybody, so the depth
 * is bounded before. Counts open brackets, and what can open block collections at the start of a line; brackets in quoted texts
 * count too, so the bound is far above what honest texts need.
 */
export function isNestedDeeper(text: string, levels: number): boolean {
  let open = 0
  let start = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index)
    if (character === OPEN_BRACKET || character === OPEN_BRACE) open += 1
    else if ((character === CLOSE_BRACKET || character === CLOSE_BRACE) && open > 0) open -= 1
    else if (character === LINE_FEED || character === CARRIAGE_RETURN) start = index + 1
    if (open > levels) return true
    if (index - start === levels && /^[\s?-]*$/.test(text.slice(start, index))) return true
  }
  return false
}

const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
