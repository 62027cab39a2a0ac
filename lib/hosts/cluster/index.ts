export { createClusterHost } from './create-cluster-host.ts'
export { ownerOf, type ClusterLink } from './link.ts'
