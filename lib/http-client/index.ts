export type { HttpClient, HttpClients, HttpRequest, HttpResponse, RequestHeaders } from './http-client.ts'
export type { HttpClientOptions, ProxyOptions, Redirects, ResilienceOptions, StoreOptions, Timeouts, TlsOptions } from './options.ts'
