import type { JsonObject } from '../common/index.ts'
import type { Definition, State, StateType } from '../definition/index.ts'
import { DefinitionError } from '../errors/index.ts'
import { timer } from './actions.ts'
import { MACHINE_EVENTS, type InvokeConfig, type MachineConfig, type Named, type NodeConfig, type TransitionConfig, type WorkflowMachines } from './machine-config.ts'
import { restInFailure, stateFailure } from './on-errors.ts'
import { addStep, metaOf, targetOf, type PathScope, type TranslationScope } from './scope.ts'
import { callbackAnswer, translateCallback } from './states/callback.ts'
import { translateEvent } from './states/event.ts'
import { translateForEach } from './states/foreach.ts'
import { translateInject } from './states/inject.ts'
import { translateOperation } from './states/operation.ts'
import { translateParallel } from './states/parallel.ts'
import { translateSleep } from './states/sleep.ts'
import { translateSwitch } from './states/switch.ts'

/** Adds the nodes of a state of one type and gives the first target. */
type StateTranslator<Type extends StateType> = (path: PathScope, state: Extract<State, { type: Type }>) => string

const TRANSLATORS: { readonly [Type in StateType]: StateTranslator<Type> } = {
  operation: translateOperation,
  switch: translateSwitch,
  inject: translateInject,
  parallel: translateParallel,
  event: translateEvent,
  sleep: translateSleep,
  foreach: translateForEach,
  callback: translateCallback,
}

/**
 * Translates a normalised definition into XState machine configs.
 *
 * Pure: reads no file, clock or environment; equal definitions give deeply equal configs.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` when the start state does not exist.
 */
export function translate(definition: Definition): WorkflowMachines {
  const scope: TranslationScope = {
    definition,
    stateIndex: new Map(definition.states.map(({ name }, index) => [name, index])),
    children: {},
    followUps: [],
  }
  const start = scope.stateIndex.get(definition.start.stateName)
  if (start === undefined) {
    throw new DefinitionError({
      code: 'DEFINITION_INVALID',
      message: `Workflow "${definition.id}" starts at "${definition.start.stateName}", which is none of its states`,
    })
  }
  const states = Object.fromEntries(definition.states.map((state, index) => [`s${String(index)}`, translateState(scope, state, index)]))
  const root: MachineConfig = {
    // Ids of nodes never hold an @, so no id of a definition can be mistaken for one.
    id: `${definition.id}@${definition.version}`,
    initial: `s${String(start)}`,
    invoke: workflowTimeout(definition, scope),
    on: operatorEvents(definition),
    states: { ...states, ...endNodes(scope) },
  }
  return { root, children: scope.children }
}

function translateState(scope: TranslationScope, state: State, index: number): NodeConfig {
  const nodes: Record<string, NodeConfig> = {}
  const path: PathScope = {
    ...scope,
    id: `s${String(index)}`,
    address: { state: index },
    state,
    nodes,
    takeResult: 'mergeResult',
    onFailure: stateFailure,
    onLeavingFailure: restInFailure,
  }
  const translator = TRANSLATORS[state.type] as StateTranslator<StateType>
  const body = translator(path, state)
  const first = state.stateDataFilter.input === undefined
    ? body
    : addStep(path, 'enter', [{ type: 'applyInput', params: { state: index } }], [{ target: body }], body)
  const invoke = [...(state.type === 'callback' ? [callbackAnswer(path, state)] : []), ...stateTimeout(path)]
  if (invoke.length > 0) nodes[AGAIN] = { always: [{ target: `#${path.id}` }], meta: metaOf(path, 'step') }
  return {
    id: path.id,
    initial: first.startsWith(`#${path.id}.`) ? first.slice(path.id.length + 2) : pass(path, first),
    entry: [{ type: 'enterState', params: { state: index } }],
    ...(invoke.length === 0 ? {} : { invoke: invoke.map((effect) => reentering(path, effect)) }),
    states: nodes,
    meta: metaOf(path, 'state'),
  }
}

// A state with nothing to do (no actions) still is a place of its own.
function pass(path: PathScope, target: string): string {
  path.nodes['pass'] = { always: [{ target }], meta: metaOf(path, 'step') }
  return 'pass'
}

// A state that goes to itself begins anew (S280). From what it invokes itself XState would only go back to its first node, so the way
// leads over a node below it.
const AGAIN = 'again'

function reentering(path: PathScope, invoke: InvokeConfig): InvokeConfig {
  const aimed = (transitions: readonly TransitionConfig[]): readonly TransitionConfig[] =>
    transitions.map((transition) => (transition.target === `#${path.id}` ? { ...transition, target: targetOf(path, AGAIN) } : transition))
  return { ...invoke, onDone: aimed(invoke.onDone), ...(invoke.onError === undefined ? {} : { onError: aimed(invoke.onError) }) }
}

function stateTimeout(path: PathScope): readonly InvokeConfig[] {
  const limit = path.state.timeouts.stateExecTimeout
  if (limit === undefined) return []
  // Operators retry the whole state, with its full time.
  return [timer(path, 'stateTimeout', { milliseconds: limit.total, timeout: 'state' }, path.onFailure(path, AGAIN, '#completed'))]
}

function workflowTimeout(definition: Definition, scope: TranslationScope): readonly InvokeConfig[] {
  const limit = definition.timeouts.workflowExecTimeout
  if (limit === undefined) return []
  const before = limit.runBefore === undefined ? undefined : scope.stateIndex.get(limit.runBefore)
  const target = before === undefined ? '#timedOut' : `#s${String(before)}`
  return [timer({ id: 'workflow', address: {} }, 'timeout', { milliseconds: limit.duration, timeout: 'workflow' }, [{ target, actions: [{ type: 'clearFailure' }], meta: { role: 'timeout' } }])]
}

function operatorEvents(definition: Definition): Readonly<Record<string, readonly TransitionConfig[]>> {
  return {
    [MACHINE_EVENTS.resultForwarded]: [{ actions: [{ type: 'mergeForwarded' }] }],
    [MACHINE_EVENTS.dataReplaced]: [{ actions: [{ type: 'replaceData' }] }],
    [MACHINE_EVENTS.stateTriggered]: definition.states.map((_, index) => ({
      target: `#s${String(index)}`,
      guard: { type: 'triggers', params: { state: index } },
      actions: [{ type: 'clearFailure' }],
    })),
    [MACHINE_EVENTS.aborted]: [{ target: '#compensation', actions: [{ type: 'clearFailure' }, { type: 'startCompensation', params: { returnTo: 'aborted' } }] }],
  }
}

function endNodes(scope: TranslationScope): Readonly<Record<string, NodeConfig>> {
  const end = (ending: string): NodeConfig => ({ id: ending, type: 'final', entry: [endAs(ending)], meta: { role: 'end' } })
  const { definition, stateIndex } = scope
  const compensating = new Set(definition.states.map(({ compensatedBy }) => compensatedBy).filter((name) => name !== undefined))
  return {
    idle: { id: 'idle', meta: { role: 'wait' } },
    compensation: {
      id: 'compensation',
      meta: { role: 'step' },
      always: [
        ...[...compensating].map((name): TransitionConfig => {
          const state = stateIndex.get(name) ?? -1
          return { target: `#s${String(state)}`, guard: { type: 'compensates', params: { state } }, actions: [{ type: 'takeCompensation' }] }
        }),
        ...scope.followUps.map(({ state, node: { id } }) => goBack(id, { state })),
        goBack('aborted', {}),
      ],
    },
    ...Object.fromEntries(scope.followUps.map(({ node }) => [node.id, node])),
    completed: end('completed'),
    aborted: end('aborted'),
    timedOut: end('timedOut'),
  }
}

function goBack(node: string, params: JsonObject): TransitionConfig {
  return { target: `#${node}`, guard: { type: 'returnsTo', params: { node } }, actions: [{ type: 'endCompensation', params }] }
}

function endAs(ending: string): Named {
  return { type: 'endAs', params: { ending } }
}
