import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Clock } from '../common/index.ts'

interface Stored {
  readonly payload: AdapterPayload
  readonly expiresAt: number
}

/** Makes the storage class that oidc-provider wants: everything in memory, forgotten with the process. */
export function createTokenStore(clock: Clock): new (model: string) => Adapter {
  const records = new Map<string, Stored>()
  const grants = new Map<string, Set<string>>()
  return class TokenStore implements Adapter {
    readonly #model: string

    constructor(model: string) {
      this.#model = model
    }

    upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void> {
      const key = this.#key(id)
      records.set(key, { payload, expiresAt: expiresIn > 0 ? clock.now() + expiresIn * 1000 : Infinity })
      if (payload.grantId !== undefined) {
        const members = grants.get(payload.grantId) ?? new Set<string>()
        grants.set(payload.grantId, members.add(key))
      }
      return Promise.resolve()
    }

    find(id: string): Promise<AdapterPayload | undefined> {
      const key = this.#key(id)
      const stored = records.get(key)
      if (stored && stored.expiresAt > clock.now()) return Promise.resolve(stored.payload)
      records.delete(key)
      return Promise.resolve(undefined)
    }

    findByUid(uid: string): Promise<AdapterPayload | undefined> {
      return this.#search((payload) => payload.uid === uid)
    }

    findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
      return this.#search((payload) => payload.userCode === userCode)
    }

    consume(id: string): Promise<void> {
      const stored = records.get(this.#key(id))
      if (stored) stored.payload.consumed = Math.floor(clock.now() / 1000)
      return Promise.resolve()
    }

    destroy(id: string): Promise<void> {
      records.delete(this.#key(id))
      return Promise.resolve()
    }

    revokeByGrantId(grantId: string): Promise<void> {
      for (const key of grants.get(grantId) ?? []) records.delete(key)
      grants.delete(grantId)
      return Promise.resolve()
    }

    #key(id: string): string {
      return `${this.#model} ${id}`
    }

    #search(matches: (payload: AdapterPayload) => boolean): Promise<AdapterPayload | undefined> {
      for (const [key, { payload, expiresAt }] of records) {
        if (key.startsWith(`${this.#model} `) && expiresAt > clock.now() && matches(payload)) return Promise.resolve(payload)
      }
      return Promise.resolve(undefined)
    }
  }
}
