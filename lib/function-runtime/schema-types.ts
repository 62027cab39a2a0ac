/** A JSON Schema (2020-12) as an object; booleans are no function type. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/**
 * The type of the values that a JSON Schema describes.
 *
 * Read from a literal schema (`type`, `properties`, `required`, `items`, `enum`, `const`, local `$ref`) or, for schemas made with
 * TypeBox, from their `static` type. What cannot be read is `unknown`.
 */
export type Infer<Schema, Root = Schema> =
  Schema extends { readonly static: infer Static } ? Static
  : Schema extends { readonly const: infer Constant } ? Constant
  : Schema extends { readonly enum: readonly (infer Member)[] } ? Member
  : Schema extends { readonly $ref: infer Reference } ? InferReference<Reference, Root>
  : Schema extends { readonly type: readonly (infer Type)[] } ? InferType<Type, Schema, Root>
  : Schema extends { readonly type: infer Type } ? InferType<Type, Schema, Root>
  : unknown

type InferReference<Reference, Root> =
  Reference extends '#' ? Infer<Root, Root>
  : Reference extends `#/$defs/${infer Name}` ? InferDefinition<Root, '$defs', Name>
  : Reference extends `#/definitions/${infer Name}` ? InferDefinition<Root, 'definitions', Name>
  : unknown

type InferDefinition<Root, Place extends string, Name extends string> =
  Root extends { readonly [P in Place]: { readonly [N in Name]: infer Schema } } ? Infer<Schema, Root> : unknown

type InferType<Type, Schema, Root> =
  string extends Type ? unknown
  : Type extends 'string' ? Schema extends { readonly contentEncoding: 'base64' } ? Uint8Array : string
  : Type extends 'integer' | 'number' ? number
  : Type extends 'boolean' ? boolean
  : Type extends 'null' ? null
  : Type extends 'array' ? Schema extends { readonly items: infer Items } ? Infer<Items, Root>[] : unknown[]
  : Type extends 'object' ? InferObject<Schema, Root>
  : unknown

type InferObject<Schema, Root> =
  Schema extends { readonly properties: infer Properties }
    ? Flat<
      { -readonly [Key in keyof Properties as Key extends RequiredOf<Schema> ? Key : never]: Infer<Properties[Key], Root> }
      & { -readonly [Key in keyof Properties as Key extends RequiredOf<Schema> ? never : Key]?: Infer<Properties[Key], Root> }
    >
    : Schema extends { readonly additionalProperties: infer Values }
      ? Record<string, Values extends boolean ? unknown : Infer<Values, Root>>
      : Record<string, unknown>

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never

type Flat<T> = { [Key in keyof T]: T[Key] }
