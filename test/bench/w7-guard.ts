import { Run } from '../../lib/expressions/jq/run.ts'
import { measurePrograms } from './w7.ts'

// A process of its own for each side: what the engine has learned of a run with limits must not help the one without.

if (process.argv[2] === 'unguarded') {
  const none = (): void => undefined
  Object.assign(Run.prototype, { tick: none, spend: none, charge: none, lookAtClock: none })
}
console.log(JSON.stringify(await measurePrograms(400)))
