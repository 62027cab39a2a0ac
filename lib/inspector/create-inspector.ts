import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type Koa from 'koa'
import type { Clock, Logger } from '../common/index.ts'
import type { Catalogue } from '../definition/index.ts'
import type { Host } from '../hosts/index.ts'
import { createDrawer } from './diagram/drawer.ts'
import { createLayouter } from './diagram/layout.ts'
import { createGuard } from './guard.ts'
import { createInstanceReader } from './instances.ts'
import { readPageFiles } from './page-files.ts'
import type { XStateInspection } from './protocol.ts'
import type { InstanceIdentity, Recorder } from './recorder.ts'
import { createRedact } from './redact.ts'
import { createRelay } from './relay.ts'
import { createRoutes } from './routes.ts'
import type { InspectorSettings } from './settings.ts'
import { createInspectionSocket, startPush } from './socket.ts'
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
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** The observer that a new instance gets, if anybody reads the protocol of XState's inspectors. */
  observe(facts: InstanceIdentity): ((event: XStateInspection) => void) | undefined
  close(): Promise<void>
}

/** Creates the inspector: page, data, events and diagrams under `/inspect` (inspector.md). */
export function createInspector({ host, catalogue, recorder, settings, clock, log, rootPath = '' }: InspectorOptions): Inspector {
  const redact = createRedact({ patterns: settings.redact, secrets: recorder.secrets, capture: settings.capture })
  const layouter = createLayouter({ clock })
  const stream = createEventStream(recorder, clock)
  const guard = createGuard(settings)
  const relay = createRelay({ recorder, catalogue, redact, clock })
  const socket = createInspectionSocket(relay, guard, { path: `${rootPath}/inspect/ws` })
  const stopPush = settings.pushUrl === undefined ? undefined : startPush({ url: settings.pushUrl, relay, clock, log })
  const middleware = createRoutes({
    host,
    catalogue,
    recorder,
    settings,
    rootPath,
    stream,
    drawer: createDrawer(layouter),
    instances: createInstanceReader({ host, catalogue, recorder, redact }),
    guard,
    files: readPageFiles(),
  })
  return {
    path: '/inspect',
    middleware,
    upgrade: (request, incoming, head) => { socket.upgrade(request, incoming, head) },
    observe: (facts) => relay.observe(facts),
    async close() {
      stopPush?.()
      socket.close()
      stream.close()
      await layouter.close()
    },
  }
}
