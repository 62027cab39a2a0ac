export type { CloudEventRecord, EventMode } from './cloud-event.ts'
export {
  BATCH_MEDIA_TYPE,
  EVENT_MEDIA_TYPE,
  decodeAttributes,
  decodeHttp,
  encodeAttributes,
  encodeHttp,
  eventModeOf,
  isCloudEventRequest,
  type RequestHeaders,
} from './wire.ts'
export {
  decodeBatch,
  decodeStructured,
  encodeBatch,
  encodeStructured,
  fromDocument,
  toDocument,
} from './structured.ts'
export { assertAttributes, assertExtension, invalidEvent } from './attributes.ts'
export { isJsonMediaType, isUtf8, parseMediaType, type MediaType } from './media-type.ts'
export { MAX_JSON_DEPTH, decodeUtf8, parseJsonBytes } from './json-bytes.ts'
export { toJsonText } from './json-text.ts'
export { fromBase64, isBase64, toBase64 } from './base64.ts'
export { correlationOf, isCorrelated, isEventOf, type CorrelationValues } from './correlation.ts'
