import { expect } from 'chai'
import { createRegistry } from '../../../lib/deployment/index.ts'
import type { DeployedWorkflow } from '../../../lib/hosts/index.ts'
import { deployForTest, loadForTest } from '../instance/support/driver.ts'

async function workflow(version: string): Promise<DeployedWorkflow> {
  return deployForTest(await loadForTest({ id: 'w', version, states: [{ name: 'S', type: 'inject', data: {}, end: true }] }))
}

describe('deployment: registry', () => {
  it('serves the newest version by SemVer, whatever the order in which they come (decisions.md 3)', async () => {
    for (const [versions, newest] of [
      [['1.0', '1.10', '1.9'], '1.10'], [['2.0.0', '2.0.0-rc.1'], '2.0.0'], [['2.0.0-rc.2', '2.0.0-rc.10', '2.0.0-alpha'], '2.0.0-rc.10'], [['v1.2', '1.1'], 'v1.2'],
    ] as const) {
      const registry = createRegistry()
      for (const version of versions) registry.add(await workflow(version))
      expect(registry.catalogue.find('w')?.definition.version, versions.join(' ')).to.equal(newest)
      for (const version of versions) expect(registry.catalogue.find('w', version)?.definition.version).to.equal(version)
    }
  })

  it('serves the one that came last where a version is none of SemVer', async () => {
    const registry = createRegistry()
    for (const version of ['summer', 'spring']) registry.add(await workflow(version))
    expect(registry.catalogue.find('w')?.definition.version).to.equal('spring')
  })

  it('goes back to the version before when the newest is taken out, and tells of each change', async () => {
    const registry = createRegistry()
    let changes = 0
    const cancel = registry.catalogue.onChange(() => { changes += 1 })
    registry.add(await workflow('1.0'))
    registry.add(await workflow('2.0'))
    registry.remove('w', '2.0')
    expect([registry.catalogue.find('w')?.definition.version, changes]).to.deep.equal(['1.0', 3])
    registry.remove('w')
    expect([registry.catalogue.find('w'), registry.catalogue.list().length]).to.deep.equal([undefined, 0])
    cancel()
    registry.add(await workflow('1.0'))
    expect(changes).to.equal(4)
  })
})
