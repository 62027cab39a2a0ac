import { markHosted, type AnyHostedFunction, type FunctionContext, type FunctionOptions } from './define-function.ts'
import type { Descriptor, InputOf, OutputOf } from './descriptors.ts'

const FUNCTIONS = Symbol.for('sonatina.functions')

interface Declaring {
  [FUNCTIONS]?: AnyHostedFunction[]
}

/**
 * Declares a method as a function (stage-3 decorator); instances of the class can then be served.
 *
 * Decorators do not see parameter types, so the descriptors are given, and a method of other types does not compile. Write
 * `@Funq({ input: json(Integer), output: json(Integer) })` before the method; docs/functions.md has an example that runs.
 */
export function Funq<const Input extends Descriptor, const Output extends Descriptor>(options: FunctionOptions<Input, Output>) {
  return <This extends object>(
    method: (this: This, input: InputOf<Input>, context: FunctionContext) => OutputOf<Output> | Promise<OutputOf<Output>>,
    decorated: ClassMethodDecoratorContext<This>,
  ): void => {
    const name = options.name ?? String(decorated.name)
    decorated.addInitializer(function () {
      const handler = (input: InputOf<Input>, context: FunctionContext): unknown => method.call(this, input, context)
      // The arrow hides how many parameters the method has.
      Object.defineProperty(handler, 'length', { value: method.length })
      const fault = decorated.private || decorated.static ? `@Funq needs a public instance method, ${name} is none` : undefined
      const functions = (this as Declaring)[FUNCTIONS] ?? []
      functions.push(markHosted({ options: { ...options, name }, handler, ...(fault === undefined ? {} : { fault }) }))
      // On the instance, where another copy of the package finds it too; hidden from whoever lists its properties.
      Object.defineProperty(this, FUNCTIONS, { value: functions, configurable: true })
    })
  }
}

/** Gives the functions of an instance whose class uses {@link Funq}; empty when there are none. */
export function functionsOf(instance: object): readonly AnyHostedFunction[] {
  return (instance as Declaring)[FUNCTIONS] ?? []
}
