const SHORTEST_PREFIX = 3

/** Takes secrets out of a text, also where jq has cut them off with three dots. */
export function redact(text: string, secrets: readonly string[]): string {
  let result = text
  for (const secret of secrets) {
    const printed = JSON.stringify(secret).slice(1, -1)
    result = result.replaceAll(secret, '***').replaceAll(printed, '***')
    for (let length = printed.length - 1; length >= SHORTEST_PREFIX; length -= 1) {
      result = result.replaceAll(`${printed.slice(0, length)}...`, '***...')
    }
  }
  return result
}
