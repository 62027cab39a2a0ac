export { joinCluster, parentChannel } from './member.ts'
export { runPrimary } from './primary.ts'
