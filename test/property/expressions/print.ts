import type { Ast, Pattern, PatternMember } from '../../../lib/expressions/jq/ast.ts'
import { printString, toJson } from '../../../lib/expressions/jq/dump.ts'

/** Prints a program as text that parses to an equal tree; parentheses stand wherever they could matter. */
export function print(ast: Ast): string {
  switch (ast.kind) {
    case 'identity': return '.'
    case 'descendants': return '..'
    case 'literal': return typeof ast.value === 'string' ? printString(ast.value) : toJson(ast.value)
    case 'location': return '$__loc__'
    case 'format': return `@${ast.name}`
    case 'text': return `${ast.format === undefined ? '' : `@${ast.format} `}"${ast.parts.map((part) =>
      typeof part === 'string' ? printString(part).slice(1, -1) : `\\(${print(part)})`).join('')}"`
    case 'index': return `${step(ast.target)}[${print(ast.key)}]${mark(ast)}`
    case 'slice': return `${step(ast.target)}[${ast.from ? print(ast.from) : ''}:${ast.to ? print(ast.to) : ''}]${mark(ast)}`
    case 'iterate': return `${step(ast.target)}[]${mark(ast)}`
    case 'array': return ast.body === undefined ? '[]' : `[${print(ast.body)}]`
    case 'object': return `{${ast.entries.map(({ key, value }) => `(${print(key)}): (${print(value)})`).join(', ')}}`
    case 'variable': return `$${ast.name}`
    case 'call': return ast.args.length === 0 ? ast.name : `${ast.name}(${ast.args.map(print).join('; ')})`
    case 'break': return `break $${ast.name}`
    default: return printControl(ast)
  }
}

type Control = Extract<Ast, { kind: 'negate' | 'binary' | 'pipe' | 'comma' | 'if' | 'try' | 'reduce' | 'foreach' | 'as' | 'label' | 'def' }>

function printControl(ast: Control): string {
  switch (ast.kind) {
    case 'negate': return `(-${group(ast.operand)})`
    case 'binary': return `(${group(ast.left)} ${ast.operator} ${group(ast.right)})`
    case 'pipe': return `(${group(ast.left)} | ${print(ast.right)})`
    case 'comma': return `(${group(ast.left)}, ${group(ast.right)})`
    case 'if': return `if ${print(ast.condition)} then ${print(ast.then)}${ast.else ? ` else ${print(ast.else)}` : ''} end`
    case 'try': return `(try ${group(ast.body)}${ast.handler ? ` catch ${group(ast.handler)}` : ''})`
    case 'reduce': return `reduce ${group(ast.source)} as ${printPatterns(ast.patterns)} (${print(ast.init)}; ${print(ast.update)})`
    case 'foreach': {
      const extract = ast.extract ? `; ${print(ast.extract)}` : ''
      return `foreach ${group(ast.source)} as ${printPatterns(ast.patterns)} (${print(ast.init)}; ${print(ast.update)}${extract})`
    }
    case 'as': return `(${group(ast.source)} as ${printPatterns(ast.patterns)} | ${print(ast.body)})`
    case 'label': return `(label $${ast.name} | ${print(ast.body)})`
    case 'def': {
      const params = ast.params.length === 0 ? '' : `(${ast.params.join('; ')})`
      return `(def ${ast.name}${params}: ${print(ast.body)}; ${print(ast.rest)})`
    }
  }
}

function mark({ optional }: { readonly optional?: true }): string {
  return optional === true ? '?' : ''
}

function group(ast: Ast): string {
  const text = print(ast)
  return text.startsWith('(') ? text : `(${text})`
}

// What a step follows has to be a term; the identity is written as the dot itself.
function step(target: Ast): string {
  return target.kind === 'identity' ? '.' : target.kind === 'index' || target.kind === 'slice' || target.kind === 'iterate' ? print(target) : group(target)
}

function printPatterns(patterns: readonly Pattern[]): string {
  return patterns.map(printPattern).join(' ?// ')
}

function printPattern(pattern: Pattern): string {
  if (pattern.kind === 'name') return `$${pattern.name}`
  if (pattern.kind === 'items') return `[${pattern.items.map(printPattern).join(', ')}]`
  return `{${pattern.members.map(printMember).join(', ')}}`
}

function printMember({ name, key, pattern }: PatternMember): string {
  const left = name === undefined ? `(${print(key)})` : `$${name}`
  return pattern === undefined ? left : `${left}: ${printPattern(pattern)}`
}
