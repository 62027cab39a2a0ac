import type { Clock, IdSource, Json, Logger } from '../common/index.ts'
import { compileDataSchema, type DataSchema, type DataValidator, type FunctionDefinition, type LoadedDefinition } from '../definition/index.ts'
import { DefinitionError, ExpressionError, type Violation } from '../errors/index.ts'
import { createBindings, createExpressions, type Expressions, type ExpressionsOptions, type MaybePromise } from '../expressions/index.ts'
import type { CallContext, FunctionCall, FunctionCompiler, FunctionResult, FunctionScope, Invoker } from '../functions/index.ts'
import { compileSchedule, type DeployedWorkflow } from '../hosts/index.ts'
import { bindMachines, createProgram, type LoopChoice, type SecretReader } from '../instance/index.ts'
import { translate } from '../translation/index.ts'
import { Faults } from './faults.ts'
import { variablesOf } from './loop-variables.ts'

/** What definitions are made ready with. */
export interface DeployOptions {
  readonly functions: FunctionCompiler
  readonly secrets: SecretReader
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  /** Most transitions in a row without waiting. */
  readonly maxSteps: number
  /** @default 'fast' */
  readonly loop?: LoopChoice
  /**
   * Variables that a calling workflow may hand on: those of the loops of all definitions. Other unknown variables are faults; when
   * absent any may exist, as for a definition that was accepted before and whose callers are not at hand.
   */
  readonly inheritedVariables?: readonly string[]
  /** Limits and switches of `sonatina.expressions.*`. */
  readonly expressions: Partial<Pick<ExpressionsOptions, 'limits' | 'regex' | 'lenient' | 'dynamicSecrets'>>
  /** Project directory. */
  readonly root: string
  /** Called in place of functions of that name. */
  readonly replacements?: ReadonlyMap<string, (call: FunctionCall) => MaybePromise<FunctionResult>>
}

/**
 * Makes a loaded definition ready to run: compiles its expressions and functions, translates it and binds its machine.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` with every text that does not compile and every function that cannot be
 * resolved, `DEFINITION_UNSUPPORTED` for what the runtime does not support
 */
export async function deploy(loaded: LoadedDefinition, options: DeployOptions): Promise<DeployedWorkflow> {
  const { definition } = loaded
  const faults = new Faults(loaded)
  const expressions = faults.try('', () => createExpressions(expressionsOptions(loaded, options)))
  if (expressions === undefined) throw faults.toError()
  const invokers = await compileFunctions(definition.functions, scopeOf(loaded, expressions, options), { ...options, faults })
  const program = createProgram({ definition, expressions, invokers, collect: (compile) => faults.try('', compile) })
  undeclaredSecrets(loaded, expressions, faults)
  const validateInput = compileSchema(definition.dataInputSchema, '/dataInputSchema', faults)
  const validateOutput = compileSchema(definition.dataOutputSchema, '/extensions', faults)
  const { schedule } = definition.start
  if (schedule !== undefined) faults.try('/start/schedule', () => compileSchedule(schedule, options.clock.now()))
  if (faults.any) throw faults.toError()
  return {
    loaded,
    program,
    machines: bindMachines(program, translate(definition), { maxSteps: options.maxSteps, loop: options.loop ?? 'fast' }),
    ...(validateInput === undefined ? {} : { validateInput }),
    ...(validateOutput === undefined ? {} : { validateOutput }),
  }
}

/**
 * Finds expressions that do not compile in a definition that is refused for other faults; nothing else of it is looked at, for what is
 * missing may be among the faults.
 *
 * @returns the faults with their places in the file
 */
export function findExpressionFaults(refused: LoadedDefinition, options: DeployOptions): readonly Violation[] {
  const faults = new Faults(refused)
  const collect = <Result>(compile: () => Result): Result | undefined => {
    try {
      return compile()
    } catch (error) {
      if (error instanceof ExpressionError) faults.add('', error)
      else if (!(error instanceof DefinitionError)) throw error
      return undefined
    }
  }
  // Which variables callers hand on is not known before all definitions are loaded.
  const { inheritedVariables: _unknown, ...known } = options
  const expressions = collect(() => createExpressions(expressionsOptions(refused, known)))
  if (expressions !== undefined) createProgram({ definition: refused.definition, expressions, invokers: new Map(), collect })
  return faults.violations
}

function expressionsOptions({ definition, source }: LoadedDefinition, options: DeployOptions): ExpressionsOptions {
  const functions = definition.functions.filter(({ type }) => type === 'expression').map(({ name, operation }) => [name, operation] as const)
  return {
    language: definition.expressionLang,
    profile: definition.profile,
    functions: new Map(functions),
    clock: options.clock,
    ids: options.ids,
    file: source.uri,
    workflow: definition.id,
    ...(options.inheritedVariables && { variables: [...new Set([...variablesOf(definition), ...options.inheritedVariables])] }),
    ...options.expressions,
  }
}

interface FunctionParts extends Pick<DeployOptions, 'functions' | 'replacements'> {
  readonly faults: Faults
}

async function compileFunctions(
  all: readonly FunctionDefinition[], scope: FunctionScope, { functions, replacements, faults }: FunctionParts,
): Promise<ReadonlyMap<string, Invoker>> {
  const compiled = new Map<string, Invoker>()
  for (const [index, declared] of all.entries()) {
    const replacement = replacements?.get(declared.name)
    if (replacement !== undefined) compiled.set(declared.name, { invoke: replacement })
    else if (declared.type !== 'expression') await compileFunction(declared, `/functions/${String(index)}`)
  }
  return compiled

  async function compileFunction(declared: FunctionDefinition, pointer: string): Promise<void> {
    try {
      compiled.set(declared.name, await functions.compile(declared, scope))
    } catch (error) {
      faults.add(pointer, error)
    }
  }
}

function scopeOf({ definition, source }: LoadedDefinition, expressions: Expressions, options: DeployOptions): FunctionScope {
  return {
    workflowId: definition.id,
    profile: definition.profile,
    base: source.uri,
    auth: definition.auth,
    extensions: definition.extensions,
    secrets: definition.secrets,
    constants: definition.constants,
    evaluate: (text: string, data: Json, context: CallContext): MaybePromise<Json> => {
      const bindings = createBindings({
        constants: definition.constants,
        secrets: options.secrets,
        declaredSecrets: definition.secrets,
        workflow: { id: () => definition.id, instanceId: () => context.instanceId, headers: () => context.headers },
      })
      return expressions.compileTemplate(text, { pointer: '/functions' }).evaluate(data, bindings)
    },
  }
}

/** A secret that is read but not declared is a mistake (A21); SonataFlow knows no declarations. */
function undeclaredSecrets({ definition }: LoadedDefinition, { reads }: Expressions, faults: Faults): void {
  if (definition.profile === 'sonataflow') return
  for (const key of reads.secrets) {
    if (!definition.secrets.includes(key)) {
      const message = `an expression reads the secret "${key}", which "secrets" does not declare`
      faults.add('', new DefinitionError({ code: 'DEFINITION_INVALID', message, violations: [{ pointer: '/secrets', message, hint: 'add it there' }] }))
    }
  }
}

// Input that may violate its schema is not looked at (S024).
function compileSchema(schema: DataSchema | undefined, pointer: string, faults: Faults): DataValidator | undefined {
  return schema?.failOnValidationErrors === true ? faults.try(pointer, () => compileDataSchema(schema)) : undefined
}
