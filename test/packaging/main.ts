import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkImage } from './check-image.ts'
import { checkInstalled } from './check-installed.ts'
import { checkPackage } from './check-package.ts'
import { buildStages, copyContext } from './image.ts'

// npm run package-check: builds the image's stages in clean directories, then checks what npm would publish, what an installed package
// does, and what the image would run. Takes about a minute: two clean installations are most of it.

const steps: { readonly name: string; readonly seconds: number; readonly faults: readonly string[] }[] = []

/** Takes a step, and tells what is wrong with it. */
async function step<Result>(name: string, take: () => Promise<{ readonly faults: readonly string[]; readonly result: Result }>): Promise<Result | undefined> {
  process.stdout.write(`== ${name}\n`)
  const start = performance.now()
  const { faults, result } = await take().catch((error: unknown) => ({ faults: [error instanceof Error ? error.message : String(error)], result: undefined }))
  for (const fault of faults) process.stdout.write(`  FAULT ${fault}\n`)
  steps.push({ name, faults, seconds: (performance.now() - start) / 1000 })
  return result
}

async function main(): Promise<number> {
  const base = await mkdtemp(join(tmpdir(), 'sonatina-package-'))
  // What runs without rights has to reach its files.
  await chmod(base, 0o755)
  try {
    const image = await step('image: the steps of the Dockerfile in clean directories', async () => {
      const context = join(base, 'context')
      await mkdir(context)
      await copyContext(context)
      return { faults: [], result: await buildStages(await readFile('Dockerfile', 'utf8'), context, base) }
    })
    if (image !== undefined) {
      const [name = ''] = await readdir(join(base, 'build/build/package'))
      const tarball = join(base, 'build/build/package', name)
      await step('package: contents, publint, are the types wrong', async () => ({ faults: await checkPackage(tarball), result: undefined }))
      await step('package: installed in an empty project', async () => ({ faults: await checkInstalled(tarball, join(base, 'project')), result: undefined }))
      await step('image: run without rights', async () => ({ faults: await checkImage(image, base), result: undefined }))
      process.stdout.write(`tarball ${size((await stat(tarball)).size)}, image without Node.js ${size(diskUse(image.root))}\n`)
    }
  } finally {
    await rm(base, { recursive: true, force: true })
  }
  for (const { name, seconds, faults } of steps) process.stdout.write(`${faults.length === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)\n`)
  return steps.every(({ faults }) => faults.length === 0) && steps.length === 4 ? 0 : 1
}

function diskUse(directory: string): number {
  return Number(spawnSync('du', ['-sb', directory], { encoding: 'utf8' }).stdout.split('\t')[0] ?? 0)
}

function size(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

process.exitCode = await main()
