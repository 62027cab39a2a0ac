import type { MessageTypeDefinition, PackageDefinition } from '@grpc/proto-loader'
import { isJsonObject, setOwn, type Json, type JsonObject } from '../../common/index.ts'
import { isJsonArray } from '../json-array.ts'

/** What the loader tells of a field, as `google.protobuf.FieldDescriptorProto` names it. */
interface Field {
  readonly name: string
  readonly label: string
  readonly type: string
  readonly typeName: string
  readonly proto3Optional?: boolean
}

interface Message {
  readonly name: string
  readonly field: readonly Field[]
  readonly nestedType: readonly Message[]
  readonly enumType: readonly Enumeration[]
  readonly oneofDecl?: readonly unknown[]
  readonly options?: { readonly mapEntry?: boolean } | null
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

type LoadedType = MessageTypeDefinition<object, object>

/** The message types of a `.proto` file: what their fields are. */
export class TypeRegistry {
  readonly #messages = new Map<string, Message>()
  readonly #enumerations = new Map<string, Enumeration>()
  readonly #scoped = new Map<LoadedType, Scoped | undefined>()

  /** Collects the types of a loaded package, nested ones too. */
  constructor(definition: PackageDefinition) {
    for (const [fullName, entry] of Object.entries(definition)) {
      if (!('type' in entry)) continue
      const type = entry.type as unknown as Message | Enumeration
      if ('field' in type) this.#add(fullName, type)
      else this.#enumerations.set(fullName, type)
    }
  }

  /** Gives the members of a value that its type does not know, as JSON pointers; for messages to callers. */
  unknownMembers(type: LoadedType, value: Json): string[] {
    const scoped = this.#scopedOf(type)
    return scoped === undefined ? [] : this.#unknown(scoped, value, '')
  }

  /**
   * Gives a decoded message as the JSON mapping of protobuf has it: a field without presence that holds its default is left out. With
   * `enumDefaults` enums are always there (`sonatina.grpc.enum.include-default`).
   */
  toJson(type: LoadedType, message: object, enumDefaults: boolean): JsonObject {
    const plain = JSON.parse(JSON.stringify(message)) as JsonObject
    const scoped = this.#scopedOf(type)
    return scoped === undefined ? plain : this.#convert(scoped, plain, enumDefaults)
  }

  #add(fullName: string, message: Message): void {
    this.#messages.set(fullName, message)
    for (const nested of message.nestedType) this.#add(`${fullName}.${nested.name}`, nested)
    for (const nested of message.enumType) this.#enumerations.set(`${fullName}.${nested.name}`, nested)
  }

  /** The loader gives the types of a method without their package, as copies. */
  #scopedOf(type: LoadedType): Scoped | undefined {
    if (this.#scoped.has(type)) return this.#scoped.get(type)
    const wanted = type.type as unknown as Message
    const found = [...this.#messages].find(([, candidate]) => sameFields(candidate, wanted))
    const scoped = found === undefined ? undefined : { fullName: found[0], message: found[1] }
    this.#scoped.set(type, scoped)
    return scoped
  }

  #messageOf(field: Field, scope: string): Scoped | undefined {
    if (field.type !== 'TYPE_MESSAGE') return undefined
    const found = resolve(this.#messages, field.typeName, scope)
    return found === undefined ? undefined : { fullName: found[0], message: found[1] }
  }

  /** Name of the value that stands for 0, which proto3 takes as the default. */
  #enumDefault(field: Field, scope: string): string | undefined {
    if (field.type !== 'TYPE_ENUM') return undefined
    const [, enumeration] = resolve(this.#enumerations, field.typeName, scope) ?? []
    return enumeration?.value.find(({ number }) => number === 0)?.name ?? enumeration?.value[0]?.name
  }

  #convert({ fullName, message }: Scoped, value: JsonObject, enumDefaults: boolean): JsonObject {
    const json: Record<string, unknown> = {}
    for (const field of message.field) {
      const byDefault = hasPresence(message, field) ? undefined : this.#enumDefault(field, fullName)
      const kept = enumDefaults && byDefault !== undefined
      const member = Object.hasOwn(value, field.name) ? value[field.name] : kept ? byDefault : undefined
      if (member === undefined || (!kept && !hasPresence(message, field) && isDefault(member, byDefault))) continue
      const nested = this.#messageOf(field, fullName)
      setOwn(json, field.name, nested === undefined ? member : this.#convertMember(nested, member, enumDefaults))
    }
    return json as JsonObject
  }

  #convertMember(nested: Scoped, member: Json, enumDefaults: boolean): Json {
    if (isJsonArray(member)) return member.map((item) => this.#convertMember(nested, item, enumDefaults))
    if (!isJsonObject(member)) return member
    const entry = mapValue(nested.message)
    if (entry === undefined) return this.#convert(nested, member, enumDefaults)
    const valueType = this.#messageOf(entry, nested.fullName)
    return valueType === undefined ? member : mapObject(member, (item) => this.#convertMember(valueType, item, enumDefaults))
  }

  #unknown(scoped: Scoped, value: Json, path: string): string[] {
    if (isJsonArray(value)) return value.flatMap((item, index) => this.#unknown(scoped, item, `${path}/${String(index)}`))
    if (!isJsonObject(value) || mapValue(scoped.message) !== undefined) return []
    return Object.keys(value).flatMap((key) => {
      const field = scoped.message.field.find((candidate) => candidate.name === key)
      if (field === undefined) return [`${path}/${key}`]
      const nested = this.#messageOf(field, scoped.fullName)
      return nested === undefined ? [] : this.#unknown(nested, value[key] ?? null, `${path}/${key}`)
    })
  }
}

/** Finds a name from the innermost scope outwards, as protobuf does. */
function resolve<Type>(types: ReadonlyMap<string, Type>, name: string, scope: string): [fullName: string, type: Type] | undefined {
  const bare = name.replace(/^\./, '')
  const segments = name.startsWith('.') ? [] : scope.split('.')
  for (let length = segments.length; length >= 0; length--) {
    const fullName = [...segments.slice(0, length), bare].join('.')
    const type = types.get(fullName)
    if (type !== undefined) return [fullName, type]
  }
  return undefined
}

function sameFields(left: Message, right: Message): boolean {
  return left.name === right.name && left.field.length === right.field.length && left.field.every((field, index) => field.name === right.field[index]?.name)
}

/**
 * Tells whether a field that holds its default differs from one that is not set. The loader does not tell which fields belong to a
 * `oneof`, so all of a message that has one count as theirs.
 */
function hasPresence(message: Message, field: Field): boolean {
  return field.label === 'LABEL_REPEATED' || field.type === 'TYPE_MESSAGE' || field.proto3Optional === true || (message.oneofDecl?.length ?? 0) > 0
}

/** A map is decoded to an object of its values, not to a list of its entries. */
function mapValue(message: Message): Field | undefined {
  return message.options?.mapEntry === true ? message.field.find((field) => field.name === 'value') : undefined
}

function isDefault(value: Json, byDefault: string | undefined): boolean {
  return value === '' || value === 0 || value === '0' || value === false || (byDefault !== undefined && value === byDefault)
}

function mapObject(object: JsonObject, change: (value: Json) => Json): JsonObject {
  const changed: Record<string, unknown> = {}
  for (const key of Object.keys(object)) setOwn(changed, key, change(object[key] ?? null))
  return changed as JsonObject
}
