/** Tests one text; `undefined` means that the request has no such value. */
export type TextTest = (value: string | undefined) => boolean

/**
 * Compiles a list of values into one test: exact, `*suffix`, `prefix*`, or `*` for anything that is not empty.
 *
 * Only a leading or trailing `*` is a wildcard (tenancy.md, section 4, rule 6); the values are joined by OR.
 */
export function compileTexts(values: readonly string[], options: { readonly ignoreCase?: boolean; readonly presence?: boolean } = {}): TextTest {
  const exact: string[] = []
  const prefixes: string[] = []
  const suffixes: string[] = []
  let anything = false
  for (const raw of values) {
    const value = options.ignoreCase === true ? raw.toLowerCase() : raw
    if (value === '*') anything = true
    else if (value.startsWith('*')) suffixes.push(value.slice(1))
    else if (value.endsWith('*')) prefixes.push(value.slice(0, -1))
    else exact.push(value)
  }
  if (anything) return options.presence === true ? (value) => value !== undefined : (value) => value !== undefined && value !== ''
  const isExact = compileExact(exact)
  if (prefixes.length === 0 && suffixes.length === 0) return isExact
  return (value) => value !== undefined && (startsWithAny(value, prefixes) || endsWithAny(value, suffixes) || isExact(value))
}

// Comparing with a few texts is several times faster than hashing one (measured with the documents of ten tenants).
const FEW = 8

function compileExact(values: readonly string[]): TextTest {
  const [first] = values
  if (first === undefined) return () => false
  if (values.length === 1) return (value) => value === first
  if (values.length <= FEW) return (value) => value !== undefined && values.includes(value)
  const set = new Set(values)
  return (value) => value !== undefined && set.has(value)
}

function startsWithAny(value: string, prefixes: readonly string[]): boolean {
  for (const prefix of prefixes) if (value.startsWith(prefix)) return true
  return false
}

function endsWithAny(value: string, suffixes: readonly string[]): boolean {
  for (const suffix of suffixes) if (value.endsWith(suffix)) return true
  return false
}

/**
 * Compiles names in which every `*` stands for any text, as Istio reads namespaces and trust domains.
 */
export function compileGlobs(values: readonly string[]): TextTest {
  const isExact = compileExact(values.filter((value) => !value.includes('*')))
  const globs = values.filter((value) => value.includes('*'))
  if (globs.length === 0) return isExact
  return (value) => value !== undefined && (isExact(value) || globs.some((glob) => matchesGlob(glob, value)))
}

/** Matches in linear time and memory, so that no pattern can be slow; a regular expression could. */
function matchesGlob(glob: string, text: string): boolean {
  const parts = glob.split('*')
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let position = first.length
  const end = text.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, position)
    if (found < 0 || found + part.length > end) return false
    position = found + part.length
  }
  return true
}

/** Tells whether a path value is a template: it holds `{*}` or `{**}`. */
export function isPathTemplate(value: string): boolean {
  return value.includes('{*}') || value.includes('{**}')
}

/** Compiles path values: plain ones as {@link compileTexts}, `{*}` as one segment, `{**}` as any number of them. */
export function compilePaths(values: readonly string[]): TextTest {
  const plain = compileTexts(values.filter((value) => !isPathTemplate(value)))
  const templates = values.filter(isPathTemplate).map(templateExpression)
  if (templates.length === 0) return plain
  return (value) => plain(value) || (value !== undefined && templates.some((template) => template.test(value)))
}

function templateExpression(template: string): RegExp {
  const parts = template.split(/(\{\*\*?\})/)
  const source = parts.map((part) => part === '{*}' ? '[^/]+' : part === '{**}' ? '.*' : part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${source.join('')}$`, 's')
}
