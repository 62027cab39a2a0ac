import { toPointer } from '../../common/index.ts'
import { isNumeric } from '../normalise/read.ts'
import { actionsOf, statePointer } from '../walk.ts'
import type { SemanticScope } from './scope.ts'

/** Checks error references and retry strategies (G19). */
export function checkErrors(scope: SemanticScope): void {
  const { definition, document, checkName, report } = scope
  const errors = definition.errors.map(({ name }) => name)
  const checkError = (pointer: string, name: string): void => {
    // `*` catches all, with or without a definition of that name (A10).
    if (name !== '*') checkName(pointer, { kind: 'error', name }, errors)
  }
  const retries = definition.retries.map(({ name }) => name)
  definition.states.forEach((state, index) => {
    const pointer = statePointer(index)
    state.onErrors.forEach(({ errorRefs }, position) => {
      const place = `${pointer}/onErrors/${String(position)}`
      if (errorRefs.length === 0) report(place, 'the error handler names no error', 'give it errorRef or errorRefs')
      for (const name of errorRefs) checkError(place, name)
    })
    for (const { action, pointer: place } of actionsOf(state, pointer)) {
      if (action.retryRef !== undefined) {
        checkName(
          `${place}/retryRef`,
          { kind: 'retry', name: action.retryRef },
          retries,
        )
      }
      for (const list of ['retryableErrors', 'nonRetryableErrors'] as const) {
        action[list].forEach((name, at) => {
          checkError(`${place}/${list}/${String(at)}`, name)
        })
      }
    }
  })
  checkBothErrorReferences(document, report)
  checkRetries(scope)
}

function checkBothErrorReferences(document: SemanticScope['document'], report: SemanticScope['report']): void {
  const states = document['states'] as readonly { readonly onErrors?: readonly object[] }[]
  states.forEach(({ onErrors }, index) => {
    onErrors?.forEach((handler, position) => {
      if ('errorRef' in handler && 'errorRefs' in handler) {
        report(
          `${statePointer(index)}/onErrors/${String(position)}`,
          'errorRef and errorRefs exclude each other',
          'keep one of them (S198)',
        )
      }
    })
  })
}

function checkRetries({ document, report }: SemanticScope): void {
  const { retries } = document
  if (!Array.isArray(retries)) return
  retries.forEach((retry: Readonly<Record<string, unknown>>, index) => {
    const pointer = (name: string): string => toPointer(['retries', index, name])
    const check = (name: string, holds: (value: number) => boolean, hint: string): void => {
      const value = retry[name]
      const number = typeof value === 'number' ? value : typeof value === 'string' && isNumeric(value) ? Number(value) : undefined
      if (value !== undefined && (number === undefined || !holds(number))) {
        report(
          pointer(name),
          `${name} is ${JSON.stringify(value)}`,
          hint,
        )
      }
    }
    check('multiplier', (value) => value >= 0, 'write a number from 0')
    check('maxAttempts', (value) => value >= 0 && Number.isInteger(value), 'write the number of retries: a whole number from 0')
    const { jitter } = retry
    if (typeof jitter === 'string' && !isNumeric(jitter)) {
      if (!/^-?PT?\d|^\d+(\.\d+)?(ms|s|m|h|d)$|\$CONST/i.test(jitter.trim())) {
        report(
          pointer('jitter'),
          `jitter is ${JSON.stringify(jitter)}`,
          'write a share from 0 to 1, or a duration such as "PT1S"',
        )
      }
    } else {
      check('jitter', (value) => value >= 0 && value <= 1, 'write a share from 0 to 1, or a duration such as "PT1S"')
    }
  })
}
