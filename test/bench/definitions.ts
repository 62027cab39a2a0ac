/** The definitions that the bench serves (W1, W2, W3 of the work items in docs/performance.md). */

/** W1: four states, no I/O. */
export const chain = {
  id: 'chain',
  version: '1.0',
  specVersion: '0.8',
  start: 'Convert',
  functions: [
    { name: 'convert', type: 'expression', operation: '${ {result: (.amount * .exchangeRate)} }' },
    { name: 'label', type: 'expression', operation: '${ {label: (.currencyTo + " amount")} }' },
  ],
  states: [
    { name: 'Convert', type: 'operation', actions: [{ functionRef: 'convert' }], transition: 'Check' },
    {
      name: 'Check',
      type: 'switch',
      dataConditions: [{ condition: '${ .result > 1000000 }', end: true }],
      defaultCondition: { transition: 'Label' },
    },
    { name: 'Label', type: 'operation', actions: [{ functionRef: 'label' }], transition: 'Finish' },
    { name: 'Finish', type: 'inject', data: { status: 'OK' }, end: true },
  ],
}

/** Input of W1. */
export const chainInput = { amount: 2.5, exchangeRate: 1.0578, currencyTo: 'USD' }

/** W2: three branches that share the data. */
export const parallel = {
  id: 'parallel',
  version: '1.0',
  specVersion: '0.8',
  start: 'Parallel',
  functions: ['A', 'B', 'C'].map((letter) => ({ name: `concat${letter}`, type: 'expression', operation: `.result|=.+"${letter}"` })),
  states: [{
    name: 'Parallel',
    type: 'parallel',
    completionType: 'allOf',
    branches: ['A', 'B', 'C'].map((letter) => ({ name: `branch${letter}`, actions: [{ functionRef: `concat${letter}` }] })),
    end: true,
  }],
}

/** Input of W3: the currency exchange of the reference workflow. */
export const exchangeInput = { currencyFrom: 'EUR', currencyTo: 'USD', exchangeDate: '2022-06-10', amount: 2 }
