import { silentLogger } from '../../../lib/common/index.ts'
import { bytes, cloudEvent, defineFunction, event, listenFunctions, nothing, serve, type ReceivedEvent } from '../../../lib/function-runtime/index.ts'

function attributesOf(received: ReceivedEvent<unknown>): Record<string, unknown> {
  const { specversion: _version, data: _data, ...attributes } = { ...received } as Record<string, unknown>
  return attributes
}

const withData = defineFunction(
  { name: 'echo', input: cloudEvent(bytes), output: cloudEvent(bytes) },
  (received) => event({ ...attributesOf(received), data: received.data }),
)
const withoutData = defineFunction(
  { name: 'echo', input: cloudEvent(nothing), output: cloudEvent(nothing) },
  (received) => event(attributesOf(received)),
)

/** An answer of the echo, as the codec takes it. */
export interface EchoAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Uint8Array
}

/** Sends an event to a function that answers with the same event, over HTTP. */
export async function echo(
  headers: Readonly<Record<string, string>>,
  body: Uint8Array | undefined,
  hasData: boolean,
): Promise<EchoAnswer> {
  const service = serve([hasData ? withData : withoutData], { log: silentLogger })
  await using server = await listenFunctions(service, { port: 0 })
  const answer = await fetch(server.url, { method: 'POST', headers: { ...headers, connection: 'close' }, body: body ?? null })
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: new Uint8Array(await answer.arrayBuffer()) }
}
