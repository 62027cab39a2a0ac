export { startDevServices, type DevServices } from './start-dev-services.ts'
export { startAuthorizationServer, type AuthorizationServer } from './authorization-server.ts'
export { exchangeRate } from './acme.ts'
