const UNRESERVED = /%(2[dDeE]|3\d|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|7[eE])/g

/**
 * Normalises a request path as the mesh default (`BASE`) does and drops the query: escapes of unreserved characters are
 * decoded, backslashes become slashes, `.` and `..` segments are resolved; slashes are not merged, case is kept.
 *
 * Follows tenancy.md, section 4, rule 6 (RFC 3986, 6.2.2). Normalising twice gives the same text.
 */
export function normalisePath(target: string): string {
  const end = target.search(/[?#]/)
  let path = end < 0 ? target : target.slice(0, end)
  if (!path.includes('%') && !path.includes('.') && !path.includes('\\')) return path
  path = path.replaceAll(UNRESERVED, (escape) => String.fromCharCode(parseInt(escape.slice(1), 16))).replaceAll('\\', '/')
  return path.startsWith('/') ? resolveDots(path) : path
}

function resolveDots(path: string): string {
  const segments = path.split('/').slice(1)
  const kept: string[] = []
  segments.forEach((segment, index) => {
    const isLast = index === segments.length - 1
    if (segment === '..') kept.pop()
    if (segment !== '.' && segment !== '..') kept.push(segment)
    else if (isLast) kept.push('')
  })
  return `/${kept.join('/')}`
}

/**
 * Tells what makes a request target unusable, before any policy sees it; `undefined` when nothing does.
 *
 * NUL, control characters, fragments and broken escapes are read differently by different servers (tenancy.md, section 7).
 */
export function faultOfTarget(target: string): string | undefined {
  if (holdsControlCharacter(target)) return 'the path holds a control character or a space'
  if (target.includes('#')) return 'the path holds a fragment'
  if (/%(?![0-9a-fA-F]{2})/.test(target)) return 'the path holds a broken percent escape'
  if (/%[01][0-9a-fA-F]|%7[fF]/.test(target.split('?', 1)[0] ?? '')) return 'the path holds an escaped control character'
  return undefined
}

function holdsControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code <= 0x20 || code === 0x7f) return true
  }
  return false
}
