import type { MessageTypeDefinition, PackageDefinition } from '@grpc/proto-loader'
import { isJsonObject, setOwn, type Json, type JsonObject } from '../../common/index.ts'
import { isJsonArray } from '../json-array.ts'

/** The message types of a `.proto` file: what their fields are. */
export interface TypeRegistry {
  /** Gives the members of a value that its type does not know, as paths; for messages to callers. */
  unknownMembers(type: MessageTypeDefinition<object, object>, value: Json): string[]
  /**
   * Gives a decoded message as the JSON mapping of protobuf has it: a field without presence that holds its default is left out. With
   * `enumDefaults` enums are always there (`kogito.grpc.enum.includeDefault`).
   */
  toJson(type: MessageTypeDefinition<object, object>, message: object, enumDefaults: boolean): JsonObject
}

/** What the loader tells of a field, as `google.protobuf.FieldDescriptorProto` names it. */
interface Field {
  readonly name: string
  readonly label: string
  readonly type: string
  readonly typeName: string
  readonly proto3Optional?: boolean
  readonly oneofIndex?: number
}

interface Message {
  readonly name: string
  readonly field: readonly Field[]
  readonly nestedType: readonly Message[]
  readonly enumType: readonly Enumeration[]
  readonly oneofDecl?: readonly unknown[]
}

interface Enumeration {
  readonly name: string
  readonly value: readonly { readonly name: string; readonly number: number }[]
}

/** A message with its full name, which relative type names start from. */
interface Scoped {
  readonly fullName: string
  readonly message: Message
}

/** Collects the types of a loaded package. */
export function createTypeRegistry(definition: PackageDefinition): TypeRegistry {
  const messages = new Map<string, Message>()
  const enumerations = new Map<string, Enumeration>()
  const add = (fullName: string, message: Message): void => {
    messages.set(fullName, message)
    for (const nested of message.nestedType) add(`${fullName}.${nested.name}`, nested)
    for (const nested of message.enumType) enumerations.set(`${fullName}.${nested.name}`, nested)
  }
  for (const [fullName, entry] of Object.entries(definition)) {
    if (!('type' in entry)) continue
    const type = entry.type as unknown as Message | Enumeration
    if ('field' in type) add(fullName, type)
    else enumerations.set(fullName, type)
  }
  const byType = new Map<object, Scoped>()
  const scopedOf = (type: MessageTypeDefinition<object, object>): Scoped | undefined => {
    const known = byType.get(type)
    if (known !== undefined) return known
    const message = type.type as unknown as Message
    const found = [...messages].find(([fullName, candidate]) => fullName.endsWith(message.name) && sameFields(candidate, message))
    if (found === undefined) return undefined
    const scoped = { fullName: found[0], message: found[1] }
    byType.set(type, scoped)
    return scoped
  }
  const messageOf = (field: Field, scope: string): Scoped | undefined => resolve(messages, field.typeName, scope, (fullName, message) => ({ fullName, message }))
  const defaultOf = (field: Field, scope: string): string | undefined =>
    resolve(enumerations, field.typeName, scope, (_, { value }) => value.find(({ number }) => number === 0)?.name ?? value[0]?.name)

  const convert = ({ fullName, message }: Scoped, value: JsonObject, enumDefaults: boolean): JsonObject => {
    const json: Record<string, unknown> = {}
    for (const field of message.field) {
      const member = Object.hasOwn(value, field.name) ? value[field.name] : undefined
      const implicit = field.label !== 'LABEL_REPEATED' && field.type !== 'TYPE_MESSAGE' && field.proto3Optional !== true && !inOneof(message, field)
      const byDefault = field.type === 'TYPE_ENUM' ? defaultOf(field, fullName) : undefined
      if (member === undefined) {
        if (implicit && enumDefaults && byDefault !== undefined) setOwn(json, field.name, byDefault)
        continue
      }
      if (implicit && isDefault(member, byDefault) && !(enumDefaults && byDefault !== undefined)) continue
      const nested = field.type === 'TYPE_MESSAGE' ? messageOf(field, fullName) : undefined
      setOwn(json, field.name, nested === undefined ? member : convertMember(nested, member, enumDefaults))
    }
    return json as JsonObject
  }
  const convertMember = (nested: Scoped, member: Json, enumDefaults: boolean): Json => {
    if (isJsonArray(member)) return member.map((item) => convertMember(nested, item, enumDefaults))
    if (!isJsonObject(member)) return member
    // A map is decoded to an object of its values, not to a list of its entries.
    const entry = mapValue(nested)
    if (entry === undefined) return convert(nested, member, enumDefaults)
    const valueType = entry.type === 'TYPE_MESSAGE' ? messageOf(entry, nested.fullName) : undefined
    return valueType === undefined ? member : mapObject(member, (item) => convertMember(valueType, item, enumDefaults))
  }
  const unknown = ({ fullName, message }: Scoped, value: Json, path: string): string[] => {
    if (isJsonArray(value)) return value.flatMap((item, index) => unknown({ fullName, message }, item, `${path}/${String(index)}`))
    if (!isJsonObject(value) || mapValue({ fullName, message }) !== undefined) return []
    return Object.keys(value).flatMap((key) => {
      const field = message.field.find((candidate) => candidate.name === key)
      if (field === undefined) return [`${path}/${key}`]
      const nested = field.type === 'TYPE_MESSAGE' ? messageOf(field, fullName) : undefined
      return nested === undefined ? [] : unknown(nested, value[key] ?? null, `${path}/${key}`)
    })
  }
  return {
    unknownMembers(type, value) {
      const scoped = scopedOf(type)
      return scoped === undefined ? [] : unknown(scoped, value, '')
    },
    toJson(type, message, enumDefaults) {
      const plain = JSON.parse(JSON.stringify(message)) as JsonObject
      const scoped = scopedOf(type)
      return scoped === undefined ? plain : convert(scoped, plain, enumDefaults)
    },
  }
}

/** Finds a name from the innermost scope outwards, as protobuf does. */
function resolve<Type, Result>(types: ReadonlyMap<string, Type>, name: string, scope: string, then: (fullName: string, type: Type) => Result): Result | undefined {
  const bare = name.replace(/^\./, '')
  const segments = name.startsWith('.') ? [] : scope.split('.')
  for (let length = segments.length; length >= 0; length--) {
    const fullName = [...segments.slice(0, length), bare].join('.')
    const type = types.get(fullName)
    if (type !== undefined) return then(fullName, type)
  }
  return undefined
}

function sameFields(left: Message, right: Message): boolean {
  return left.name === right.name && left.field.length === right.field.length && left.field.every((field, index) => field.name === right.field[index]?.name)
}

/** The loader gives every field an index into `oneofDecl`, 0 where there is none. */
function inOneof(message: Message, field: Field): boolean {
  return (message.oneofDecl?.length ?? 0) > 0 && field.oneofIndex !== undefined
}

function mapValue({ message }: Scoped): Field | undefined {
  const options = (message as { readonly options?: { readonly mapEntry?: boolean } | null }).options
  return options?.mapEntry === true ? message.field.find((field) => field.name === 'value') : undefined
}

function isDefault(value: Json, byDefault: string | undefined): boolean {
  return value === '' || value === 0 || value === '0' || value === false || (byDefault !== undefined && value === byDefault)
}

function mapObject(object: JsonObject, change: (value: Json) => Json): JsonObject {
  const changed: Record<string, unknown> = {}
  for (const key of Object.keys(object)) setOwn(changed, key, change(object[key] ?? null))
  return changed as JsonObject
}
