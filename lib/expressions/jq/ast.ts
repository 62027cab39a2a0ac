import type { Json } from '../../common/index.ts'

/** Operators that compute one value from two. */
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%'
/** Operators that compare two values. */
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>='
/** Operators that change what the left side points at. */
export type UpdateOperator = '=' | '|=' | '+=' | '-=' | '*=' | '/=' | '%=' | '//='
/** All operators between two filters, except `|` and `,`. */
export type BinaryOperator = ArithmeticOperator | ComparisonOperator | UpdateOperator | 'and' | 'or' | '//'

/** One entry of an object construction; without a value the key is a variable or a field of the input. */
export interface ObjectEntry {
  readonly key: Ast
  readonly value: Ast
}

/** The parts of a string: text, or a query whose outputs are put in. */
export type TextPart = string | Ast

/** What `as` binds. */
export type Pattern =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'items'; readonly items: readonly Pattern[] }
  | { readonly kind: 'members'; readonly members: readonly PatternMember[] }

/** One member of an object pattern: `$name`, `$name: pattern` or `key: pattern`. */
export interface PatternMember {
  readonly name?: string
  readonly key: Ast
  readonly pattern?: Pattern
}

/**
 * One node of a parsed program; `optional` is a `?` right behind, which covers this step only, not what leads to it.
 * `at` is the offset of its first character (of the operator, for operators). */
export type Ast = { readonly at: number } & (
  | { readonly kind: 'identity' }
  | { readonly kind: 'descendants' }
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'text'; readonly format?: string; readonly parts: readonly TextPart[] }
  | { readonly kind: 'format'; readonly name: string }
  | { readonly kind: 'location'; readonly line: number }
  | { readonly kind: 'index'; readonly target: Ast; readonly key: Ast; readonly optional?: true }
  | { readonly kind: 'slice'; readonly target: Ast; readonly from?: Ast; readonly to?: Ast; readonly optional?: true }
  | { readonly kind: 'iterate'; readonly target: Ast; readonly optional?: true }
  | { readonly kind: 'array'; readonly body?: Ast }
  | { readonly kind: 'object'; readonly entries: readonly ObjectEntry[] }
  | { readonly kind: 'negate'; readonly operand: Ast }
  | { readonly kind: 'binary'; readonly operator: BinaryOperator; readonly left: Ast; readonly right: Ast }
  | { readonly kind: 'pipe'; readonly left: Ast; readonly right: Ast }
  | { readonly kind: 'comma'; readonly left: Ast; readonly right: Ast }
  | { readonly kind: 'if'; readonly condition: Ast; readonly then: Ast; readonly else?: Ast }
  | { readonly kind: 'try'; readonly body: Ast; readonly handler?: Ast }
  | { readonly kind: 'reduce'; readonly source: Ast; readonly patterns: readonly Pattern[]; readonly init: Ast; readonly update: Ast }
  | {
    readonly kind: 'foreach'; readonly source: Ast; readonly patterns: readonly Pattern[]
    readonly init: Ast; readonly update: Ast; readonly extract?: Ast
  }
  | { readonly kind: 'as'; readonly source: Ast; readonly patterns: readonly Pattern[]; readonly body: Ast }
  | { readonly kind: 'label'; readonly name: string; readonly body: Ast }
  | { readonly kind: 'break'; readonly name: string }
  | { readonly kind: 'def'; readonly name: string; readonly params: readonly string[]; readonly body: Ast; readonly rest: Ast }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Ast[] }
  | { readonly kind: 'variable'; readonly name: string }
)
