import { expectTypeOf } from 'expect-type'
import {
  Funq,
  bytes,
  cloudEvent,
  defineFunction,
  event,
  json,
  nothing,
  text,
  type Infer,
  type ReceivedEvent,
} from '../../lib/function-runtime/index.ts'

// Compile-time only: handlers have the types of their descriptors, and any other handler does not compile.

const Person = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    tags: { type: 'array', items: { type: 'string' } },
    kind: { enum: ['a', 'b'] },
    photo: { type: 'string', contentEncoding: 'base64' },
    address: { $ref: '#/$defs/Address' },
    extra: { type: 'object', additionalProperties: { type: 'number' } },
  },
  required: ['name', 'kind'],
  $defs: { Address: { type: 'object', properties: { street: { type: ['string', 'null'] } }, required: ['street'] } },
} as const

interface PersonType {
  name: string
  kind: 'a' | 'b'
  age?: number
  tags?: string[]
  photo?: Uint8Array
  address?: { street: string | null }
  extra?: Record<string, number>
}

expectTypeOf<Infer<typeof Person>>().toEqualTypeOf<PersonType>()
expectTypeOf<Infer<{ readonly type: 'boolean' }>>().toEqualTypeOf<boolean>()
expectTypeOf<Infer<{ readonly const: 5 }>>().toEqualTypeOf<5>()
expectTypeOf<Infer<{ readonly type: 'object' }>>().toEqualTypeOf<Record<string, unknown>>()
expectTypeOf<Infer<Record<string, unknown>>>().toBeUnknown()
// What TypeBox gives carries its type along.
expectTypeOf<Infer<{ readonly type: 'object'; readonly static: { id: bigint } }>>().toEqualTypeOf<{ id: bigint }>()

defineFunction({ input: json(Person), output: text }, (person, context) => {
  expectTypeOf(person).toEqualTypeOf<PersonType>()
  expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>()
  expectTypeOf(context.event).toEqualTypeOf<ReceivedEvent<unknown> | undefined>()
  return person.name
})
defineFunction({ input: bytes, output: bytes }, async (payload) => {
  expectTypeOf(payload).toEqualTypeOf<Uint8Array>()
  return Promise.resolve(payload)
})
defineFunction({ input: nothing, output: nothing }, (input) => { expectTypeOf(input).toBeUndefined() })
defineFunction({ input: cloudEvent(json(Person)), output: cloudEvent(nothing) }, (received) => {
  expectTypeOf(received.data).toEqualTypeOf<PersonType>()
  return event({ type: received.data.kind })
})
defineFunction({ input: nothing, output: cloudEvent(text) }, () => event({ data: 'x' }))
defineFunction({ input: nothing, output: cloudEvent(text) }, () => null)
defineFunction({ input: json({ type: 'integer' }), output: json({ type: 'array', items: { type: 'integer' } }) }, (n) => [n])

// @ts-expect-error the output is text
defineFunction({ input: json(Person), output: text }, (person) => person.age)
expectTypeOf<PersonType>().not.toHaveProperty('surname')
// @ts-expect-error the input is an integer
defineFunction({ input: json({ type: 'integer' }), output: text }, (name: string) => name)
// @ts-expect-error a promise of the wrong output
defineFunction({ input: nothing, output: text }, () => Promise.resolve(5))
// @ts-expect-error the data of the event is text
defineFunction({ input: nothing, output: cloudEvent(text) }, () => event({ data: 5 }))
// @ts-expect-error a value where an event is promised
defineFunction({ input: nothing, output: cloudEvent(text) }, () => 'x')
// @ts-expect-error the output is missing
defineFunction({ input: nothing }, () => undefined)
// @ts-expect-error three parameters
defineFunction({ input: nothing, output: nothing }, (_input: undefined, _context: unknown, _more: unknown) => undefined)
// @ts-expect-error a wrapper in a wrapper
cloudEvent(cloudEvent(text))

class Calculator {
  @Funq({ input: json({ type: 'integer' }), output: json({ type: 'integer' }) })
  double(n: number): number { return n * 2 }

  // @ts-expect-error the method takes text and the descriptor is an integer
  @Funq({ input: json({ type: 'integer' }), output: text })
  wrong(name: string): string { return name }

  // @ts-expect-error the method gives a number and the descriptor is text
  @Funq({ input: nothing, output: text })
  wrongOutput(): number { return 5 }
}
expectTypeOf<Calculator['double']>().returns.toBeNumber()
