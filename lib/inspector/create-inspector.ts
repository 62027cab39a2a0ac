import type Koa from 'koa'
import type { Clock, Logger } from '../common/index.ts'
import type { Catalogue } from '../definition/index.ts'
import type { Host } from '../hosts/index.ts'
import { createDrawer } from './diagram/drawer.ts'
import { createLayouter } from './diagram/layout.ts'
import { createGuard } from './guard.ts'
import { createInstanceReader } from './instances.ts'
import { readPageFiles } from './page-files.ts'
import type { Recorder } from './recorder.ts'
import { createRedact } from './redact.ts'
import { createRoutes } from './routes.ts'
import type { InspectorSettings } from './settings.ts'
import { createEventStream } from './stream.ts'

/** Parts of an {@link Inspector}. */
export interface InspectorOptions {
  readonly host: Host
  readonly catalogue: Catalogue
  readonly recorder: Recorder
  readonly settings: InspectorSettings
  readonly clock: Clock
  readonly log: Logger
  /** Prefix of all addresses of the service. @default none */
  readonly rootPath?: string
}

/** The inspector of a runtime, as a mount of its server. */
export interface Inspector {
  readonly path: string
  readonly middleware: Koa.Middleware
  close(): Promise<void>
}

/** Creates the inspector: page, data, events and diagrams under `/inspect` (inspector.md). */
export function createInspector({ host, catalogue, recorder, settings, clock, rootPath = '' }: InspectorOptions): Inspector {
  const redact = createRedact({ patterns: settings.redact, secrets: recorder.secrets, capture: settings.capture })
  const layouter = createLayouter({ clock })
  const stream = createEventStream(recorder, clock)
  const middleware = createRoutes({
    host,
    catalogue,
    recorder,
    settings,
    rootPath,
    stream,
    drawer: createDrawer(layouter),
    instances: createInstanceReader({ host, catalogue, recorder, redact }),
    guard: createGuard(settings),
    files: readPageFiles(),
  })
  return {
    path: '/inspect',
    middleware,
    async close() {
      stream.close()
      await layouter.close()
    },
  }
}
