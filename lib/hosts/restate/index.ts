export { createRestateHost, type RestateHostOptions } from './create-restate-host.ts'
