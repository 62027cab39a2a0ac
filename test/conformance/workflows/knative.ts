import type { CaseFile } from './case-file.ts'

/** Settings that give each Knative service which the definitions name an address: what discovery answers in a cluster. */
export function knativeSettings(file: CaseFile, texts: readonly string[], address: string | undefined): Record<string, string> {
  if (address === undefined) return {}
  const fromConfig = Object.keys(file.config ?? {}).flatMap((key) => /^knative service (\S+)$/.exec(key)?.[1] ?? [])
  const fromTexts = texts.flatMap((text) => [...text.matchAll(/knative:([\w.-]+(?:\/[\w.-]+)*)/g)].flatMap(([, service]) => service ?? []))
  return Object.fromEntries([...new Set([...fromConfig, ...fromTexts])].map((service) => [knativeKey(service), address]))
}

function knativeKey(service: string): string {
  return `sonatina.knative.services."${service}".url`
}
