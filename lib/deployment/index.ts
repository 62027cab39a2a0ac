export { deploy, type DeployOptions } from './deploy.ts'
export { createRegistry, type Registry } from './registry.ts'
