import { readdir, readFile } from 'node:fs/promises'
import ts from 'typescript'

/** Reads and parses every source file under a folder, by path. */
export async function sourceFiles(folder: string): Promise<Map<string, ts.SourceFile>> {
  const files = new Map<string, ts.SourceFile>()
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.ts')) continue
    const path = `${folder}/${name}`
    files.set(path, ts.createSourceFile(path, await readFile(path, 'utf8'), ts.ScriptTarget.Latest, true))
  }
  return files
}

/** A documented or undocumented export of a file. */
export interface ExportedDeclaration {
  readonly name: string
  readonly line: number
  readonly documented: boolean
  /** Texts of its `@example` tags. */
  readonly examples: readonly string[]
}

/** Lists what a file declares and exports; re-exports are documented where they are declared. */
export function exportedDeclarations(file: ts.SourceFile): ExportedDeclaration[] {
  const found: ExportedDeclaration[] = []
  const add = (node: ts.Node, name: string): void => {
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
    const comments = ts.getJSDocCommentsAndTags(node)
    const examples = comments.flatMap((comment) => examplesOf(comment.getFullText()))
    found.push({ name, line, documented: comments.length > 0, examples })
  }
  for (const statement of file.statements) {
    if (!ts.canHaveModifiers(statement)) continue
    if (ts.getModifiers(statement)?.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword) !== true) continue
    if (ts.isVariableStatement(statement)) {
      for (const declaration of statement.declarationList.declarations) add(declaration, declaration.name.getText())
    } else if (isNamed(statement)) {
      add(statement, statement.name?.text ?? 'default')
    }
  }
  return found
}

// Read from the raw text: the parser of the compiler takes a decorator inside an example for the next tag.
function examplesOf(comment: string): string[] {
  const text = comment.replace(/^\s*\/\*\*|\*\/\s*$/g, '').replace(/^[ \t]*\* ?/gm, '')
  return text.split(/^@(?=(?:example|param|returns|throws|default|internal|see|typeParam|template)\b)/m)
    .filter((part) => part.startsWith('example'))
    .map((part) => part.slice('example'.length))
}

type NamedStatement = ts.FunctionDeclaration | ts.ClassDeclaration | ts.InterfaceDeclaration | ts.TypeAliasDeclaration

function isNamed(statement: ts.Statement): statement is NamedStatement {
  return ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)
    || ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)
}
