import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { createSettings, type Settings, type SettingsOptions } from '../../configuration/index.ts'
import { servingFacts } from '../../manifest/index.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, parseSettings, readDirectory, usageError } from '../usage.ts'

const HELP = `sonatina health [DIRECTORY] [options]

Asks the service of a project on this machine whether it is well, where its settings say that it listens: for the health check of a container.

  --check NAME       live, ready or started                  (live)
  --profile NAME     configuration profile
  --set KEY=VALUE    a setting; also -DKEY=VALUE; repeatable
  --help             this text

Exit code 0: it is; 1: it is not, or does not answer; 2: called wrongly.`

const CHECKS: readonly string[] = ['live', 'ready', 'started']

/** Longest wait for an answer, in milliseconds. */
const PATIENCE = 4000

/** Runs `sonatina health`. */
export function healthCommand(args: readonly string[], io: CommandIo): Promise<number> {
  return askHealth(args, io)
}

/** Asks for the health; `environment` is handed in by tests. @throws {@link UsageError} for wrong arguments */
export async function askHealth(args: readonly string[], io: CommandIo, environment?: SettingsOptions['environment']): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    check: { type: 'string' },
    profile: { type: 'string' },
    set: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  const [place, ...others] = positionals
  if (others.length > 0) throw usageError('one project directory at a time')
  const check = typeof values['check'] === 'string' ? values['check'] : 'live'
  if (!CHECKS.includes(check)) throw usageError(`--check ${check} is none of ${CHECKS.join(', ')}`)
  const settings = await createSettings({
    root: await readDirectory(place, io.cwd),
    workingDirectory: io.cwd,
    arguments: Object.entries(parseSettings((values['set'] ?? []) as readonly string[])).map(([key, value]) => `${key}=${value}`),
    ...(typeof values['profile'] === 'string' ? { profile: values['profile'] } : {}),
    ...(environment === undefined ? {} : { environment }),
  })
  const { isWell, text } = await ask(settings, check)
  if (isWell) io.out(text)
  else io.err(text)
  return isWell ? 0 : 1
}

interface Health {
  readonly isWell: boolean
  readonly text: string
}

function ask(settings: Settings, check: string): Promise<Health> {
  const { port, managementPort, probe, rootPath } = servingFacts(settings)
  const address = { host: localHost(settings), port: managementPort ?? port }
  return probe === 'tcp' ? knock(address) : read({ ...address, path: `${rootPath}/q/health/${check}` }, probe)
}

/** What listens everywhere also listens here. */
function localHost(settings: Settings): string {
  const host = settings.text('sonatina.http.host', '127.0.0.1')
  return host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
}

interface Address {
  readonly host: string
  readonly port: number
}

function read(target: Address & { readonly path: string }, protocol: 'http' | 'https'): Promise<Health> {
  const options = { ...target, agent: false, timeout: PATIENCE }
  return new Promise((answer) => {
    // The certificate names the service, not this machine.
    const request = protocol === 'https' ? httpsRequest({ ...options, rejectUnauthorized: false }) : httpRequest(options)
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => { chunks.push(chunk) })
      response.once('end', () => { answer({ isWell: response.statusCode === 200, text: Buffer.concat(chunks).toString('utf8').trim() }) })
    })
    const silent = (reason: string): void => {
      request.destroy()
      answer({ isWell: false, text: `${target.host}:${String(target.port)} does not answer: ${reason}` })
    }
    request.once('timeout', () => { silent('it takes too long') })
    request.on('error', ({ message }) => { silent(message) })
    request.end()
  })
}

/** Where a client certificate is asked for, an open port has to do. */
function knock({ host, port }: Address): Promise<Health> {
  return new Promise((answer) => {
    const socket = connect({ host, port, timeout: PATIENCE })
    const end = (isWell: boolean, text: string): void => {
      socket.destroy()
      answer({ isWell, text })
    }
    socket.once('connect', () => { end(true, `${host}:${String(port)} is open`) })
    socket.once('timeout', () => { end(false, `${host}:${String(port)} does not answer in time`) })
    socket.once('error', ({ message }) => { end(false, `${host}:${String(port)} does not answer: ${message}`) })
  })
}
