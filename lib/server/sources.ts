import { fileURLToPath } from 'node:url'
import { relative } from 'node:path'
import type { WorkflowRoute } from './workflow-routes.ts'

/** The text of a file that belongs to a definition. */
export interface SourceText {
  readonly text: string
  readonly format: 'json' | 'yaml' | 'text'
}

interface SourceScope {
  readonly sourceRoots: readonly string[]
}

/** Lists the files of a definition as callers may name them: relative to the directories that are served, never absolute. */
export function listSources(scope: SourceScope, route: WorkflowRoute): { readonly uri: string }[] {
  return sourcesOf(scope, route).map(([uri]) => ({ uri }))
}

/** Finds a listed file by its listed name; anything else is not there. */
export function findSource(scope: SourceScope, routes: readonly WorkflowRoute[], uri: string): SourceText | undefined {
  for (const route of routes) {
    for (const [listed, text] of sourcesOf(scope, route)) if (listed === uri) return { text, format: formatOf(uri) }
  }
  return undefined
}

function sourcesOf(scope: SourceScope, route: WorkflowRoute): [uri: string, text: string][] {
  const { source } = route.loaded
  return [[source.uri, source.text] as const, ...Object.entries(source.resources)].map(([uri, text]) => [outward(scope, uri), text])
}

function outward({ sourceRoots }: SourceScope, uri: string): string {
  const path = uri.startsWith('file:') ? fileURLToPath(uri) : uri
  if (/^[a-z][a-z0-9+.-]+:/i.test(path)) return path
  for (const root of sourceRoots) {
    const below = relative(root, path)
    if (below !== '' && !below.startsWith('..')) return below.replaceAll('\\', '/')
  }
  return path.slice(path.lastIndexOf('/') + 1)
}

function formatOf(uri: string): SourceText['format'] {
  if (/\.json$/i.test(uri)) return 'json'
  return /\.ya?ml$/i.test(uri) ? 'yaml' : 'text'
}
