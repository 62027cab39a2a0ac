// The package carries no types; these are the parts that are used, as version 3.37.3 has them.
declare module 'swagger-client' {
  interface ResolveResult {
    readonly spec: unknown
    readonly errors: readonly { readonly message?: string; readonly fullPath?: readonly (string | number)[] }[]
  }

  interface BuildRequestOptions {
    readonly spec: unknown
    readonly operationId: string
    readonly parameters?: Readonly<Record<string, unknown>>
    readonly requestBody?: unknown
    readonly requestContentType?: string
    readonly baseURL?: string
  }

  interface BuiltSwaggerRequest {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, unknown>>
    readonly body?: unknown
  }

  type Resolve = (options: {
    readonly spec: unknown
    readonly baseDoc?: string
    readonly http?: (request: { readonly url: string }) => Promise<unknown>
  }) => Promise<ResolveResult>

  interface SwaggerClient {
    resolve: Resolve
    buildRequest(options: BuildRequestOptions): BuiltSwaggerRequest
    clearCache(): void
  }

  namespace client { export type { Resolve } }
  const client: SwaggerClient
  export = client
}

// Resolves Swagger 2.0 and OpenAPI 3.0, not 3.1.
declare module 'swagger-client/lib/resolver/index.js' {
  import type { Resolve } from 'swagger-client'

  const resolver: Resolve | { readonly default: Resolve }
  export = resolver
}
