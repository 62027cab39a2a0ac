import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { EXCHANGE, HOSTILE, launch, ROOT, serve, type Served } from './support.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Opened {
  readonly page: Page
  readonly errors: string[]
  readonly foreign: string[]
}

describe('inspector: page', function () {
  this.timeout(180_000)
  let served: Served
  let browser: Browser

  before(async function () {
    browser = await launch(this)
    served = await serve()
  })
  after(async () => {
    await (browser as Browser | undefined)?.close()
    await (served as Served | undefined)?.close()
  })

  async function open(search = '', options: BrowserContextOptions = {}): Promise<Opened> {
    const page = await browser.newPage({ viewport: { width: 1440, height: 860 }, ...options })
    const errors: string[] = []
    const foreign: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => { if (message.type() === 'error') errors.push(message.text()) })
    page.on('request', (request) => { if (!request.url().startsWith(served.url) && !/^(?:data|blob):/u.test(request.url())) foreign.push(request.url()) })
    await page.goto(`${served.url}/inspect${search}`)
    return { page, errors, foreign }
  }

  async function close({ page, errors, foreign }: Opened): Promise<void> {
    expect(errors).to.deep.equal([])
    expect(foreign).to.deep.equal([])
    await page.close()
  }

  async function violations(page: Page): Promise<string[]> {
    await page.evaluate(AXE)
    return page.evaluate(async () => {
      const axe = (globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> } }).axe
      return (await axe.run()).violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`))
    })
  }

  const classesOf = (page: Page, id: string): Promise<string | null> => page.locator(`#view [data-id="${id}"]`).first().getAttribute('class')

  it('has no violation of axe in both themes, in every view, without a request outside', async () => {
    const { id } = await served.start('currency_exchange_workflow', EXCHANGE)
    const failed = await served.start('unhandled')
    const parallel = await served.start('parallel', { result: '' })
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const search of ['', `?instance=${id}&state=GetExchangeRate&tab=Data`, `?instance=${id}&tab=Messages&view=Table`, `?instance=${id}&view=Definition&state=CheckInputs`, `?instance=${failed.id}&tab=Error`, `?instance=${parallel.id}`]) {
        const opened = await open(search, { colorScheme })
        await opened.page.waitForSelector(search.includes('view=') ? '#view table, #view .source' : '#view svg')
        if (search !== '') await opened.page.waitForSelector('#tab .box, #tab pre')
        expect([search, ...await violations(opened.page)]).to.deep.equal([search])
        await close(opened)
      }
    }
  })

  it('marks a handled error: state and edge red, target green', async () => {
    const { id } = await served.start('handled')
    const opened = await open(`?instance=${id}`)
    await opened.page.waitForSelector('.is-handled')
    expect(await classesOf(opened.page, 'state-0-way-1')).to.contain('r-error').and.contain('is-taken')
    expect(await classesOf(opened.page, 'state-2')).to.contain('is-done')
    expect(await opened.page.locator('.badge').allTextContents()).to.deep.equal(['✕ failed, handled'])
    const colours = await opened.page.evaluate<string[]>(`[['.way', 'stroke'], ['.head', 'fill']]
      .map(([part, property]) => getComputedStyle(document.querySelector('[data-id="state-0-way-1"] ' + part))[property])`)
    expect(new Set(colours)).to.deep.equal(new Set(['rgb(194, 37, 37)']))
    await close(opened)
  })

  it('follows a slow call live, then its end', async () => {
    const opened = await open('?workflow=slow')
    await opened.page.waitForSelector('#live[data-state=live]')
    const started = served.start('slow')
    await opened.page.locator('#instances button').first().click()
    await opened.page.waitForSelector('[data-id="state-0"].is-active')
    served.release()
    await started
    await opened.page.waitForSelector('[data-id="state-1"].is-done')
    expect(await opened.page.title()).to.contain('slow completed')
    await close(opened)
  })

  it('can be used by keys alone', async () => {
    const { id } = await served.start('currency_exchange_workflow', EXCHANGE)
    const opened = await open(`?instance=${id}`)
    const { page } = opened
    await page.waitForSelector('[data-id="state-0"].is-done')
    await page.locator('[data-id="state-0"]').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).searchParams.get('state')).to.equal('CheckInputs')
    await page.locator('#tabs [aria-selected=true]').focus()
    await page.keyboard.press('ArrowRight')
    expect(await page.locator('#tabs [aria-selected=true]').textContent()).to.equal('Data')
    expect(await page.evaluate<string>('document.activeElement.textContent')).to.equal('Data')
    expect(await page.locator('#tab').textContent()).to.contain('exchangeRate')
    await page.keyboard.press('Home')
    await page.keyboard.press('?')
    await page.waitForSelector('#help[open]')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(new URL(page.url()).searchParams.get('state')).to.equal(null)
    await page.keyboard.press('/')
    expect(await page.evaluate<string>('document.activeElement.id')).to.equal('filter')
    await close(opened)
  })

  it('shows hostile names and data as text', async () => {
    const { id } = await served.start('hostile')
    for (const view of ['Diagram', 'Table', 'Definition', 'Machine']) {
      const opened = await open(`?instance=${id}&tab=Data&view=${view}`)
      await opened.page.waitForSelector('#view svg, #view table, #view .source')
      await opened.page.waitForSelector('#tab pre')
      expect(await opened.page.evaluate<unknown[]>('[typeof window.hacked, document.querySelectorAll("img").length]')).to.deep.equal(['undefined', 0])
      expect(await opened.page.locator('#tab').textContent()).to.contain(HOSTILE.slice(0, 14))
      await close(opened)
    }
  })

  it('runs a workflow from the form of its input schema and shows the instance', async () => {
    const opened = await open('?workflow=currency_exchange_workflow')
    const { page } = opened
    await page.getByRole('button', { name: 'Run…' }).click()
    await page.waitForSelector('#run[open]')
    expect(await violations(page)).to.deep.equal([])
    for (const [name, value] of Object.entries(EXCHANGE as Record<string, unknown>)) {
      const field = page.locator(`#run-${name}`)
      if (await field.count() > 0) await field.fill(String(value))
      else await page.locator('#run-json').fill(JSON.stringify(EXCHANGE))
    }
    await page.locator('#run button[type=submit]').click()
    await page.waitForSelector('[data-id="state-5"].is-done')
    await close(opened)
  })

  it('fits 360 pixels, and keeps marks in forced colours', async () => {
    const { id } = await served.start('parallel', { result: '' })
    const opened = await open(`?instance=${id}`, { viewport: { width: 360, height: 740 }, forcedColors: 'active' })
    await opened.page.waitForSelector('.is-done')
    expect(await opened.page.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(360)
    await close(opened)
  })

  it('lists a thousand instances page by page', async function () {
    for (let index = 0; index < 1000; index += 1) await served.runtime.host.start({ workflowId: 'loops', input: { list: [] } })
    const opened = await open('?workflow=loops')
    await opened.page.waitForSelector('#instances button')
    await opened.page.locator('#more').click()
    await opened.page.locator('#instances button').nth(99).waitFor()
    expect(await opened.page.locator('#instances button').count()).to.equal(100)
    await close(opened)
  })

  describe('as receiver of official clients', () => {
    let server: Server
    let origin: string
    before(async () => {
      const { build } = createRequire(import.meta.url)('esbuild') as { build: (options: object) => Promise<{ outputFiles: { text: string }[] }> }
      const bundle = await build({
        stdin: {
          contents: `import { createBrowserInspector } from '@statelyai/inspect'; import { createActor, createMachine } from 'xstate'
            window.begin = (url) => {
              const { inspect } = createBrowserInspector({ url })
              const actor = createActor(createMachine({ id: 'light', initial: 'green', states: { green: { on: { GO: 'red' } }, red: {} } }), { inspect }).start()
              actor.send({ type: 'GO' })
            }`,
          resolveDir: ROOT,
        },
        bundle: true, write: false, format: 'iife', platform: 'browser', logLevel: 'silent',
      })
      const script = bundle.outputFiles[0]?.text ?? ''
      server = createServer((request, response) => {
        response.setHeader('Content-Type', request.url === '/client.js' ? 'text/javascript' : 'text/html')
        response.end(request.url === '/client.js' ? script : '<!doctype html><title>Client</title><script src="/client.js"></script>')
      })
      await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
      origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`
    })
    after(async () => { await new Promise((resolve) => { server.close(resolve) }) })

    it('takes createBrowserInspector in a popup, and draws the machine with its active state', async () => {
      const page = await browser.newPage()
      await page.goto(origin)
      const [popup] = await Promise.all([
        page.waitForEvent('popup'),
        page.evaluate((url) => { (globalThis as unknown as { begin(url: string): void }).begin(url) }, `${served.url}/inspect?receiver=1`),
      ])
      await popup.waitForSelector('[data-id="root-red"].is-active')
      expect(await popup.locator('#actors').textContent()).to.contain('light')
      expect(await violations(popup)).to.deep.equal([])
      await popup.close()
      await page.close()
    })

    it('counts and ignores what is no message', async () => {
      const page = await browser.newPage()
      await page.goto(origin)
      const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(`{ window.child = window.open(${JSON.stringify(`${served.url}/inspect?receiver=1`)}) }`)])
      await popup.waitForLoadState()
      await page.evaluate(`for (const message of ['{', { type: '@xstate.actor' }, { type: '@xstate.actor', _version: '1', sessionId: 'x', definition: 'x'.repeat(1_100_000) }, null]) {
        window.child.postMessage(message, '*')
      }`)
      await popup.waitForSelector('body[data-ignored="4"]')
      expect(await popup.locator('#actors li').count()).to.equal(0)
      await popup.close()
      await page.close()
    })
  })

  it('is framed by the relay of the official server, which hands it messages', async () => {
    const { createInspectorServer } = await import('@statelyai/inspect/server')
    const free = createServer().listen(0)
    const { port } = free.address() as AddressInfo
    await new Promise((resolve) => { free.close(resolve) })
    const relay = createInspectorServer({ port, url: `${served.url}/inspect?receiver=1`, autoOpen: false })
    const pushing = await serve({ 'sonatina.inspect.push-url': `ws://127.0.0.1:${String(port)}` })
    const page = await browser.newPage()
    await page.goto(`http://localhost:${String(port)}`)
    const frame = page.frameLocator('iframe')
    await frame.locator('#live').waitFor()
    await page.waitForTimeout(500)
    await pushing.start('parallel', { result: '' })
    await frame.locator('#actors li').first().waitFor()
    expect(await frame.locator('#actors').textContent()).to.match(/done|active/u)
    await page.close()
    await pushing.close()
    relay.stop()
  })
})
