import { expect } from 'chai'
import { Arrivals } from '../../../lib/common/index.ts'

const turn = (): Promise<void> => new Promise((resolve) => { setImmediate(resolve) })

describe('common/arrivals', () => {
  it('works on all that came in an iteration of the event loop, in its order, after it', async () => {
    const done: number[] = []
    const arrivals = new Arrivals<number>((item) => { done.push(item) })
    arrivals.add(1)
    await Promise.resolve()
    arrivals.add(2)
    expect(done).to.deep.equal([])
    await turn()
    expect(done).to.deep.equal([1, 2])
  })

  it('leaves what comes meanwhile to the next iteration', async () => {
    const done: number[] = []
    const arrivals = new Arrivals<number>((item) => {
      done.push(item)
      if (item < 3) arrivals.add(item + 1)
    })
    arrivals.add(1)
    await turn()
    expect(done).to.deep.equal([1])
    await turn()
    expect(done).to.deep.equal([1, 2])
    await turn()
    expect(done).to.deep.equal([1, 2, 3])
  })

  it('lets what one of them throws end the iteration, and goes on with the others', async () => {
    const done: number[] = []
    const arrivals = new Arrivals<number>((item) => {
      if (item === 2) throw new Error('two')
      done.push(item)
    })
    const before = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    const thrown = new Promise<Error>((resolve) => { process.once('uncaughtException', resolve) })
    try {
      for (const item of [1, 2, 3, 4]) arrivals.add(item)
      expect((await thrown).message).to.equal('two')
      await turn()
      await turn()
      expect(done).to.deep.equal([1, 3, 4])
    } finally {
      for (const listener of before) process.on('uncaughtException', listener)
    }
  })
})
