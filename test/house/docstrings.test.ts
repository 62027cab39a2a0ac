import { expect } from 'chai'
import { exportedDeclarations, sourceFiles } from './source-files.ts'

describe('house: docstrings', () => {
  it('stand on every export of lib', async () => {
    const missing: string[] = []
    for (const [path, file] of await sourceFiles('lib')) {
      // An overload needs one docstring, not one for each signature.
      const documented = new Set<string>()
      for (const declaration of exportedDeclarations(file)) {
        if (declaration.documented) documented.add(declaration.name)
        else if (!documented.has(declaration.name)) missing.push(`${path}:${declaration.line} ${declaration.name}`)
      }
    }
    expect(missing, 'say what it does in one sentence').to.deep.equal([])
  })
})
