/** An address as its 32-bit words: one for IPv4, four for IPv6. */
export type Address = readonly number[]

const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`)
const EMBEDDED_IPV4 = new RegExp(`^(.*:)(${BYTE}(?:\\.${BYTE}){3})$`)

/** Parses an IP address; IPv4 in IPv6 notation counts as IPv4, zones are refused; `undefined` when it is none. */
export function parseAddress(text: string): Address | undefined {
  if (IPV4.test(text)) return [ipv4Word(text)]
  const words = text.length > 45 || !text.includes(':') ? undefined : ipv6Words(text)
  if (words === undefined) return undefined
  const isMapped = words[0] === 0 && words[1] === 0 && words[2] === 0xffff
  return isMapped ? words.slice(3) : words
}

function ipv4Word(text: string): number {
  return text.split('.').reduce((word, byte) => word * 256 + Number(byte), 0)
}

function ipv6Words(text: string): number[] | undefined {
  const embedded = EMBEDDED_IPV4.exec(text)
  const word = embedded?.[2] === undefined ? 0 : ipv4Word(embedded[2])
  const plain = embedded?.[1] === undefined ? text : `${embedded[1]}${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`
  const [head = '', tail, ...more] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = 8 - left.length - right.length
  if (more.length > 0 || (tail === undefined ? missing !== 0 : missing < 1)) return undefined
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined
  const numbers = groups.map((group) => parseInt(group, 16))
  return [0, 2, 4, 6].map((index) => (numbers[index] ?? 0) * 65536 + (numbers[index + 1] ?? 0))
}

/** Tests a parsed address; `undefined` means that the request has none. */
export type AddressTest = (address: Address | undefined) => boolean

/** Tells what is wrong with an address or CIDR range as Istio writes it; `undefined` when nothing is. */
export function faultOfBlock(text: string): string | undefined {
  return parseBlock(text) === undefined ? `"${text}" is neither an IP address nor a CIDR range` : undefined
}

interface Block {
  readonly words: Address
  readonly bits: number
}

function parseBlock(text: string): Block | undefined {
  const [address = '', length, ...rest] = text.split('/')
  const words = parseAddress(address)
  if (words === undefined || rest.length > 0) return undefined
  const size = words.length * 32
  if (length === undefined) return { words, bits: size }
  if (!/^(0|[1-9]\d{0,2})$/.test(length)) return undefined
  // A range over IPv4 in IPv6 notation counts its bits from the start of the IPv6 address.
  const bits = Number(length) - (words.length === 1 && address.includes(':') ? 96 : 0)
  return bits < 0 || bits > size ? undefined : { words, bits }
}

/** Compiles addresses and CIDR ranges, joined by OR; call it with values that {@link faultOfBlock} accepts. */
export function compileBlocks(values: readonly string[]): AddressTest {
  const blocks = values.flatMap((value) => parseBlock(value) ?? [])
  return (address) => address !== undefined && blocks.some((block) => isInside(block, address))
}

function isInside(block: Block, address: Address): boolean {
  if (block.words.length !== address.length) return false
  for (let index = 0, left = block.bits; left > 0; index += 1, left -= 32) {
    const mask = left >= 32 ? 0xffffffff : (0xffffffff << (32 - left)) >>> 0
    if ((((block.words[index] ?? 0) ^ (address[index] ?? 0)) & mask) !== 0) return false
  }
  return true
}
