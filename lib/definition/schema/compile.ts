import { Ajv2020, type CodeOptions, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Mode, Schema } from './build.ts'
import { formats } from './formats.ts'
import { createWorkflowSchema } from './workflow.ts'

/**
 * Compiles our schema of 0.8 for one mode; the published program holds in place of this module what it compiles to.
 *
 * A validator that is used a few times is best when it compiles fast: the schema is ours, so that it is not checked itself, and
 * neither inlined nor optimised.
 */
export function compileSchema(mode: Mode): ValidateFunction {
  return createSchemaCompiler({ optimize: false }).compile(createWorkflowSchema(mode))
}

/** Creates what compiles the schema. @internal */
export function createSchemaCompiler(code: CodeOptions): Ajv2020 {
  return new Ajv2020({ allErrors: true, strict: false, verbose: true, validateSchema: false, meta: false, inlineRefs: false, formats, code })
}

/** The schemas of both modes, for who compiles them beforehand. @internal */
export function createSchemas(): Readonly<Record<Mode, Schema>> {
  return { strict: createWorkflowSchema('strict'), tolerant: createWorkflowSchema('tolerant') }
}
