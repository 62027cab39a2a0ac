// Receives the messages of official XState inspection clients from the window that opened or frames this page. What comes is data:
// it is drawn and shown as text, never run.

const MOST_LENGTH = 1_000_000
const MOST_MESSAGES = 10_000
const SHOWN = 100

const $ = (id) => document.getElementById(id)
const partner = window.parent !== window ? window.parent : window.opener
/** @type {Map<string, { name: string, definition?: string, svg?: SVGElement, snapshot?: object, messages: object[] }>} */
const actors = new Map()
const counts = { taken: 0, ignored: 0 }
let origin
let picked

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** Tells whether a message is one of the protocol, of a size that can be shown. */
function isMessage(value) {
  return typeof value === 'object' && value !== null && typeof value.type === 'string' && value.type.startsWith('@xstate.') &&
    typeof value._version === 'string' && typeof value.sessionId === 'string' && JSON.stringify(value).length <= MOST_LENGTH
}

function take(message) {
  const actor = actors.get(message.sessionId) ?? { name: message.name ?? message.sessionId, messages: [] }
  actors.set(message.sessionId, actor)
  if (message.type === '@xstate.actor') {
    actor.name = String(message.name ?? message.sessionId)
    actor.definition = typeof message.definition === 'string' ? message.definition : undefined
    actor.parent = message.parentId
  }
  if (message.snapshot !== undefined) actor.snapshot = message.snapshot
  actor.messages.push(message)
  if (actor.messages.length > SHOWN) actor.messages.shift()
  picked ??= message.sessionId
}

let waiting
function show() {
  waiting ??= setTimeout(() => { waiting = undefined; void draw() }, 60)
}

async function draw() {
  document.body.dataset.taken = String(counts.taken)
  document.body.dataset.ignored = String(counts.ignored)
  $('actors').replaceChildren(...[...actors].map(([id, { name, snapshot, parent }]) => {
    const button = element('button', { type: 'button', onclick: () => { picked = id; show() } }, element('b', {}, name),
      element('small', {}, `${id}${parent === undefined ? '' : ` of ${parent}`} · ${snapshot?.status ?? 'active'}`))
    button.setAttribute('aria-current', String(id === picked))
    return element('li', {}, button)
  }))
  const actor = actors.get(picked)
  if (actor === undefined) return
  $('snapshot').textContent = JSON.stringify(actor.snapshot ?? null, undefined, 2).slice(0, 20_000)
  $('messages').replaceChildren(...actor.messages.toReversed().map(({ type, event }) => element('li', { className: 'box' }, `${type.replace('@xstate.', '')} ${event?.type ?? ''}`)))
  const shown = picked
  actor.svg ??= await chartOf(actor)
  if (shown !== picked || actor.svg === undefined) return
  if ($('view').firstChild !== actor.svg) $('view').replaceChildren(actor.svg)
  mark(actor)
}

async function chartOf({ definition }) {
  if (definition === undefined) return undefined
  try {
    const response = await fetch('inspect/api/draw', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: definition })
    if (!response.ok) return undefined
    const chart = document.importNode(new DOMParser().parseFromString(await response.text(), 'image/svg+xml').documentElement, true)
    chart.setAttribute('style', 'max-width:100%;height:auto')
    return chart
  } catch {
    // The definition is none, or the server is away: the messages are shown all the same.
    return undefined
  }
}

function mark({ svg, snapshot }) {
  const active = new Set()
  const walk = (value, path) => {
    if (typeof value === 'string') active.add(`${path}-${value}`)
    else if (typeof value === 'object' && value !== null) for (const [key, below] of Object.entries(value)) { active.add(`${path}-${key}`); walk(below, `${path}-${key}`) }
  }
  walk(snapshot?.value, 'root')
  for (const node of svg.querySelectorAll('.node')) node.classList.toggle('is-active', active.has(node.dataset.id))
}

window.addEventListener('message', ({ data, source, origin: from }) => {
  // Only whoever opened this page is heard, and always from the same origin.
  if (source !== partner || (origin !== undefined && from !== origin)) return
  const value = typeof data === 'string' ? parse(data) : data
  if (!isMessage(value) || counts.taken >= MOST_MESSAGES) {
    counts.ignored += 1
    return show()
  }
  origin ??= from
  counts.taken += 1
  $('live').dataset.state = 'live'
  $('live').querySelector('.word').textContent = 'live'
  take(value)
  show()
})

function parse(text) {
  try {
    return text.length > MOST_LENGTH ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

// The greeting carries nothing; where the partner's origin is known it goes to that one alone.
if (partner !== null) partner.postMessage({ type: '@statelyai.connected' }, document.referrer === '' ? '*' : new URL(document.referrer).origin)
