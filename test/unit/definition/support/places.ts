import type { Json } from '../../../../lib/common/index.ts'

/** Every place of a document, as the object or list that holds it with its key. */
export function placesOf(value: Json): { holder: Record<string, Json>; key: string }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap((key) => [{ holder: value as Record<string, Json>, key }, ...placesOf((value as Record<string, Json>)[key] ?? null)])
}
