import type { FunctionCall, FunctionResult } from '../../../lib/functions/index.ts'
import type { CrashPoint } from '../../../lib/hosts/index.ts'
import type { Runtime } from '../../../lib/runtime-options.ts'
import { createDurableProject, type DurableProject } from '../../support/durable-runtime.ts'
import { rowsLeft } from '../ledger.ts'
import { drive, faultsOf, produced, type Entry } from './drive.ts'
import { definitionsOf, type CrashWorkflow } from './workflows.ts'

// A kill leaves the files of the store as they are at that instant. So one run gives an image of them each time it passes a point,
// and every image is continued by a runtime that knows nothing else.

interface Image {
  readonly point: string
  readonly number: number
  readonly project: DurableProject
  /** What had happened until then. */
  readonly entries: readonly Entry[]
}

/** What came of the images of one workflow. */
export interface ImagesResult {
  readonly points: ReadonlySet<string>
  readonly images: number
  readonly faults: readonly string[]
}

const SETTINGS = { 'sonatina.store': 'sqlite', 'sonatina.store.sqlite.synchronous': 'NORMAL' }

/**
 * Runs a workflow once, and continues it from an image of its store at each point that it passes.
 *
 * `wanted` says which passings of a point are continued, the first being 1.
 */
export async function runImages(workflow: CrashWorkflow, wanted: (point: string, number: number) => boolean): Promise<ImagesResult> {
  const project = await createDurableProject({ definitions: definitionsOf(workflow), settings: SETTINGS })
  const images: Image[] = []
  const passed = new Map<string, number>()
  const entries: Entry[] = []
  const look = (point: CrashPoint): void => {
    const number = (passed.get(point) ?? 0) + 1
    passed.set(point, number)
    if (wanted(point, number)) images.push({ point, number, project: project.killed(), entries: [...entries] })
  }
  const faults: string[] = []
  try {
    faults.push(...await finish(workflow, project, entries, look))
    for (const image of images) {
      const found = await finish(workflow, image.project, [...image.entries])
      faults.push(...found.map((fault) => `${workflow.id}, ${image.point}@${String(image.number)}: ${fault}`))
    }
  } finally {
    await Promise.all([project, ...images.map((image) => image.project)].map((each) => each.remove()))
  }
  return { points: new Set(passed.keys()), images: images.length, faults }
}

/** Continues a workflow to its end in a fresh runtime, and says what is wrong then. */
async function finish(workflow: CrashWorkflow, project: DurableProject, entries: Entry[], crashPoint?: (point: CrashPoint) => void): Promise<readonly string[]> {
  const runtime = await open(project, entries, crashPoint)
  const finished = await drive({ runtime, workflow, entries: () => entries, tick: () => tick(runtime, project) })
  await runtime.close(0)
  return [...(finished ? [] : ['it has not finished']), ...faultsOf(workflow, entries), ...rowsLeft(project.file)]
}

function open(project: DurableProject, entries: Entry[], crashPoint?: (point: CrashPoint) => void): Promise<Runtime> {
  return project.open({
    call: ({ arguments: given, context }: FunctionCall): Promise<FunctionResult> => {
      entries.push({ kind: 'effect', name: (given as { name: string }).name, key: context.idempotencyKey, at: project.clock.now() })
      return new Promise((resolve) => { setImmediate(() => { resolve({ output: {} }) }) })
    },
    event: (given) => { entries.push(produced(given)) },
    functionType: 'crash',
    ...(crashPoint === undefined ? {} : { crashPoint }),
  })
}

async function tick(runtime: Runtime, { clock }: DurableProject): Promise<void> {
  await runtime.quiet()
  clock.advance(20)
  await runtime.quiet()
}
