import type { Clock, Logger } from '../../../lib/common/index.ts'
import { withEngine } from './engine.ts'
import type { DefinitionInput, Runtime, RuntimeOptions } from '../../../lib/runtime-options.ts'

/** What the kinds of cases vary when they start the product. */
export interface ProductOptions extends Omit<RuntimeOptions, 'clock' | 'log' | 'settings'> {
  readonly definitions: readonly DefinitionInput[]
  readonly settings: Readonly<Record<string, unknown>>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Starts the product through its public API.
 *
 * Loaded when the first case asks for it, so that the tests of the runner itself need no product.
 */
export async function startProduct(options: ProductOptions): Promise<Runtime> {
  const { createRuntime } = await import('../../../lib/runtime.ts')
  return createRuntime({ environment: {}, profile: 'test', ...options, settings: await withEngine(options.settings, options.clock) })
}
