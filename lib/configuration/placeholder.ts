/** A part of a value: plain text, or a reference `${name:fallback}`. */
type Part = string | { readonly name: string; readonly fallback: string | undefined }

/** A value whose references cannot be resolved; the message says which. */
export interface Unresolved {
  readonly problem: string
}

/**
 * Resolves the references of a value: `${NAME:default}`, nested; `\${` is literal (configuration.md §1).
 *
 * `lookup` gives the resolved value of a name, `undefined` when nothing sets it, or what is wrong with it.
 */
export function resolveReferences(
  text: string,
  lookup: (name: string) => string | undefined | Unresolved,
): string | Unresolved {
  if (!text.includes('${')) return text
  let result = ''
  for (const part of parseParts(text)) {
    if (typeof part === 'string') {
      result += part
      continue
    }
    const name = resolveReferences(part.name, lookup)
    if (typeof name !== 'string') return name
    let value = lookup(name)
    if (value === undefined && part.fallback !== undefined) value = resolveReferences(part.fallback, lookup)
    if (value === undefined) return { problem: `\${${name}} is not set and has no default` }
    if (typeof value !== 'string') return value
    result += value
  }
  return result
}

/** Finds the names of references that `isSet` does not know and that have no default, in the order of the value (configuration.md §1). */
export function missingReferences(text: string, isSet: (name: string) => boolean): readonly string[] {
  if (!text.includes('${')) return []
  return parseParts(text).flatMap((part) => {
    if (typeof part === 'string' || isSet(part.name)) return []
    return part.fallback === undefined ? [part.name] : missingReferences(part.fallback, isSet)
  })
}

function parseParts(text: string): Part[] {
  const parts: Part[] = []
  let plain = ''
  let index = 0
  while (index < text.length) {
    if (text.startsWith('\\${', index)) {
      plain += '${'
      index += 3
      continue
    }
    const end = text.startsWith('${', index) ? closing(text, index + 2) : -1
    if (end < 0) {
      plain += text[index] ?? ''
      index++
      continue
    }
    if (plain !== '') parts.push(plain)
    plain = ''
    parts.push(parseReference(text.slice(index + 2, end)))
    index = end + 1
  }
  if (plain !== '') parts.push(plain)
  return parts
}

function parseReference(inner: string): Part {
  let depth = 0
  for (let index = 0; index < inner.length; index++) {
    if (inner.startsWith('${', index)) depth++
    else if (inner[index] === '}') depth--
    else if (inner[index] === ':' && depth === 0) return { name: inner.slice(0, index), fallback: inner.slice(index + 1) }
  }
  return { name: inner, fallback: undefined }
}

function closing(text: string, from: number): number {
  let depth = 0
  for (let index = from; index < text.length; index++) {
    if (text.startsWith('${', index)) depth++
    else if (text[index] === '}' && depth-- === 0) return index
  }
  return -1
}
