export { joinCluster, parentChannel, type ClusterMember } from './member.ts'
export { runPrimary } from './primary.ts'
