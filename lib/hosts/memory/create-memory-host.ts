import { Kernel } from '../kernel.ts'
import type { KernelOptions } from '../parts.ts'

/**
 * Creates the host that keeps instances in the process: nothing is written, and a restart forgets them.
 *
 * The right one where no instance waits, or where a lost wait does not matter.
 */
export function createMemoryHost(options: KernelOptions): Kernel {
  return new Kernel(options)
}
