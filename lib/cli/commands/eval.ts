import { isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import { ExpressionError, SonatinaError } from '../../errors/index.ts'
import { compile, createBindings, formatExpressionError, type ExpressionLanguageName } from '../../expressions/index.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, parsePairs, readText, usageError } from '../usage.ts'

const HELP = `sonatina eval EXPRESSION [options]

Evaluates an expression and prints each output as JSON on a line of its own.

  --lang LANGUAGE    jq, jsonata or jsonpath               (jq)
  --input FILE       JSON input; - reads standard input    (no input: null)
  --var NAME=JSON    a variable $NAME; repeatable. A value that is no JSON is a text
  --const FILE       JSON object of $CONST
  --secret KEY=TEXT  a secret that $SECRET.KEY reads; repeatable
  --raw              prints texts without quotes
  --help             this text

Exit code 0: done; 1: the expression does not compile or failed; 2: called wrongly.`

const LANGUAGES: readonly string[] = ['jq', 'jsonata', 'jsonpath'] satisfies readonly ExpressionLanguageName[]

/**
 * Runs `sonatina eval`: prints the outputs of an expression, or its error with a caret under the fault.
 *
 * @throws {@link UsageError} for wrong arguments
 */
export async function evalCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    lang: { type: 'string' },
    input: { type: 'string' },
    var: { type: 'string', multiple: true },
    const: { type: 'string' },
    secret: { type: 'string', multiple: true },
    raw: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  const [text, more] = positionals
  if (text === undefined || more !== undefined) throw usageError('sonatina eval takes one expression. Put it in quotes; see sonatina eval --help.')
  const language = String(values['lang'] ?? 'jq')
  if (!LANGUAGES.includes(language)) throw usageError(`"${language}" is no expression language. Write jq, jsonata or jsonpath.`)
  const variables = parseVariables((values['var'] ?? []) as readonly string[])
  const bindings = createBindings({
    variables,
    constants: typeof values['const'] === 'string' ? await readObject(values['const'], io) : {},
    secrets: secretsOf((values['secret'] ?? []) as readonly string[]),
  })
  const input = typeof values['input'] === 'string' ? await readJson(values['input'], io) : null
  return report(io, async () => {
    const compiled = compile(language as ExpressionLanguageName, text, {
      wrapped: true, variables: [...Object.keys(variables), 'CONST', 'SECRET', 'SECRETS'],
    })
    await compiled.each(input, bindings, (output) => {
      io.out(values['raw'] === true && typeof output === 'string' ? output : JSON.stringify(output))
    })
  })
}

async function report(io: CommandIo, run: () => Promise<void>): Promise<number> {
  try {
    await run()
    return 0
  } catch (error) {
    if (!SonatinaError.is(error)) throw error
    io.err(error instanceof ExpressionError ? formatExpressionError(error) : error.message)
    return 1
  }
}

function parseVariables(texts: readonly string[]): Record<string, Json> {
  return Object.fromEntries(Object.entries(parsePairs(texts, 'is no variable. Write --var NAME=JSON.')).map(([name, value]) => [name.replace(/^\$/, ''), parseValue(value)]))
}

function parseValue(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

function secretsOf(texts: readonly string[]): { read(key: string): string | undefined } {
  const secrets = new Map(Object.entries(parsePairs(texts, 'is no secret. Write --secret KEY=TEXT.')))
  return { read: (key) => secrets.get(key) }
}

async function readJson(path: string, io: CommandIo): Promise<Json> {
  const text = await readText(path, io)
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw usageError(`${path === '-' ? 'standard input' : path} is no JSON: ${(error as Error).message}`)
  }
}

async function readObject(path: string, io: CommandIo): Promise<JsonObject> {
  const value = await readJson(path, io)
  if (!isJsonObject(value)) throw usageError(`${path} must hold a JSON object.`)
  return value
}
