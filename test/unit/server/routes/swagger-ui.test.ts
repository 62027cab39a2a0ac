import { expect } from 'chai'
import { openBench, type Bench } from '../setup.ts'

describe('server/routes/swagger-ui', () => {
  let bench: Bench
  afterEach(() => bench.close())

  it('is served from local files under a strict policy', async () => {
    bench = await openBench({ swaggerUi: true, rootPath: '/api' })
    for (const path of ['', '/', '/index.html', '/start.js', '/page.css', '/swagger-ui.css', '/swagger-ui-bundle.js', '/favicon-32x32.png']) {
      const { status, headers } = await bench.send('GET', `/api/q/swagger-ui${path}`)
      expect(status, path).to.equal(200)
      expect(headers['content-security-policy']).to.match(/^default-src 'none'; script-src 'self';/).and.not.include('http')
      expect(headers['x-content-type-options']).to.equal('nosniff')
    }
    const page = (await bench.send('GET', '/api/q/swagger-ui')).text
    expect([...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address)).to.satisfy((all: string[]) => all.length > 3 && all.every((address) => address.startsWith('/api/q/swagger-ui/')))
    expect((await bench.send('GET', '/api/q/swagger-ui/start.js')).text).to.include('"/api/q/openapi"')
  })

  it('serves no other file of the package, nor any outside of it', async () => {
    bench = await openBench({ swaggerUi: true })
    for (const file of ['package.json', 'index.js', '../package.json', '..%2fpackage.json', '__proto__', 'constructor', 'swagger-ui.js.map']) {
      expect((await bench.send('GET', `/q/swagger-ui/${file}`)).status, file).to.equal(404)
    }
  })

  it('is off by default', async () => {
    bench = await openBench()
    expect((await bench.send('GET', '/q/swagger-ui')).status).to.equal(404)
  })
})
