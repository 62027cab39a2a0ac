import { below, setting, type SettingDefinition } from './definition.ts'

/** Attributes that remote REST services and token requests share (configuration.md §3). */
const CONNECTION: readonly SettingDefinition[] = [
  setting('proxy-address', 'text', 'Proxy as `host:port`; `none` disables it. https goes through CONNECT.', {
    defaultText: '`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, only with `sonatina.http-client.environment-proxy=true`',
  }),
  setting('proxy-user', 'text', 'User at the proxy.'),
  setting('proxy-password', 'text', 'Password at the proxy.'),
  setting('non-proxy-hosts', 'list', 'Hosts reached without the proxy; `*` matches any part. `|` separates too.'),
  setting('trust-store', 'text', 'File of trusted certificates: PEM or PKCS12.', { defaultText: 'system roots' }),
  setting('trust-store-password', 'text', 'Password of the PKCS12 trust store.'),
  setting('trust-store-type', 'choice', 'Format of the trust store.', { values: ['PEM', 'PKCS12', 'JKS'], defaultText: 'by content; JKS is refused' }),
  setting('key-store', 'text', 'Client certificate: PEM with certificate and key, or PKCS12 (mutual TLS).'),
  setting('key-store-password', 'text', 'Password of the key store.'),
  setting('key-store-type', 'choice', 'Format of the key store.', { values: ['PEM', 'PKCS12', 'JKS'], defaultText: 'by content; JKS is refused' }),
  setting('verify-host', 'boolean', 'Whether the server must prove its name; `false` is logged as a warning at every start.', { default: 'true' }),
]

const RESILIENCE: readonly SettingDefinition[] = [
  setting('retry.max-attempts', 'integer', 'Extra attempts after 408, 425, 429, 500, 502, 503, 504, a timeout or a lost connection; only for idempotent methods, or with an `Idempotency-Key`.', { default: '0', min: 0, max: 20 }),
  setting('retry.delay', 'duration', 'Pause before the first extra attempt; it doubles, with jitter.', { unit: 'ms', default: '200' }),
  setting('retry.max-delay', 'duration', 'Longest pause.', { unit: 'ms', default: '10000' }),
  setting('circuit-breaker.failures', 'integer', 'Failures in a row (connection, timeout, 5xx) that open the circuit; 0 turns it off.', { default: '0', min: 0 }),
  setting('circuit-breaker.delay', 'duration', 'How long an open circuit refuses calls before it tries one.', { unit: 'ms', default: '5000' }),
  setting('bulkhead.max-concurrent', 'integer', 'Calls at a time; 0 turns it off.', { default: '0', min: 0 }),
  setting('bulkhead.max-waiting', 'integer', 'Calls that may wait for their turn; further ones fail at once.', { default: '10', min: 0 }),
]

/** `sonatina.rest-client.<file>.*` */
export const REST_CLIENT: readonly SettingDefinition[] = below('sonatina.rest-client.<file>.', ['quarkus.rest-client.<file>.', 'kogito.sw.openapi.<file>.'], [
  setting('url', 'text', 'Root address; the operation path is appended to it, a base path is kept.', { aliases: ['uri'], defaultText: 'first usable `servers` entry of the document' }),
  setting('connect-timeout', 'duration', 'Time to connect, TLS included.', { unit: 'ms', default: '15000' }),
  setting('read-timeout', 'duration', 'Longest silence of the server.', { unit: 'ms', default: '30000' }),
  setting('total-timeout', 'duration', 'Longest call, from first to last byte.', { unit: 'ms', default: '120000' }),
  setting('follow-redirects', 'boolean', 'Whether 3xx answers are followed, on the same origin.', { default: 'false' }),
  setting('max-redirects', 'integer', 'How many redirects in a row.', { default: '5', min: 0, max: 20 }),
  setting('redirect-other-origins', 'boolean', 'Whether a redirect may lead to another origin; credentials are dropped then.', { default: 'false' }),
  setting('headers.<name>', 'text', 'Fixed header of every call.'),
  ...CONNECTION,
  setting('hostname-verifier', 'text', 'Only `io.quarkus.restclient.NoopHostnameVerifier` is known; it needs `verify-host=false`.'),
  setting('connection-pool-size', 'integer', 'Connections at most, per origin.', { default: '64', min: 1, max: 10000 }),
  setting('connection-ttl', 'duration', 'Longest use of one connection.', { unit: 'ms', defaultText: 'none' }),
  setting('keep-alive-enabled', 'boolean', 'Whether connections are used again.', { default: 'true' }),
  setting('user-agent', 'text', 'Value of `User-Agent`.', { defaultText: '`sonatina/<version>`' }),
  setting('query-param-style', 'choice', 'Form of query arrays whose document says nothing.', { values: ['MULTI_PAIRS', 'COMMA_SEPARATED', 'ARRAY_PAIRS'], default: 'MULTI_PAIRS' }),
  setting('max-response-size', 'size', 'Largest answer, counted after decompression.', { default: '10M' }),
  setting('retry-on-connect', 'integer', 'Extra attempts when no byte was sent.', { default: '1', min: 0, max: 10 }),
  ...RESILIENCE,
  ...['providers', 'scope', 'shared', 'name', 'multipart.<name>'].map((key) =>
    setting(key, 'text', 'Accepted without effect.', { ignored: true })),
])

const JWT: readonly SettingDefinition[] = below('credentials.jwt.', [], [
  setting('secret', 'text', 'Secret that signs the assertion (HS256).'),
  setting('secret-provider.name', 'text', 'Credentials provider of that secret.'),
  setting('secret-provider.keyring-name', 'text', 'Keyring of the provider.'),
  setting('secret-provider.key', 'text', 'Name of the secret at the provider.'),
  setting('key', 'text', 'Private key, PKCS8 PEM or its base64 body.'),
  setting('key-file', 'text', 'File of the private key: PEM or JWK.'),
  setting('key-store-file', 'text', 'PKCS12 store of the private key; JKS is refused.'),
  setting('key-store-password', 'text', 'Password of the store.'),
  setting('key-id', 'text', 'Key id (`kid`) of the assertion.'),
  setting('token-key-id', 'text', 'The same as `key-id`.'),
  setting('signature-algorithm', 'choice', 'Signature.', {
    values: ['HS256', 'HS384', 'HS512', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
    defaultText: 'HS256 with a secret, RS256 or ES256 by the key',
  }),
  setting('audience', 'text', '`aud` of the assertion.', { defaultText: 'the token address' }),
  setting('issuer', 'text', '`iss` of the assertion.', { defaultText: 'the client id' }),
  setting('subject', 'text', '`sub` of the assertion.', { defaultText: 'the client id' }),
  setting('claims.<name>', 'text', 'A further claim.'),
  setting('lifespan', 'integer', 'Life of the assertion in seconds.', { default: '10', min: 1, max: 3600 }),
  setting('source', 'choice', 'Where the assertion comes from.', { values: ['client'], default: 'client' }),
])

/** `sonatina.oidc-client.<scheme>.*` */
export const OIDC_CLIENT: readonly SettingDefinition[] = below('sonatina.oidc-client.<scheme>.', ['quarkus.oidc-client.<scheme>.'], [
  setting('client-enabled', 'boolean', '`false`: the scheme counts as not configured.', { default: 'true' }),
  setting('auth-server-url', 'text', 'Issuer for discovery, or base of a relative `token-path`.'),
  setting('discovery-enabled', 'boolean', 'Whether `<auth-server-url>/.well-known/openid-configuration` is read.', { default: 'true', defaultText: 'true; false in effect without `auth-server-url`' }),
  setting('token-path', 'text', 'Token address, absolute or relative to `auth-server-url`.', { defaultText: 'discovery, else `tokenUrl` of the document' }),
  setting('revoke-path', 'text', 'Revocation address; accepted without effect.', { ignored: true }),
  setting('client-id', 'text', 'Identity of the client.'),
  setting('client-name', 'text', 'Another name of the client; accepted without effect.', { ignored: true }),
  setting('credentials.secret', 'text', 'Short form of `credentials.client-secret.value` with method `basic`; both set is an error.'),
  setting('credentials.client-secret.value', 'text', 'Secret of the client.'),
  setting('credentials.client-secret.method', 'choice', 'How id and secret are sent.', { values: ['basic', 'post', 'post_jwt', 'query'], default: 'basic' }),
  setting('credentials.client-secret.provider.name', 'text', 'Credentials provider that knows the secret.'),
  setting('credentials.client-secret.provider.keyring-name', 'text', 'Keyring of the provider.'),
  setting('credentials.client-secret.provider.key', 'text', 'Name of the secret at the provider.'),
  setting('credentials.client-secret.encode', 'boolean', 'Form-encode id and secret before Basic (RFC 6749 §2.3.1).', { default: 'true' }),
  ...JWT,
  setting('scopes', 'list', 'Scopes to ask for; absent: no `scope` parameter.'),
  setting('grant.type', 'choice', 'Grant.', { values: ['client', 'password', 'refresh', 'exchange', 'jwt', 'code', 'ciba', 'device'], default: 'client', defaultText: 'client; `code`, `ciba` and `device` are refused: they need a user' }),
  setting('grant-options.<grant>.<parameter>', 'text', 'Parameter of the token request, such as `grant-options.password.username`.'),
  setting('grant.access-token-property', 'text', 'Name in the answer.', { default: 'access_token' }),
  setting('grant.refresh-token-property', 'text', 'Name in the answer.', { default: 'refresh_token' }),
  setting('grant.expires-in-property', 'text', 'Name in the answer.', { default: 'expires_in' }),
  setting('grant.refresh-expires-in-property', 'text', 'Name in the answer.', { default: 'refresh_expires_in' }),
  setting('access-token-expires-in', 'duration', 'Life of a token whose answer states none.', { unit: 's', default: '60' }),
  setting('access-token-expiry-skew', 'duration', 'Renew this much earlier, at most half the life.', { unit: 's', default: '5' }),
  setting('refresh-token-time-skew', 'duration', 'Stop using a refresh token this much before its end.', { unit: 's', default: '5' }),
  setting('refresh-interval', 'duration', 'Renew in the background this often.', { unit: 's', defaultText: 'off' }),
  setting('absolute-expires-in', 'boolean', 'The number in the answer is a Unix time.', { default: 'false' }),
  setting('early-tokens-acquisition', 'boolean', 'Fetch a token at start; a failure is only a warning.', { default: 'false' }),
  setting('headers.<name>', 'text', 'Header of the token request.'),
  setting('connection-timeout', 'duration', 'Time to connect, and for the whole token request.', { unit: 's', default: '10' }),
  ...below('tls.', [], CONNECTION.filter((row) => !row.key.includes('proxy'))),
  setting('tls.verification', 'choice', '`none` is `tls.verify-host=false`.', { values: ['required', 'certificate-validation', 'none'], default: 'required' }),
  setting('proxy.host', 'text', 'Proxy host of the token request.'),
  setting('proxy.port', 'integer', 'Proxy port.', { default: '80', min: 1, max: 65535 }),
  setting('proxy.username', 'text', 'User at the proxy.'),
  setting('proxy.password', 'text', 'Password at the proxy.'),
])

/** `sonatina.openapi-generator.*`, token exchange, credentials providers, forwarding. */
export const SECURITY_SCHEMES: readonly SettingDefinition[] = [
  ...below('sonatina.openapi-generator.<file>.auth.<scheme>.', ['quarkus.openapi-generator.<file>.auth.<scheme>.'], [
    setting('username', 'text', 'User of http basic; holds no `:`.'),
    setting('password', 'text', 'Password of http basic.'),
    setting('bearer-token', 'text', 'Token of http bearer.'),
    setting('api-key', 'text', 'Value of an apiKey scheme, prefix included.'),
    setting('token-propagation', 'boolean', "Send the caller's header on.", { default: 'false' }),
    setting('header-name', 'text', "The caller's header to send on.", { default: 'Authorization' }),
    setting('use-authorization-header-value', 'boolean', 'Accepted without effect.', { ignored: true }),
  ]),
  ...below('sonatina.openapi-generator.codegen.spec.<file>.', ['quarkus.openapi-generator.codegen.spec.<file>.'], [
    setting('base-package', 'text', 'Accepted without effect: no code is generated.', { ignored: true }),
    setting('enable-security-generation', 'boolean', '`false` turns authorization of the document off.', { default: 'true' }),
  ]),
  setting('sonatina.security.auth.<scheme>.token-exchange.enabled', 'boolean', "Exchange the caller's token (RFC 8693); the client has `grant.type=exchange`.", { aliases: ['sonataflow.security.auth.<scheme>.token-exchange.enabled'], default: 'false' }),
  setting('sonatina.security.auth.<scheme>.token-exchange.proactive-refresh-seconds', 'duration', 'Renew an exchanged token this much before its end while its instance lives.', { unit: 's', aliases: ['sonataflow.security.auth.<scheme>.token-exchange.proactive-refresh-seconds'], default: '300' }),
  setting('sonatina.security.auth.token-exchange.monitor-rate-seconds', 'duration', 'How often exchanged tokens are looked at.', { unit: 's', aliases: ['sonataflow.security.auth.token-exchange.monitor-rate-seconds'], default: '60' }),
  setting('sonatina.auth.fail-fast', 'boolean', 'A scheme without a client stops the start.', { default: 'false' }),
  setting('sonatina.credentials-provider.<name>.directory', 'text', 'Directory with a file for each key, read again when it changes.'),
  setting('sonatina.headers.forward', 'list', 'Inbound headers sent on to remote services; credentials and connection headers are refused.', { defaultText: 'none' }),
]
