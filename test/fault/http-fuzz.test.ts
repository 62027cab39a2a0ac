import { expect } from 'chai'
import { fuzz } from './http-fuzz.ts'

describe('fault: random requests', () => {
  it('are never answered with a server error, whatever they are', async () => {
    const seed = Number(process.env['SONATINA_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
    const report = await fuzz({ requests: 3000, seed })
    expect(report.serverErrors, `repeat with SONATINA_SEED=${String(seed)}`).to.deep.equal([])
    // The fuzzer must reach the service, or it shows nothing.
    expect(Object.keys(report.statuses)).to.include.members(['200', '201', '202', '400', '404', '405', '413', '415', '431'])
  }).timeout(120_000)
})
