export { startDevServices, type DevServices, type DevServicesOptions } from './start-dev-services.ts'
export { startAuthorizationServer, type AuthorizationServer, type AuthorizationServerOptions } from './authorization-server.ts'
export { exchangeRate } from './acme.ts'
