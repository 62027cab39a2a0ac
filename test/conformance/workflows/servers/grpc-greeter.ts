import {
  status,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedHandleCall,
} from '@grpc/grpc-js'

interface HelloRequest {
  readonly name?: string
  readonly language?: string
  readonly innerHello?: { readonly unknown?: boolean }
}

interface HelloReply {
  readonly message: string
  readonly state?: string
  readonly innerMessage?: { readonly number: number; readonly state: string }
}

const GREETINGS: Readonly<Record<string, (name: string) => string>> = {
  spanish: (name) => `Saludos desde gRPC service ${name}`,
  italian: (name) => `Boungiorno ${name}`,
  catalan: (name) => `Bon dia${name}`,
}

function textFor({ name = '', language = '' }: HelloRequest): string {
  return GREETINGS[language.toLowerCase()]?.(name) ?? `Hello from gRPC service ${name}`
}

// Fields that the reply of a proto file does not declare are dropped when it is encoded.
function replyTo(request: HelloRequest): HelloReply {
  const state = request.innerHello?.unknown === true ? 'UNKNOWN' : 'SUCCESS'
  return { message: textFor(request), state, innerMessage: { number: 23, state } }
}

function sayHello(call: ServerUnaryCall<HelloRequest, HelloReply>, callback: sendUnaryData<HelloReply>): void {
  callback(null, replyTo(call.request))
}

function sayHelloArray(
  call: ServerUnaryCall<{ readonly requests?: readonly HelloRequest[] }, { readonly replies: readonly HelloReply[] }>,
  callback: sendUnaryData<{ readonly replies: readonly HelloReply[] }>,
): void {
  callback(null, { replies: (call.request.requests ?? []).map(replyTo) })
}

function doNothing(_call: ServerUnaryCall<object, object>, callback: sendUnaryData<object>): void {
  callback(null, {})
}

function sayHelloAllLanguages(call: ServerWritableStream<HelloRequest, HelloReply>): void {
  const { name = '' } = call.request
  for (const language of ['English', 'Spanish']) call.write({ message: textFor({ name, language }) })
  call.end()
}

function sayHelloMultipleLanguagesAtOnce(call: ServerReadableStream<HelloRequest, HelloReply>, callback: sendUnaryData<HelloReply>): void {
  const texts: string[] = []
  call.on('data', (request: HelloRequest) => { texts.push(textFor(request)) })
  call.on('end', () => { callback(null, { message: texts.join('\n') }) })
}

function sayHelloMultipleLanguages(call: ServerDuplexStream<HelloRequest, HelloReply>): void {
  call.on('data', (request: HelloRequest) => { call.write({ message: textFor(request) }) })
  call.on('end', () => { call.end() })
}

function sayHelloMultipleLanguagesError(call: ServerDuplexStream<HelloRequest, HelloReply>): void {
  let received = 0
  call.on('data', (request: HelloRequest) => {
    received++
    call.write({ message: textFor(request) })
    if (received === 2) call.emit('error', { code: status.OUT_OF_RANGE, details: 'the second item is one too many' })
  })
  call.on('end', () => { call.end() })
}

/** The greeting service of the corpus, all call kinds. */
export const GREETER: Readonly<Record<string, UntypedHandleCall>> = {
  SayHello: sayHello,
  SayHelloArray: sayHelloArray,
  DoNothing: doNothing,
  SayHelloAllLanguages: sayHelloAllLanguages,
  SayHelloMultipleLanguagesAtOnce: sayHelloMultipleLanguagesAtOnce,
  SayHelloMultipleLanguages: sayHelloMultipleLanguages,
  SayHelloMultipleLanguagesError: sayHelloMultipleLanguagesError,
}
