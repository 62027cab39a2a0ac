import { access } from 'node:fs/promises'
import { expect } from 'chai'
import { chromium, type Browser } from 'playwright-core'
import { eventDefinition, fakeDefinition } from '../support/fake-host.ts'
import { openBench, type Bench } from '../unit/server/setup.ts'

const BROWSER = process.env['SONATINA_CHROMIUM'] ?? '/usr/bin/chromium'
// No request may leave the machine, not even the browser's own.
const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

describe('e2e: Swagger UI in a browser', function () {
  this.timeout(120_000)
  let bench: Bench
  let browser: Browser

  before(async function () {
    const isThere = await access(BROWSER).then(() => true, () => false)
    if (!isThere) {
      process.stderr.write(`SKIPPED: no browser at ${BROWSER} (set SONATINA_CHROMIUM); 1 suite, e2e: Swagger UI in a browser\n`)
      this.skip()
    }
    bench = await openBench({ swaggerUi: true })
    bench.catalogue.add(fakeDefinition('currency', {
      description: 'Converts an amount',
      dataInputSchema: { failOnValidationErrors: true, schema: { $schema: 'http://json-schema.org/draft-04/schema#', title: 'Currency Input', type: 'object', required: ['amount'], properties: { amount: { type: 'number', minimum: 0, exclusiveMinimum: true }, list: { $ref: '#/definitions/l' } }, definitions: { l: { type: 'array', items: { type: 'string' } } } } },
    }))
    bench.catalogue.add(eventDefinition('ordered', 'order.placed'))
    browser = await chromium.launch({ executablePath: BROWSER, args: FLAGS })
  })
  after(async () => {
    // Both are absent when the suite was skipped.
    await (browser as Browser | undefined)?.close()
    await (bench as Bench | undefined)?.close()
  })

  it('renders the document without an error in the console and without a request elsewhere, and starts an instance', async () => {
    const page = await browser.newPage()
    const complaints: string[] = []
    const foreign: string[] = []
    const origin = `http://127.0.0.1:${String(bench.port)}`
    page.on('console', (message) => { if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text()) })
    page.on('pageerror', (error) => { complaints.push(error.message) })
    page.on('request', (request) => { if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:')) foreign.push(request.url()) })
    await page.goto(`${origin}/q/swagger-ui`)
    const operation = page.locator('#operations-Process_-_currency-createProcessInstance_currency')
    await operation.waitFor()
    expect(await page.locator('.opblock').count()).to.be.greaterThan(20)
    expect(await page.locator('.errors-wrapper').count()).to.equal(0)
    await operation.locator('.opblock-summary-control').click()
    await operation.locator('.try-out__btn').click()
    await operation.locator('textarea').fill('{"amount": 2}')
    await operation.locator('.execute').click()
    await operation.locator('.live-responses-table').waitFor()
    expect(await operation.locator('.live-responses-table').innerText()).to.include('201').and.include('"amount": 2')
    const screenshot = process.env['SONATINA_SCREENSHOT']
    if (screenshot !== undefined) await page.screenshot({ path: screenshot })
    expect(complaints).to.deep.equal([])
    expect(foreign).to.deep.equal([])
  })
})
