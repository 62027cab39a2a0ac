export { deploy, type DeployOptions } from './deploy.ts'
export { createLoader, type Loader } from './loader.ts'
export { createRegistry, type Registry } from './registry.ts'
export { watchFiles } from './watch.ts'
