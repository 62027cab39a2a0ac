import { isIPv4, isIPv6 } from 'node:net'

/** An address as its 32-bit words: one for IPv4, four for IPv6. */
export type Address = readonly number[]

/** Parses an IP address; IPv4 in IPv6 notation counts as IPv4, zones are refused; `undefined` when it is none. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return [ipv4Word(text)]
  if (!isIPv6(text) || text.includes('%')) return undefined
  const words = ipv6Words(text)
  const mapped = words[0] === 0 && words[1] === 0 && words[2] === 0xffff
  return mapped ? words.slice(3) : words
}

function ipv4Word(text: string): number {
  return text.split('.').reduce((word, byte) => word * 256 + Number(byte), 0)
}

function ipv6Words(text: string): number[] {
  const embedded = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const word = embedded?.[2] === undefined ? 0 : ipv4Word(embedded[2])
  const plain = embedded?.[1] === undefined ? text : `${embedded[1]}${(word >>> 16).toString(16)}:${(word & 0xffff).toString(16)}`
  const [head = '', tail] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right].map((group) => parseInt(group, 16))
  return [0, 2, 4, 6].map((index) => (groups[index] ?? 0) * 65536 + (groups[index + 1] ?? 0))
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
