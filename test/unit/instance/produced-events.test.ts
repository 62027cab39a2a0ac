import { expect } from 'chai'
import { encodeHttp } from '../../../lib/events/index.ts'
import { Driver } from './support/driver.ts'

const EVENTS = [{ name: 'out', type: 't.out', source: 'test', kind: 'produced' }]

for (const loop of ['stock', 'fast'] as const) {
  describe(`instance: produced events in the ${loop} loop`, () => {
    // CloudEvents knows 32-bit integers only: such an event could never be sent.
    it('carry numbers that are no attribute values as text (S142)', async () => {
      const driver = await Driver.open({
        id: 'w', events: EVENTS,
        states: [{
          name: 'A', type: 'inject', data: { price: 1.5, large: 3e9, little: -7, yes: true, tags: ['a'] },
          end: { produceEvents: [{ eventRef: 'out', contextAttributes: { price: '${ .price }', large: '${ .large }', little: '${ .little }', yes: '${ .yes }', tags: '${ .tags }' } }] },
        }],
      }, {}, { loop })
      await driver.begin()
      const [event] = driver.events
      expect(event).to.include({ price: '1.5', large: '3000000000', little: -7, yes: true, tags: '["a"]' })
      expect(() => encodeHttp(event!, 'binary')).not.to.throw()
    })
  })
}
