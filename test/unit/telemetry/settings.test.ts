import { expect } from 'chai'
import { createSettings, type Settings } from '../../../lib/configuration/index.ts'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { resolveTracingSettings } from '../../../lib/telemetry/settings.ts'

function settingsOf(settings: Record<string, unknown>, environment: Record<string, string> = {}): Promise<Settings> {
  return createSettings({ root: '.', profile: 'test', settings, environment, readFile: () => Promise.resolve(undefined) })
}

describe('lib/telemetry/settings', () => {
  it('is off unless asked for', async () => {
    expect(resolveTracingSettings(await settingsOf({}))).to.equal(undefined)
  })

  it('has the defaults of OpenTelemetry', async () => {
    expect(resolveTracingSettings(await settingsOf({ 'sonatina.otel.enabled': true }))).to.deep.equal({
      url: 'http://localhost:4318/v1/traces',
      resource: { 'service.name': 'sonatina' },
      ratio: 1,
      events: true,
      flat: false,
    })
  })

  it('reads the spellings of Quarkus and SonataFlow', async () => {
    const settings = await settingsOf({
      'quarkus.otel.enabled': true,
      'quarkus.otel.exporter.otlp.endpoint': 'http://collector:4318/',
      'quarkus.application.name': 'greeter',
      'sonataflow.otel.service-version': '1.0.0',
      'sonataflow.otel.events.enabled': false,
      'quarkus.otel.resource.attributes': 'deployment.environment=test,team=blue',
      'quarkus.otel.traces.sampler.arg': '0.25',
    })
    expect(resolveTracingSettings(settings)).to.deep.include({
      url: 'http://collector:4318/v1/traces',
      resource: { 'deployment.environment': 'test', team: 'blue', 'service.name': 'greeter', 'service.version': '1.0.0' },
      ratio: 0.25,
      events: false,
    })
  })

  it('reads the environment variables of OpenTelemetry', async () => {
    const settings = await settingsOf({ 'sonatina.otel.enabled': true }, { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector', OTEL_SERVICE_NAME: 'greeter' })
    expect(resolveTracingSettings(settings)).to.deep.include({ url: 'https://collector/v1/traces', resource: { 'service.name': 'greeter' } })
  })

  for (const endpoint of ['collector', 'grpc://collector:4317', 'http://']) {
    it(`refuses the endpoint ${endpoint}`, async () => {
      const settings = await settingsOf({ 'sonatina.otel.enabled': true, 'sonatina.otel.exporter.otlp.endpoint': endpoint })
      expect(() => resolveTracingSettings(settings)).to.throw(ConfigurationError, 'endpoint')
    })
  }

  it('refuses a resource attribute without a value', async () => {
    const settings = await settingsOf({ 'sonatina.otel.enabled': true, 'sonatina.otel.resource.attributes': 'team' })
    expect(() => resolveTracingSettings(settings)).to.throw(ConfigurationError, 'name=value')
  })
})
