import { suggest } from '../suggest.ts'
import { expressionSites } from '../expression-sites.ts'
import type { SemanticScope } from './scope.ts'

const SECRET = /\$SECRETS?\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*["']([^"']+)["']\s*\])/g

/** Checks that expressions read declared secrets only (S180, A21); SonataFlow reads any setting as a secret. */
export function checkSecrets({ definition, report }: SemanticScope): void {
  if (definition.profile === 'sonataflow') return
  for (const { pointer, text } of expressionSites(definition)) {
    for (const match of text.matchAll(SECRET)) {
      const name = match[1] ?? match[2] ?? ''
      if (!definition.secrets.includes(name)) {
        report(
          pointer,
          `secret ${name} is not declared`,
          `add it to secrets; ${suggest(name, definition.secrets)}`,
        )
      }
    }
  }
}
