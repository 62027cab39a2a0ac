import { stringify } from 'yaml'
import type { Manifest } from './create-manifest.ts'

/**
 * Writes documents as one stream of YAML with a head that says what else has to be there. Equal manifests give equal bytes.
 */
export function renderManifest({ documents, secret, warnings }: Manifest): string {
  const head = [
    'Made by sonatina manifest; change the project or the options, not this text.',
    ...(secret === undefined ? [] : [`The Secret ${secret.name} has to be there, with the keys ${secret.keys.join(', ')}.`]),
    ...warnings.map((warning) => `Note: ${warning}.`),
  ]
  // Parts that documents share are written out: a reader expects no anchors, and no folded lines. Readers of YAML 1.1 take `on` for true.
  const texts = documents.map((each) => `---\n${stringify(each, { aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' })}`)
  return `${head.map((line) => `# ${line.replace(/\s+/g, ' ')}\n`).join('')}${texts.join('')}`
}
