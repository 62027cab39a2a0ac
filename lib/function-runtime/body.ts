import type { IncomingMessage } from 'node:http'
import { RequestError } from '../errors/index.ts'

const EMPTY = new Uint8Array(0)

/**
 * Reads the body of a request as bytes (limits of http-contract.md §8).
 *
 * @returns an empty array when there is no body
 * @throws {@link RequestError} `BODY_TOO_LARGE`; `REQUEST_INVALID` when the caller breaks off
 */
export function readBody(request: IncomingMessage, maxSize: number): Promise<Uint8Array> {
  const { 'content-length': announced, 'transfer-encoding': chunked } = request.headers
  if (chunked === undefined && (announced === undefined || announced === '0')) return Promise.resolve(EMPTY)
  if (Number(announced) > maxSize) return Promise.reject(tooLarge(maxSize))
  // Its events have passed: nobody would hear of it again.
  if (request.destroyed) return Promise.reject(brokenOff())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const finish = (settle: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      settle()
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.byteLength
      if (size <= maxSize) {
        chunks.push(chunk)
        return
      }
      // What follows is not read: the connection is closed after the answer.
      request.pause()
      finish(() => { reject(tooLarge(maxSize)) })
    }
    const onEnd = (): void => {
      const [only] = chunks
      finish(() => { resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)) })
    }
    const onBroken = (): void => {
      finish(() => { reject(brokenOff()) })
    }
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

function brokenOff(): RequestError {
  return new RequestError({ code: 'REQUEST_INVALID', message: 'The caller broke off before the body was complete' })
}

function tooLarge(maxSize: number): RequestError {
  return new RequestError({ code: 'BODY_TOO_LARGE', message: `The body is larger than ${String(maxSize)} bytes` })
}
