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

  interface SwaggerClient {
    resolve(options: {
      readonly spec: unknown
      readonly baseDoc?: string
      readonly http?: (request: { readonly url: string }) => Promise<unknown>
    }): Promise<ResolveResult>
    buildRequest(options: BuildRequestOptions): BuiltSwaggerRequest
    clearCache(): void
  }

  const client: SwaggerClient
  export = client
}
