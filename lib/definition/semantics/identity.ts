import { toPointer } from '../../common/index.ts'
import type { SemanticScope } from './scope.ts'

/** First path segments that the HTTP surface keeps for itself. */
const RESERVED_IDS = new Set(['.', '..', 'q', 'management', 'messaging', 'inspect', 'functions'])
const LANGUAGES = ['jq', 'jsonata', 'jsonpath']

/** Checks id, versions, language, and that names are given once (S001, S006, S008, S010, S115, S130, S211). */
export function checkIdentity(scope: SemanticScope): void {
  const { document, definition, report } = scope
  const { id, key } = document
  if (id !== undefined && key !== undefined) report('/key', 'id and key exclude each other', 'keep the id')
  if (id === undefined && key === undefined) {
    report(
      '/id',
      'id is missing',
      'give the workflow an id; it becomes the address /<id>',
    )
  }
  if (id !== undefined || key !== undefined) checkId(scope, id === undefined ? '/key' : '/id')
  checkVersions(scope)
  for (const list of ['functions', 'events', 'errors', 'retries', 'auth', 'states'] as const) {
    checkUnique(scope, list, definition[list].map(({ name }) => name))
  }
}

function checkId({ definition, report }: SemanticScope, pointer: string): void {
  const { id } = definition
  if (id === '') report(pointer, 'the id is empty', 'give the workflow an id; it becomes the address /<id>')
  if (RESERVED_IDS.has(id)) report(pointer, `the id "${id}" would hide an address of the server`, 'choose another id')
  if (/\p{Cc}/u.test(id)) report(pointer, 'the id holds a control character', 'use printable characters')
  if (id.includes('${')) report(pointer, 'the id is an expression', 'an id is a constant text')
}

function checkVersions({ definition, document, reportUnsupported }: SemanticScope): void {
  const specVersion = definition.specVersion.replace(/^v/, '')
  if (!/^0\.8(\.|$)/.test(specVersion)) {
    reportUnsupported('/specVersion', `specVersion ${definition.specVersion} is not supported`, 'this runtime runs 0.8')
  }
  const language = document['expressionLang']
  if (typeof language === 'string' && !LANGUAGES.includes(language)) {
    reportUnsupported(
      '/expressionLang',
      `expressionLang ${language} is not supported`,
      `it is one of ${LANGUAGES.join(', ')}`,
    )
  }
}

function checkUnique({ report }: SemanticScope, list: string, names: readonly string[]): void {
  names.forEach((name, index) => {
    const first = names.indexOf(name)
    if (first < index && name !== '') {
      report(
        toPointer([list, index, 'name']),
        `the name ${name} is duplicated: ${toPointer([list, first])} has it too`,
        'names are unique in their list',
      )
    }
  })
}
