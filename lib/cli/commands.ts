import type { policiesCommand } from './commands/policies.ts'
import type { Command } from './io.ts'

/** A command as `sonatina --help` lists it. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  /** Loads the command; what is not called costs no start-up time. */
  readonly load: () => Promise<Command>
}

/** All commands, in the order of the help. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: 'serve', summary: 'Serve the definitions of a directory over HTTP', load: async () => (await import('./commands/serve.ts')).serveCommand },
  { name: 'dev', summary: 'Serve in profile dev: dev services, inspector, Swagger UI, watched files', load: async () => (await import('./commands/serve.ts')).devCommand },
  { name: 'validate', summary: 'Check definitions and list everything that is wrong with them', load: async () => (await import('./commands/validate.ts')).validateCommand },
  { name: 'eval', summary: 'Evaluate a jq, JSONata or JSONPath expression', load: async () => (await import('./commands/eval.ts')).evalCommand },
  { name: 'diagram', summary: 'Draw a definition as SVG, Mermaid, DOT or JSON', load: async () => (await import('./commands/diagram.ts')).diagramCommand },
  { name: 'functions', summary: 'Serve functions of modules over HTTP and CloudEvents', load: async () => (await import('./commands/functions.ts')).functionsCommand },
  { name: 'policies', summary: 'Generate, check and audit the Istio policies of tenants', load: async () => policies((await import('./commands/policies.ts')).policiesCommand) },
  { name: 'store', summary: 'Look after the store of waiting instances', load: async () => (await import('./commands/store.ts')).storeCommand },
  { name: 'health', summary: 'Ask the service of a project whether it is well', load: async () => (await import('./commands/health.ts')).healthCommand },
  { name: 'manifest', summary: 'Print the Kubernetes documents of a project', load: async () => (await import('./commands/manifest.ts')).manifestCommand },
  { name: 'config', summary: 'Print every effective setting, or explain one', load: async () => (await import('./commands/config.ts')).configCommand },
]

/** Documents are written as they are, without a line end of the terminal's. */
function policies(command: typeof policiesCommand): Command {
  return (args, io) => command(args, {
    stdout: (text) => { io.out(text.replace(/\n$/, '')) },
    stderr: (text) => { io.err(text.replace(/\n$/, '')) },
    readStdin: () => io.read(),
  })
}
