import type { Json } from '../common/index.ts'

/** Tells whether a value is a JSON array; `Array.isArray` alone would narrow it to `any[]`. */
export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
