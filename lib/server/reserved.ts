/** First segments that belong to the service; no workflow has such an id (http-contract.md §1). */
export const RESERVED: ReadonlySet<string> = new Set(['q', 'management', 'messaging', 'inspect', 'functions'])

/** Gives the first segment of a path below the root path, as sent. */
export function firstSegment(path: string, rootPath: string): string {
  return path.slice(rootPath.length + 1).split('/', 1)[0] ?? ''
}
