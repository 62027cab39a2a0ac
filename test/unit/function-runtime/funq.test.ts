import { expect } from 'chai'
import { Funq, createFunctionRegistry, json, nothing, serve, text, type FunctionContext } from '../../../lib/function-runtime/index.ts'

const Integer = { type: 'integer' } as const

class Calculator {
  readonly #factor: number

  constructor(factor: number) {
    this.#factor = factor
  }

  @Funq({ input: json(Integer), output: json(Integer) })
  scale(n: number): number { return n * this.#factor }

  @Funq({ name: 'greeting', input: nothing, output: text })
  async greet(_input: undefined, context: FunctionContext): Promise<string> {
    await Promise.resolve()
    return context.event === undefined ? 'plain' : 'event'
  }
}

class Extended extends Calculator {
  @Funq({ input: json(Integer), output: json(Integer) })
  negate(n: number): number { return -n }
}

describe('@Funq', () => {
  it('serves methods by their name or the given one, bound to their instance', async () => {
    const registry = createFunctionRegistry([new Calculator(3)])
    expect(registry.names).to.deep.equal(['scale', 'greeting'])
    expect(await registry.invoke('scale', 2)).to.equal(6)
    expect(await registry.invoke('greeting')).to.equal('plain')
  })

  it('serves inherited methods too', async () => {
    const registry = createFunctionRegistry({ calculator: new Extended(2) })
    expect([await registry.invoke('scale', 2), await registry.invoke('negate', 2)]).to.deep.equal([4, -2])
  })

  it('leaves the method callable as it was', () => {
    expect(new Calculator(5).scale(2)).to.equal(10)
  })

  it('refuses methods that are private or static, and methods of more parameters', () => {
    class Hidden {
      @Funq({ input: nothing, output: nothing })
      #hidden(): undefined { return undefined }

      use(): undefined { this.#hidden() }
    }
    class Many {
      @Funq({ input: nothing, output: nothing })
      many(_input: undefined, _context: FunctionContext, _more?: unknown): undefined { return undefined }
    }
    expect(() => serve([new Hidden()])).to.throw('@Funq needs a public instance method')
    expect(() => serve([new Many()])).to.throw('it has 3 parameters')
  })
})
