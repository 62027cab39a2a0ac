import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { parse, parseAllDocuments } from 'yaml'
import { chartFiles } from '../../../lib/tenancy/chart.ts'
import { generateTenant } from '../../../lib/tenancy/generate.ts'
import { resolveInputs } from '../../../lib/tenancy/inputs.ts'

type Values = Record<string, unknown>

// Renders like Helm as far as the chart needs it: the template language is Go's own, `quote` and `required` are Helm's.
const RENDERER = `package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"text/template"
)

func main() {
	var input struct {
		Templates []struct{ Name, Text string }
		Values    []map[string]interface{}
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		panic(err)
	}
	functions := template.FuncMap{
		"quote": func(value interface{}) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"required": func(message string, value interface{}) (interface{}, error) {
			if value == nil || value == "" {
				return nil, errors.New(message)
			}
			return value, nil
		},
	}
	results := []map[string]string{}
	for _, values := range input.Values {
		text, fault := "", ""
		for _, each := range input.Templates {
			parsed := template.Must(template.New(each.Name).Funcs(functions).Option("missingkey=error").Parse(each.Text))
			buffer := &writer{}
			if err := parsed.Execute(buffer, map[string]interface{}{"Values": values}); err != nil {
				fault = err.Error()
				break
			}
			text += buffer.text + "\\n"
		}
		results = append(results, map[string]string{"text": text, "fault": fault})
	}
	json.NewEncoder(os.Stdout).Encode(results)
}

type writer struct{ text string }

func (w *writer) Write(bytes []byte) (int, error) {
	w.text += string(bytes)
	return len(bytes), nil
}
`

const files = chartFiles()
const textOf = (path: string): string => files.find((file) => file.path === path)!.text
const defaults = parse(textOf('values.yaml')) as Values
const validateSchema = new Ajv({ strict: false, allErrors: true }).compile(JSON.parse(textOf('values.schema.json')) as object)

/** Merges values as Helm does: maps key by key, everything else replaced. */
function merge(base: Values, over: Values): Values {
  const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)
  const merged = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key]
    merged[key] = isMap(below) && isMap(value) ? merge(below, value) : value
  }
  return merged
}

const ALPHA = { name: 'team-alpha', namespaces: ['team-alpha-1', 'team-alpha-2'] }
const OLDER = ['imc-dispatcher', 'kafka-broker-receiver', 'kafka-channel-receiver', 'kafka-sink-receiver', 'broker-ingress']
const olderReceivers = (defaults['eventing'] as { receivers: { name: string }[] }).receivers.filter(({ name }) => OLDER.includes(name))

const FIXTURES: readonly [what: string, values: Values, chartVersion: string][] = [
  ['main', ALPHA, 'main'],
  ['1.35', { ...ALPHA, eventing: { receivers: olderReceivers } }, '1.35'],
  ['1.31', { ...ALPHA, eventing: { receivers: olderReceivers }, serving: { ingressNamespace: '' } }, '1.31'],
  ['one namespace', { name: 'solo', namespaces: ['only'] }, 'main'],
  ['without serving', { ...ALPHA, serving: { enabled: false } }, 'main'],
  ['without eventing', { ...ALPHA, eventing: { enabled: false } }, 'main'],
  ['other values', {
    name: 'no', namespaces: ['on', '0777', 'y'], istioNamespace: 'mesh', cluster: { domain: 'corp.example' }, trustDomain: 'corp.td',
    serving: { receivers: [{ name: 'activator', shortName: 'activator' }, { name: 'other-gateway', shortName: 'gate' }] },
    eventing: { receivers: [{ name: 'x', shortName: 'y' }], sendersServiceAccounts: [{ name: 'one', shortName: 'a' }, { name: 'two', shortName: 'b' }] },
  }, 'main'],
]

const REFUSED: readonly [what: string, values: Values][] = [
  ['no name', { namespaces: ['a'] }],
  ['no namespaces', { name: 'team' }],
  ['empty namespaces', { name: 'team', namespaces: [] }],
  ['a wildcard', { name: 'team', namespaces: ['*'] }],
  ['upper case', { name: 'team', namespaces: ['A'] }],
  ['a duplicate', { name: 'team', namespaces: ['a', 'a'] }],
  ['a long name', { name: 'a'.repeat(64), namespaces: ['a'] }],
  ['a system namespace', { name: 'team', namespaces: ['knative-eventing'] }],
  ['a platform namespace', { name: 'team', namespaces: ['kube-system'] }],
  ['the mesh\'s namespace', { name: 'team', namespaces: ['mesh'], istioNamespace: 'mesh' }],
  ['a misspelt field', { name: 'team', namespaces: ['a'], istioNamspace: 'x' }],
  ['both parts disabled', { name: 'team', namespaces: ['a'], serving: { enabled: false }, eventing: { enabled: false } }],
  ['empty receivers', { name: 'team', namespaces: ['a'], eventing: { receivers: [] } }],
  ['equal short names', { name: 'team', namespaces: ['a'], eventing: { receivers: [{ name: 'x', shortName: 's' }, { name: 'y', shortName: 's' }] } }],
]

describe('tenancy/chart', () => {
  it('is what policies/chart holds', () => {
    for (const { path, text } of files) expect(readFileSync(join('policies/chart', path), 'utf8'), path).to.equal(text)
  })

  it('uses only range, if, printf, quote, required and comparisons', () => {
    const words = files.filter(({ path }) => path.startsWith('templates/')).flatMap(({ text }) => [...text.matchAll(/\{\{-?(.*?)-?\}\}/g)])
      .flatMap(([, action = '']) => [...action.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').matchAll(/(?<![.$\w])[a-z]+/g)].map(([word]) => word))
    expect([...new Set(words)].sort()).to.deep.equal(['and', 'end', 'eq', 'if', 'ne', 'not', 'or', 'printf', 'quote', 'range', 'required'])
  })

  it('has a values schema that accepts the fixtures', () => {
    for (const [what, values] of FIXTURES) expect(validateSchema(merge(defaults, values)), `${what}: ${JSON.stringify(validateSchema.errors)}`).to.equal(true)
  })

  describe('rendered by Go', function () {
    let folder: string | undefined
    let results: { text: string; fault: string }[]
    const all = [...FIXTURES.map(([, values]) => values), ...REFUSED.map(([, values]) => values)]

    before(function () {
      if (spawnSync('go', ['version']).status !== 0) {
        process.stdout.write('SKIPPED: comparing the rendered chart with the generator needs the program go\n')
        this.skip()
      }
      this.timeout(120_000)
      const sandbox = mkdtempSync(join(tmpdir(), 'chart-'))
      folder = sandbox
      writeFileSync(join(sandbox, 'render.go'), RENDERER)
      const templates = files.filter(({ path }) => path.startsWith('templates/')).map(({ path, text }) => ({ Name: path, Text: text }))
      const input = JSON.stringify({ Templates: templates, Values: all.map((values) => merge(defaults, values)) })
      const environment = { PATH: process.env['PATH'], HOME: sandbox, GOCACHE: join(sandbox, 'cache'), GOFLAGS: '-mod=mod', GO111MODULE: 'off' }
      results = JSON.parse(execFileSync('go', ['run', 'render.go'], { cwd: sandbox, input, env: environment, maxBuffer: 64 * 1024 * 1024 }).toString()) as typeof results
    })
    after(() => { if (folder !== undefined) rmSync(folder, { recursive: true, force: true }) })

    for (const [index, [what, values, chartVersion]] of FIXTURES.entries()) {
      it(`gives the generator's documents, in order: ${what}`, () => {
        expect(results[index]?.fault).to.equal('')
        const { tenants, values: resolved } = resolveInputs(values, what, { chartVersion })
        const rendered = parseAllDocuments(results[index]!.text, { version: '1.1' }).map((document) => document.toJS() as unknown).filter((value) => value !== null)
        expect(rendered).to.deep.equal(tenants.flatMap((tenant) => generateTenant(tenant, resolved)))
      })
    }

    for (const [index, [what, values]] of REFUSED.entries()) {
      it(`refuses what the generator refuses: ${what}`, () => {
        expect(() => resolveInputs(values, what)).to.throw().with.property('code', 'TENANCY_INVALID')
        const isRefused = !validateSchema(merge(defaults, values)) || results[FIXTURES.length + index]!.fault !== ''
        expect(isRefused).to.equal(true)
      })
    }

    it('is rendered by Helm to the same documents, where Helm is on the path', function () {
      if (spawnSync('helm', ['version']).status !== 0) this.skip()
      const chart = join(process.cwd(), 'policies/chart')
      writeFileSync(join(folder!, 'values.json'), JSON.stringify(ALPHA))
      const text = execFileSync('helm', ['template', 'x', chart, '-f', 'values.json'], { cwd: folder! }).toString()
      const rendered = parseAllDocuments(text).map((document) => document.toJS() as unknown).filter((value) => value !== null)
      const { tenants, values } = resolveInputs(ALPHA, 'helm')
      expect(rendered).to.have.deep.members(tenants.flatMap((tenant) => generateTenant(tenant, values)))
    })
  })
})
