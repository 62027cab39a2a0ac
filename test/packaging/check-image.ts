import { spawnSync } from 'node:child_process'
import { cp, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { send } from '../unit/server/setup.ts'
import type { Stage } from './image.ts'
import { startProgram } from './program.ts'

const WAITING = { id: 'waiting', version: '1.0', specVersion: '0.8', start: 'Wait', states: [{ name: 'Wait', type: 'sleep', duration: 'PT1H', end: true }] }

/** Runs what an image runs, as its user, with a project that may only be read; gives what is wrong. */
export async function checkImage(image: Stage, base: string): Promise<string[]> {
  const faults: string[] = []
  const expect = (what: string, isSo: boolean): void => { if (!isSo) faults.push(what) }
  const cwd = join(image.root, image.directory)
  await mkdir(join(cwd, 'project'))
  await cp('workflows/parallel.sw.json', join(cwd, 'project/parallel.sw.json'))
  await writeFile(join(cwd, 'project/waiting.sw.json'), JSON.stringify(WAITING))
  const store = join(image.root, 'var/lib/sonatina')
  // Where nobody is root, there is no other user to be.
  const user = process.getuid?.() === 0 ? { user: image.user } : {}
  const environment = {
    ...image.environment,
    SONATINA_HTTP_HOST: '127.0.0.1',
    SONATINA_HTTP_PORT: '0',
    SONATINA_STORE_SQLITE_FILE: join(store, 'sonatina.db'),
    HOME: join(base, 'nowhere'),
  }
  const program = await startProgram([...image.entrypoint, ...image.command], { cwd, environment, ...user })
  try {
    const { status } = await send(program.port, 'POST', '/parallel', { body: {} })
    expect(`POST /parallel came to ${String(status)}`, status === 201)
    const waiting = await send(program.port, 'POST', '/waiting', { body: {} })
    expect(`POST /waiting came to ${String(waiting.status)}: ${waiting.text}`, waiting.status === 201)
    const owner = await stat(join(store, 'sonatina.db')).then(({ uid }) => uid, () => undefined)
    expect('the store is not in its directory', owner !== undefined)
    expect(`the process is user ${String(owner)}`, owner === undefined || owner === (user.user ?? process.getuid?.()))
    const health = askHealth(image, { ...environment, SONATINA_HTTP_PORT: String(program.port) })
    expect(`the health check came to ${String(health.status)}: ${health.stderr}`, health.status === 0)
  } finally {
    const code = await program.stop()
    expect(`it stopped with ${String(code)}:\n${program.output()}`, code === 0)
  }
  expect('the health check is blind', askHealth(image, { ...environment, SONATINA_HTTP_PORT: String(program.port) }).status === 1)
  expect('something was written into the project', (await readdir(join(cwd, 'project'))).length === 2)
  return faults
}

function askHealth({ healthCheck: [command = '', ...args], root, directory }: Stage, environment: Readonly<Record<string, string>>): { readonly status: number | null; readonly stderr: string } {
  return spawnSync(command, args, { cwd: join(root, directory), env: { ...process.env, ...environment }, encoding: 'utf8' })
}
