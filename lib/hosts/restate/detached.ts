import { Instance } from '../../instance/index.ts'
import { linkTo } from '../subflows.ts'
import { sendTo } from './carry-out.ts'
import type { DetachedMessage } from './messages.ts'
import { idFrom } from './names.ts'
import { perform } from './outcome.ts'
import type { Bound, Context } from './sdk.ts'
import type { WorkerParts } from './worker-parts.ts'

/** Carries asynchronous calls out that nobody waits for (S102): their instance may have ended. */
export function createDetachedService(parts: WorkerParts): Bound {
  const { sdk, names } = parts
  return sdk.service({ name: names.detached, handlers: { run: (ctx: Context, message: DetachedMessage) => run(ctx, parts, message) } })
}

async function run(ctx: Context, parts: WorkerParts, { facts, definition, origin }: DetachedMessage): Promise<null> {
  const { workflows, headers, options, calls, names } = parts
  const workflow = await workflows.ofHash(definition)
  const whole = { ...facts, headers: headers.get(facts) }
  const instance = new Instance(whole, workflow, {
    clock: options.clock,
    ids: options.ids,
    log: options.log,
    secrets: options.secrets,
    maxSteps: options.maxSteps ?? 100_000,
    kogitoAttributes: options.kogitoAttributes ?? false,
    withdraw: () => undefined,
  })
  const prepared = await instance.revive(origin)
  if (prepared.kind !== 'command') return null
  const { command } = prepared
  const replacement = command.kind === 'subflow' ? options.subflows?.get(command.workflowId) : undefined
  if (command.kind === 'subflow' && replacement === undefined) {
    const { token, workflowId, version, input, variables } = command
    const id = idFrom('detached', facts.id, token)
    const wanted = { id, workflowId, input, headers: whole.headers, parent: linkTo({ facts: whole }, command), ...(version === undefined ? {} : { version }), ...(variables === undefined ? {} : { variables }) }
    sendTo(ctx, parts, { service: names.instance, key: id, handler: 'start' }, { kind: 'start', at: facts.startedAt, wanted, atOnce: true })
    return null
  }
  const outcome = await ctx.run('call', () => calls.run(facts.id, `detached ${command.token}`, async (signal) => {
    if (command.kind === 'call') return perform(command, signal)
    await replacement?.(command.input, signal, command.version)
    return { output: {} }
  }))
  if ('error' in outcome) options.log.warn({ instance: facts.id, error: outcome.error }, 'asynchronous function failed')
  return null
}
