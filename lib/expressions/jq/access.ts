import { setOwn, type Json, type JsonObject } from '../../common/index.ts'
import { JqError } from './failure.ts'
import type { Run } from './run.ts'
import { compare, countCodePoints, equals, isArray, isObject, MAX_DEPTH, readOwn, typeOf } from './value.ts'

const MAX_INDEX = 536_870_911

/**
 * Reads the value a key points at: a member, an element, a slice, or the positions of a sub-array.
 *
 * @throws {@link JqError} when the value has no such keys.
 */
export function readKey(value: Json, key: Json, offset?: number): Json {
  if (typeof key === 'string' && isObject(value)) return readOwn(value, key)
  if (typeof key === 'number' && isArray(value)) return readElement(value, key)
  if (value === null && (typeof key === 'string' || typeof key === 'number' || isObject(key))) return null
  if (isObject(key) && (isArray(value) || typeof value === 'string')) {
    if (!Object.hasOwn(key, 'start') || !Object.hasOwn(key, 'end')) throw new JqError('Array/string slice indices must be integers', [], offset)
    return readSlice(value, readOwn(key, 'start'), readOwn(key, 'end'), offset)
  }
  if (isArray(key) && isArray(value)) return positions(value, key)
  throw new JqError(`Cannot index ${typeOf(value)} with %0`, [key], offset)
}

/** Reads an element; a negative index counts from the end, a fraction is cut off, NaN finds nothing. */
export function readElement(items: readonly Json[], index: number): Json {
  const whole = Math.floor(index)
  return items[whole < 0 ? whole + items.length : whole] ?? null
}

/** Reads a slice of an array or of a string (by code point); null has null slices. */
export function readSlice(value: Json, from: Json, to: Json, offset?: number): Json {
  if (value === null) return null
  if (isArray(value)) {
    const [start, end] = sliceBounds(value.length, from, to, offset)
    return value.slice(start, end)
  }
  if (typeof value !== 'string') {
    throw new JqError(`Cannot index ${typeOf(value)} with %0`, [{ start: from, end: to }], offset)
  }
  const length = countCodePoints(value)
  const [start, end] = sliceBounds(length, from, to, offset)
  if (length === value.length) return value.slice(start, end)
  return Array.from(value).slice(start, end).join('')
}

function sliceBounds(length: number, from: Json, to: Json, offset?: number): [number, number] {
  const valid = (bound: Json): boolean => bound === null || typeof bound === 'number'
  if (!valid(from) || !valid(to)) throw new JqError('Array/string slice indices must be integers', [], offset)
  const start = clamp(from === null || Number.isNaN(from) ? 0 : (from as number), length)
  const end = clamp(to === null || Number.isNaN(to) ? length : (to as number), length)
  const first = Math.floor(start)
  return [first, Math.max(first, Math.ceil(end))]
}

function clamp(bound: number, length: number): number {
  return Math.min(length, Math.max(0, bound < 0 ? bound + length : bound))
}

/** Finds where one array stands inside another. */
function positions(items: readonly Json[], wanted: readonly Json[]): Json[] {
  const found: number[] = []
  if (wanted.length === 0) return found
  for (let start = 0; start + wanted.length <= items.length; start += 1) {
    if (wanted.every((item, index) => equals(items[start + index] as Json, item))) found.push(start)
  }
  return found
}

/**
 * Gives a copy of a container with another value at a key; null becomes a container of the right kind.
 *
 * A container in `owned` belongs to the caller and is changed in place.
 *
 * @throws {@link JqError} when the container takes no such key.
 */
export function writeKey(container: Json, key: Json, value: Json, run: Run, owned?: Set<object>): Json {
  if (typeof key === 'string' && (container === null || isObject(container))) {
    const copy = writable(container ?? {}, run, owned) as Record<string, unknown>
    setOwn(copy, key, value)
    return copy as Json
  }
  if (typeof key === 'number' && (container === null || isArray(container))) {
    return writeElement(container ?? [], key, value, run, owned)
  }
  if (isObject(key) && (container === null || isArray(container))) return writeSlice(container ?? [], key, value, run)
  if (isObject(key) && typeof container === 'string') throw new JqError('Cannot update string slices')
  if (isArray(key) && isArray(container)) throw new JqError('Cannot update field at array index of array')
  throw new JqError(`Cannot index ${typeOf(container)} with %0`, [key])
}

function writable(container: Json, run: Run, owned: Set<object> | undefined): object {
  const source = container as readonly Json[] | JsonObject
  if (owned?.has(source)) return source
  const copy = isArray(source) ? [...source] : { ...source }
  const size = isArray(source) ? source.length : Object.keys(source).length
  run.charge(size)
  // Copying is linear: without this, ten thousand copies of a large container pass between two looks at the clock.
  run.spend(size >> 4)
  owned?.add(copy)
  return copy
}

function writeElement(items: readonly Json[], key: number, value: Json, run: Run, owned?: Set<object>): Json {
  if (Number.isNaN(key)) throw new JqError('Cannot set array element at NaN index')
  const whole = Math.floor(key)
  const index = whole < 0 ? whole + items.length : whole
  if (index < 0) throw new JqError('Out of bounds negative array index')
  if (index > MAX_INDEX) throw new JqError('Array index too large')
  if (index >= items.length) run.charge(index + 1 - items.length)
  const copy = writable(items, run, owned) as Json[]
  for (let gap = copy.length; gap < index; gap += 1) copy.push(null)
  copy[index] = value
  return copy
}

function writeSlice(items: readonly Json[], key: JsonObject, value: Json, run: Run): Json {
  const [start, end] = sliceBounds(items.length, readOwn(key, 'start'), readOwn(key, 'end'))
  if (!isArray(value)) throw new JqError('A slice of an array can only be assigned another array')
  run.charge(items.length + value.length)
  return [...items.slice(0, start), ...value, ...items.slice(end)]
}

/** Reads the value at a path; null where nothing is. */
export function readPath(root: Json, path: readonly Json[]): Json {
  if (path.length > MAX_DEPTH) throw new JqError('Path too deep')
  let value = root
  for (const key of path) value = readKey(value, key)
  return value
}

/** Puts a value at a path, making containers on the way. */
export function writePath(root: Json, path: readonly Json[], value: Json, run: Run, owned?: Set<object>): Json {
  if (path.length > MAX_DEPTH) throw new JqError('Path too deep')
  if (path.length === 0) return value
  // Containers are read on the way down and written on the way up: no recursion, paths may be very long.
  const containers: Json[] = [root]
  for (let index = 0; index < path.length - 1; index += 1) containers.push(readKey(containers[index] as Json, path[index] as Json))
  let result = value
  for (let index = path.length - 1; index >= 0; index -= 1) {
    const key = path[index] as Json
    const container = containers[index] as Json
    if (index === path.length - 1) readKey(container, key)
    result = owned !== undefined && typeof key === 'string' && isUnchanged(container, key, result)
      ? container
      : writeKey(container, key, result, run, owned)
  }
  return result
}

function isUnchanged(container: Json, key: string, value: Json): boolean {
  return typeof value === 'object' && value !== null && isObject(container) && Object.hasOwn(container, key) && container[key] === value
}

/** Deletes what several paths point at; all paths refer to the value as it is now. */
export function deletePaths(root: Json, paths: readonly (readonly Json[])[], run: Run): Json {
  for (const path of paths) if (path.length > MAX_DEPTH) throw new JqError('Path too deep')
  const sorted = [...paths].sort((left, right) => compare(left, right))
  if (sorted[0]?.length === 0) return null
  return sorted.length === 0 ? root : deleteSorted(root, sorted, 0, run)
}

function deleteSorted(value: Json, paths: readonly (readonly Json[])[], depth: number, run: Run): Json {
  let result = value
  const gone: Json[] = []
  for (let end = paths.length; end > 0;) {
    const key = paths[end - 1]?.[depth] as Json
    let start = end - 1
    while (start > 0 && equals(paths[start - 1]?.[depth] as Json, key)) start -= 1
    if (paths[start]?.length === depth + 1) gone.push(key)
    else {
      const child = readKey(result, key)
      if (child !== null) result = writeKey(result, key, deleteGroup(child, paths.slice(start, end), depth + 1, run), run)
    }
    end = start
  }
  return gone.length === 0 ? result : deleteKeys(result, gone, run)
}

// A single long path is followed without recursion.
function deleteGroup(value: Json, paths: readonly (readonly Json[])[], depth: number, run: Run): Json {
  const [path] = paths
  if (paths.length > 1 || path === undefined) return deleteSorted(value, paths, depth, run)
  const containers = [value]
  for (let index = depth; index < path.length - 1; index += 1) {
    const child = readKey(containers.at(-1) as Json, path[index] as Json)
    if (child === null) return value
    containers.push(child)
  }
  let result = deleteKeys(containers.pop() as Json, [path.at(-1) as Json], run)
  for (let index = path.length - 2; index >= depth; index -= 1) {
    result = writeKey(containers.pop() as Json, path[index] as Json, result, run)
  }
  return result
}

/** Deletes members of an object, or elements and slices of an array. */
export function deleteKeys(value: Json, keys: readonly Json[], run: Run): Json {
  if (value === null) return null
  if (isArray(value)) {
    const gone = new Set<number>()
    for (const key of keys) addPositions(gone, value, key)
    run.charge(value.length)
    return gone.size === 0 ? value : value.filter((_, index) => !gone.has(index))
  }
  if (!isObject(value)) throw new JqError(`Cannot delete fields from ${typeOf(value)}`)
  const copy: Record<string, unknown> = { ...value }
  for (const key of keys) {
    if (typeof key !== 'string') throw new JqError(`Cannot delete ${typeOf(key)} field of object`)
    Reflect.deleteProperty(copy, key)
  }
  return copy as Json
}

function addPositions(gone: Set<number>, items: readonly Json[], key: Json): void {
  if (typeof key === 'number') {
    const whole = Math.floor(key)
    gone.add(whole < 0 ? whole + items.length : whole)
  } else if (isObject(key)) {
    const [start, end] = sliceBounds(items.length, readOwn(key, 'start'), readOwn(key, 'end'))
    for (let index = start; index < end; index += 1) gone.add(index)
  } else throw new JqError(`Cannot delete ${typeOf(key)} element of array`)
}
