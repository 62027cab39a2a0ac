// The page of the inspector. It shows what the server has worked out and only marks the charts; all texts are set as text.

/** @typedef {{ id: string, workflowId: string, version: string, status: string, startedAt: number, endedAt?: number, businessKey?: string, parentInstanceId?: string }} Summary */

const base = new URL('inspect/', document.baseURI.replace(/\/inspect.*$/, '/')).pathname
const $ = (id) => document.getElementById(id)
const query = new URLSearchParams(location.search)

const state = {
  workflow: query.get('workflow') ?? '', instance: query.get('instance') ?? '', state: query.get('state') ?? '',
  view: query.get('view') ?? 'Diagram', tab: query.get('tab') ?? 'Timeline', statuses: new Set(), text: '',
  workflows: [], control: false, /** @type {Summary[]} */ instances: [], next: undefined, detail: undefined, diagram: undefined, scale: 1,
}

const ICONS = { active: '●', waiting: '◔', completed: '✓', done: '✓', error: '✕', failed: '✕', handled: '✕', aborted: '–', cancelled: '–' }
const WORDS = { handled: 'failed, handled' }

/** Makes an element; texts stay texts. */
function h(name, properties = {}, ...children) {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || (value === false && !key.startsWith('aria-'))) continue
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true && !key.startsWith('aria-') ? '' : String(value))
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== false))
  return element
}

const svg = (name, attributes, ...children) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  element.append(...children)
  return element
}

const status = (word, text = WORDS[word] ?? word) => h('span', { class: `status s-${word}` }, `${ICONS[word] ?? '·'} ${text}`)
const button = (text, onclick, more = {}) => h('button', { type: 'button', onclick, ...more }, text)
const current = () => state.workflows.find(({ id }) => id === state.workflow)

// --- words ---

function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`
  if (milliseconds < 3_600_000) return `${Math.floor(milliseconds / 60_000)} min ${Math.round(milliseconds % 60_000 / 1000)} s`
  return `${Math.floor(milliseconds / 3_600_000)} h ${Math.round(milliseconds % 3_600_000 / 60_000)} min`
}

const ago = (at) => (Date.now() - at < 2000 ? 'now' : `${duration(Math.floor((Date.now() - at) / 1000) * 1000).replace('.0 s', ' s')} ago`)
const took = ({ startedAt, endedAt }) => duration((endedAt ?? Date.now()) - startedAt)
const MOST_SHOWN = 20_000
const pretty = (value) => {
  const text = JSON.stringify(value, undefined, 2) ?? '–'
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n… (${text.length - MOST_SHOWN} more characters: download the instance)` : text
}

// --- server ---

async function ask(path, options = {}) {
  const token = sessionStorage.getItem('inspect-token')
  const response = await fetch(base + path, { ...options, headers: { ...options.headers, ...(token === null ? {} : { Authorization: `Bearer ${token}` }) } })
  if (response.status === 401) askToken()
  if (response.ok) return response
  const problem = await response.json().catch(() => ({}))
  throw new Error(problem.message ?? `The server answered ${response.status}`)
}
const read = async (path) => (await ask(path)).json()
const post = async (path, body = {}) => (await ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json()
const workflowPath = (file) => `api/workflows/${encodeURIComponent(state.workflow)}/${file}`

// --- address ---

function remember() {
  const kept = Object.entries({ workflow: state.workflow, instance: state.instance, state: state.state, view: state.view, tab: state.tab })
    .filter(([key, value]) => value !== '' && !(key === 'view' && value === 'Diagram') && !(key === 'tab' && value === 'Timeline'))
  const search = new URLSearchParams(kept).toString()
  history.replaceState(null, '', `${location.pathname}${search === '' ? '' : `?${search}`}`)
  const known = state.detail === undefined ? '' : ` ${state.detail.status}`
  document.title = `${state.workflow}${known}${state.workflow === '' ? '' : ' – '}Sonatina inspector`
}

// --- left ---

async function loadWorkflows() {
  const { workflows, failures, control } = await read('api/workflows')
  Object.assign(state, { workflows, control })
  if (current() === undefined && state.instance === '') state.workflow = workflows[0]?.id ?? ''
  $('workflows').replaceChildren(...workflows.map(({ id, name, version, states, counts }) => h('li', {}, h('button', {
    type: 'button', 'aria-current': id === state.workflow, onclick: () => pickWorkflow(id),
  }, h('b', {}, name), h('small', {}, `${id} ${version} · ${states} state${states === 1 ? '' : 's'}`), h('span', { class: 'counts' }, ...Object.entries(counts)
    .filter(([, count]) => count > 0).map(([word, count]) => status(word, `${count} ${word}`)))))))
  $('failures').replaceChildren(...failures.map(({ file, message }) => h('p', { class: 'box bad' }, h('b', {}, `${file}: `), message)))
}

async function loadInstances(more = false) {
  const search = new URLSearchParams({ limit: '50' })
  if (state.workflow !== '') search.set('workflow', state.workflow)
  if (state.statuses.size > 0) search.set('status', [...state.statuses].join(','))
  if (state.text !== '') search.set('q', state.text)
  if (more && state.next !== undefined) search.set('before', state.next)
  const page = await read(`api/instances?${search}`)
  state.instances = more ? [...state.instances, ...page.instances] : page.instances
  state.next = page.next
  showInstances()
}

function showInstances() {
  const focused = document.activeElement?.dataset?.instance
  $('instances').replaceChildren(...state.instances.map((each) => h('li', {}, h('button', {
    type: 'button', 'data-instance': each.id, 'aria-current': each.id === state.instance, onclick: () => pickInstance(each.id),
  }, h('span', { class: 'row' }, status(each.status), h('span', { class: 'mono', title: each.id }, each.id.slice(0, 8))),
  h('small', { title: new Date(each.startedAt).toLocaleString() }, [each.businessKey ?? (state.workflow === '' ? each.workflowId : ''), ago(each.startedAt), each.endedAt === undefined ? '' : took(each)].filter(Boolean).join(' · '))))))
  if (state.instances.length === 0) $('instances').append(h('li', { class: 'muted' }, state.text !== '' || state.statuses.size > 0 ? 'None fits the filter.' : 'None yet: run one.'))
  $('more').hidden = state.next === undefined
  if (focused !== undefined) $('instances').querySelector(`[data-instance="${CSS.escape(focused)}"]`)?.focus()
}

function showStatuses() {
  $('statuses').replaceChildren(...['active', 'waiting', 'completed', 'error', 'aborted'].map((word) => button(`${ICONS[word]} ${word}`, ({ currentTarget }) => {
    if (!state.statuses.delete(word)) state.statuses.add(word)
    currentTarget.setAttribute('aria-pressed', String(state.statuses.has(word)))
    void attempt(loadInstances())
  }, { 'aria-pressed': state.statuses.has(word) })))
}

async function pickWorkflow(id) {
  Object.assign(state, { workflow: id, instance: '', state: '', detail: undefined, diagram: undefined })
  await Promise.all([loadWorkflows(), loadInstances(), showView()])
  showDetail()
}

async function pickInstance(id, part = '') {
  state.instance = id
  state.state = part
  await loadDetail()
}

async function loadDetail() {
  if (state.instance === '') return showDetail()
  const asked = state.instance
  const detail = await read(`api/instances/${encodeURIComponent(asked)}`)
  if (asked !== state.instance) return
  const other = detail.workflowId !== state.workflow
  state.detail = detail
  if (other) {
    state.workflow = detail.workflowId
    state.diagram = undefined
    await Promise.all([loadWorkflows(), loadInstances(), showView()])
  } else if (state.view !== 'Diagram') { await showView() }
  showInstances()
  showDetail()
}

// --- centre ---

const VIEWS = {
  Diagram: () => showChart(`${workflowPath('diagram.svg')}`),
  Table: showTable,
  Definition: showSource,
  Machine: async () => {
    await showChart(`${workflowPath('diagram.svg')}?machine=1`)
  },
}

async function showView() {
  remember()
  const view = VIEWS[state.view] === undefined ? 'Diagram' : state.view
  const isChart = view === 'Diagram' || view === 'Machine'
  tabs($('views'), Object.keys(VIEWS), view, $('view'), (name) => { state.view = name; void attempt(showView()) })
  $('view').className = isChart ? 'chart' : ''
  $('zoom').hidden = $('legend').hidden = !isChart
  if (state.workflow === '') return $('view').replaceChildren(h('p', { class: 'muted' }, 'No workflow is loaded.'))
  state.diagram = await read(workflowPath('diagram.json'))
  await VIEWS[view]()
}

async function showChart(path) {
  $('view').replaceChildren(h('p', { class: 'muted wait' }, 'Laying the chart out…'))
  try {
    const asked = state.workflow
    const text = await (await ask(path)).text()
    if (asked !== state.workflow || !$('view').classList.contains('chart')) return
    const chart = document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true)
    chart.setAttribute('role', 'group')
    chart.setAttribute('aria-label', `${state.view} of ${state.workflow}`)
    chart.querySelector(':scope > title')?.remove()
    for (const node of chart.querySelectorAll('.k-state')) {
      // A button holds no other button: what stands inside a state is part of it.
      if (node.parentElement?.closest('.k-state') !== null) continue
      node.setAttribute('tabindex', '0')
      node.setAttribute('role', 'button')
    }
    $('view').replaceChildren(chart)
    mark()
    nameStates()
    fit()
  } catch (error) {
    const mermaid = await (await ask(workflowPath('diagram.mmd'))).text()
    $('view').className = ''
    await showTable()
    $('view').prepend(h('p', { class: 'box bad' }, error.message))
    $('view').append(h('h3', {}, 'As Mermaid text'), h('pre', {}, mermaid))
  }
}

const chart = () => $('view').querySelector('svg')

function fit() {
  const box = chart()?.viewBox.baseVal
  if (box === undefined) return
  const { clientWidth, clientHeight } = $('view')
  const whole = Math.min((clientWidth - 16) / box.width, (clientHeight - 16) / box.height, 1.15)
  // Texts stay readable: a chart that is too large is moved instead, beginning where the instance stands.
  zoomTo(whole >= 0.6 ? whole : Math.max(0.8, Math.min(1, (clientWidth - 16) / box.width)))
  if (whole < 0.6) (chart().querySelector('.is-active > .card, .is-failed > .card') ?? chart().querySelector('.k-initial'))?.scrollIntoView({ block: 'center', inline: 'center' })
}

function zoomTo(scale) {
  const box = chart()?.viewBox.baseVal
  if (box === undefined) return
  state.scale = Math.min(4, Math.max(0.2, scale))
  chart().setAttribute('width', String(box.width * state.scale))
  chart().setAttribute('height', String(box.height * state.scale))
}

/** Marks on the chart what the instance has been through. */
function mark() {
  const drawing = chart()
  if (drawing === null || state.view !== 'Diagram') return
  for (const badge of drawing.querySelectorAll('.badge')) badge.remove()
  const path = state.detail?.path
  const edges = new Set(path?.edges)
  drawing.classList.toggle('marked', path !== undefined)
  for (const element of drawing.querySelectorAll('[data-id]')) {
    for (const name of [...element.classList]) if (name.startsWith('is-')) element.classList.remove(name)
    if (edges.has(element.dataset.id)) element.classList.add('is-taken')
    const known = path?.nodes[element.dataset.id]
    if (known === undefined) continue
    element.classList.add(`is-${known.status}`)
    const waits = known.status === 'active' && state.detail.status === 'waiting'
    const word = waits ? 'waiting' : WORDS[known.status] ?? (known.status === 'done' ? '' : known.status)
    const text = [word, known.note].filter((part) => part !== undefined && part !== '').join(', ')
    const card = element.querySelector(':scope > .card')
    if (text !== '' && card !== null) addBadge(element, card, `${ICONS[waits ? 'waiting' : known.status]} ${text}`, known.status)
  }
  const picked = nodeOf(state.state)
  if (picked !== undefined) drawing.querySelector(`[data-id="${CSS.escape(picked.id)}"]`)?.classList.add('is-picked')
  nameStates()
}

/** Names the buttons of the chart by all that is seen of them, in that order. */
function nameStates() {
  for (const node of $('view').querySelectorAll('.swf [role=button]')) {
    node.setAttribute('aria-label', [...node.querySelectorAll('text')].map(({ textContent }) => textContent).join(' '))
  }
}

function addBadge(element, card, text, word) {
  const label = svg('text', { x: 9, y: 14 }, text)
  const badge = svg('g', { class: `badge s-${word}` }, label)
  element.append(badge)
  const width = label.getComputedTextLength() + 18
  badge.prepend(svg('rect', { width, height: 19, rx: 9.5 }))
  badge.setAttribute('transform', `translate(${Number(card.getAttribute('width')) - Math.min(width, 22)} -11)`)
}

const nodes = (node = state.diagram?.root) => (node === undefined ? [] : [node, ...node.children.flatMap((child) => nodes(child))])
const nodeOf = (name) => (name === '' ? undefined : nodes().find((node) => node.kind === 'state' && node.state === name))

function pickState(name) {
  state.state = state.state === name ? '' : name
  remember()
  mark()
  if (state.view === 'Definition') void attempt(showSource())
  showDetail()
}

async function showTable() {
  const all = nodes()
  const label = (id) => all.find((node) => node.id === id)?.label ?? ''
  const edges = all.flatMap((node) => node.edges)
  $('view').replaceChildren(h('table', {}, h('caption', { class: 'hidden' }, `States of ${state.workflow}`),
    h('thead', {}, h('tr', {}, ...['State', 'Type', 'Does', 'Goes on'].map((text) => h('th', { scope: 'col' }, text)))),
    h('tbody', {}, ...all.filter(({ kind }) => kind === 'state' || kind === 'action').map((node) => h('tr', {},
      h('th', { scope: 'row' }, [node.branch, node.label].filter(Boolean).join(' / ')), h('td', {}, node.type ?? 'action'), h('td', {}, ...lines(node.lines)),
      h('td', {}, ...lines(edges.filter(({ source }) => source === node.id).map(({ role, label: text, target }) => `${role === 'error' ? 'on error ' : ''}${text ?? ''} → ${label(target)}`))))))))
}

const lines = (texts) => texts.map((text) => h('div', {}, text))

async function showSource() {
  const { text, lines: places } = await read(workflowPath('definition.json'))
  const here = places[state.state]
  $('view').replaceChildren(h('pre', { class: 'source', tabindex: 0, role: 'region', 'aria-label': 'Source of the definition' }, ...text.replace(/\n$/, '').split('\n').map((line, index) => h('span', { class: index + 1 === here ? 'here' : undefined }, line === '' ? ' ' : line))))
  $('view').querySelector('.here')?.scrollIntoView({ block: 'center' })
}

// --- right ---

const TABS = { Timeline: showTimeline, Data: showData, Messages: showMessages, Error: showError }

function showDetail() {
  remember()
  showHeader()
  const names = Object.keys(TABS).filter((name) => name !== 'Error' || state.detail?.error !== undefined || failures().length > 0)
  const tab = names.includes(state.tab) ? state.tab : 'Timeline'
  tabs($('tabs'), names, tab, $('tab'), (name) => { state.tab = name; showDetail() })
  if (state.detail === undefined) $('tab').replaceChildren(h('p', { class: 'muted' }, 'Pick an instance to see its path, data and messages.'))
  else $('tab').replaceChildren(...TABS[tab](state.detail).flat().filter(Boolean))
  mark()
}

const failures = () => (state.detail?.timeline ?? []).flatMap((visit) => visit.actions.filter(({ error }) => error !== undefined).map((action) => ({ visit, action })))

function showTimeline({ timeline, status: whole, waitingFor, startedAt, endedAt, dropped, parentInstanceId, children }) {
  const end = Math.max(endedAt ?? Date.now(), startedAt + 1)
  const place = (at) => `${(100 * (at - startedAt) / (end - startedAt)).toFixed(2)}%`
  const link = (id, text) => button(text, () => attempt(pickInstance(id)))
  return [
    parentInstanceId !== undefined && h('p', { class: 'box' }, 'Sub-flow of ', link(parentInstanceId, parentInstanceId.slice(0, 8))),
    dropped > 0 && h('p', { class: 'box' }, `${dropped} older steps are no longer kept.`),
    h('ol', {}, ...timeline.map((visit) => h('li', { class: `box visit${visit.state === state.state ? ' picked' : ''}` },
      h('button', { type: 'button', onclick: () => pickState(visit.state) }, h('span', {}, h('b', {}, visit.state), ' ', h('small', { class: 'muted' }, visit.type ?? '')), status(visit.status === 'active' && whole === 'waiting' ? 'waiting' : visit.status)),
      h('div', { class: 'track', 'aria-hidden': true }, h('span', {
        class: `s-${visit.status}`, style: `left:min(${place(visit.startedAt)}, calc(100% - 3px));width:${(100 * ((visit.endedAt ?? end) - visit.startedAt) / (end - startedAt)).toFixed(2)}%`,
      })),
      h('small', { class: 'muted' }, `+${duration(visit.startedAt - startedAt)}, took ${took(visit)}`),
      h('ul', {}, visit.condition !== undefined && h('li', {}, `condition: ${visit.condition}`),
        ...visit.actions.map((action) => h('li', {}, status(action.status, ''), ' ', [action.branch, action.action].filter(Boolean).join(' / '),
          h('span', { class: 'muted' }, ` ${action.calls ?? ''} ${took(action)}${action.attempts > 1 ? `, attempt ${action.attempts}` : ''}`),
          action.error !== undefined && h('div', { class: 's-failed' }, String(action.error.message ?? '')))),
        ...visit.events.map(({ kind, name, at }) => h('li', {}, `${kind === 'timer' ? '⏱' : '✉'} ${name} ${kind} `, h('span', { class: 'muted' }, `+${duration(at - startedAt)}`))),
        ...(visit.endedAt === undefined ? waitingFor.filter(({ nodeId }) => nodeId === visit.state || nodeId.startsWith(`${visit.state}/`)) : [])
          .map((wait) => h('li', { class: 's-waiting' }, `◔ waits for ${wait.kind}${wait.names === undefined ? '' : ` ${wait.names.join(' or ')}`}${wait.timer === undefined ? '' : ` (${wait.timer})`}${wait.dueAt === undefined ? '' : `, due ${new Date(wait.dueAt).toLocaleTimeString()}`}, since ${ago(wait.since)}`)))))),
    children.length > 0 && h('div', { class: 'box' }, h('h3', {}, 'Sub-flows'), ...children.map((child) => h('p', {}, status(child.status), ' ', child.workflowId, ' ', link(child.id, child.id.slice(0, 8))))),
  ]
}

function showData({ input, output, timeline, status: word }) {
  const part = (title, value) => [h('h3', {}, title), h('pre', { tabindex: 0, 'aria-label': title }, pretty(value))]
  const visits = timeline.filter((visit) => visit.state === state.state)
  if (state.state === '') return [h('p', { class: 'muted' }, 'Of the whole instance; pick a state to see its data.'), part('Input', input), part(word === 'completed' ? 'Output' : 'Data', output)]
  if (visits.length === 0) return [h('p', { class: 'muted' }, `This instance has not been in ${state.state}.`)]
  return visits.flatMap((visit, index) => [
    h('h3', {}, visits.length > 1 ? `${visit.state}, visit ${index + 1}` : visit.state),
    part('Before', visit.before),
    visit.after !== undefined && [h('h3', {}, 'Changes'), changes(visit.before, visit.after), part('After', visit.after)],
    visit.actions.filter(({ result }) => result !== undefined).map((action) => part(`Result of ${action.action}`, action.result)),
  ]).flat(3)
}

/** Lists what differs between two values, a line for each place. */
function changes(before, after) {
  const found = []
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
  const compare = (left, right, path) => {
    if (found.length > 200 || JSON.stringify(left) === JSON.stringify(right)) return
    if (isObject(left) && isObject(right)) for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) compare(left[key], right[key], `${path}.${key}`)
    else found.push([path === '' ? '.' : path, left, right])
  }
  compare(before, after, '')
  if (found.length === 0) return h('p', { class: 'muted' }, 'none')
  return h('ul', { class: 'mono' }, ...found.map(([path, left, right]) => h('li', {}, `${path} `,
    left !== undefined && h('span', { class: 'del' }, `− ${short(left)} `), right !== undefined && h('span', { class: 'add' }, `+ ${short(right)}`))))
}

const short = (value) => { const text = JSON.stringify(value); return text.length > 120 ? `${text.slice(0, 120)}…` : text }

function showMessages({ messages, startedAt }) {
  return [sequence(messages), h('ol', {}, ...messages.map(({ at, from, to, text, kind, duration: length }) => h('li', { class: 'box' },
    h('b', {}, from), ' → ', h('b', {}, to), h('div', { class: kind === 'error' ? 's-failed' : undefined }, `${kind === 'error' ? '✕ ' : ''}${text}`),
    h('small', { class: 'muted' }, `+${duration(at - startedAt)}${length === undefined ? '' : `, after ${duration(length)}`}`))))]
}

function sequence(messages) {
  const names = [...new Set(messages.flatMap(({ from, to }) => [from, to]))]
  const gap = 96
  const x = (name) => 48 + names.indexOf(name) * gap
  const height = 40 + messages.length * 22
  const drawing = svg('svg', { class: 'sequence', width: names.length * gap, height, 'aria-hidden': 'true' },
    ...names.flatMap((name, index) => [svg('line', { x1: x(name), x2: x(name), y1: 26, y2: height }),
      svg('text', { x: x(name), y: index % 2 === 0 ? 10 : 22, 'text-anchor': 'middle' }, name.length > 15 ? `${name.slice(0, 14)}…` : name)]),
    ...messages.flatMap(({ from, to, kind }, index) => {
      const [left, right, y] = [x(from), x(to), 42 + index * 22]
      const tip = right > left ? -7 : 7
      return [svg('line', { class: kind === 'error' ? 'error' : 'm', x1: left, x2: right, y1: y, y2: y, 'stroke-dasharray': kind === 'return' ? '4 3' : 'none' }), svg('path', { d: `M${right} ${y}l${tip} -4v8z` })]
    }))
  return h('div', { style: 'overflow:auto', tabindex: 0, role: 'img', 'aria-label': `Sequence of ${messages.length} messages; the list below tells the same` }, drawing)
}

function showError({ error, id }) {
  const facts = (values) => h('dl', {}, ...Object.entries(values).filter(([, value]) => value !== undefined).flatMap(([key, value]) => [h('dt', {}, key), h('dd', {}, typeof value === 'string' ? value : JSON.stringify(value))]))
  return [
    error !== undefined && h('div', { class: 'box bad' }, h('h3', {}, 'The instance failed'), facts(error)),
    ...failures().map(({ visit, action }) => h('div', { class: 'box' }, h('h3', {}, `${visit.state} / ${action.action}`), status(visit.status),
      facts({ calls: action.calls, attempts: action.attempts, ...action.error, ancestors: undefined }))),
    state.control && h('p', {}, button('Run again with this input…', openRun, { class: 'main' }), ' ', error !== undefined && button('Try the failed step again', () => attempt(post(`api/instances/${id}/retry`).then(loadDetail)))),
  ]
}

// --- header ---

function showHeader() {
  const { detail } = state
  $('subject').replaceChildren(...(detail === undefined ? [h('span', { class: 'muted' }, current()?.name ?? '')]
    : [h('b', {}, detail.workflowId), h('span', { class: 'mono', title: detail.id }, detail.id.slice(0, 8)), status(detail.status), h('span', { class: 'muted' }, took(detail))]))
  $('actions').replaceChildren(...[
    state.control && current() !== undefined && button('Run…', openRun, { class: 'main' }),
    detail !== undefined && button('Copy id', () => copy(detail.id, 'Id')),
    detail !== undefined && button('Copy as curl', () => copy(curl(detail), 'Command')),
    detail !== undefined && button('Download', download),
    detail !== undefined && state.control && ['active', 'waiting', 'error'].includes(detail.status) && button('Abort', () => attempt(post(`api/instances/${detail.id}/abort`).then(loadDetail))),
  ].filter(Boolean))
}

const curl = ({ workflowId, input }) => `curl -X POST '${location.origin}${base.replace(/inspect\/$/, '')}${encodeURIComponent(workflowId)}' -H 'Content-Type: application/json' -d '${JSON.stringify(input).replaceAll('\'', '\'\\\'\'')}'`

async function copy(text, name) {
  await navigator.clipboard?.writeText(text)
  tell(`${name} copied`)
}

function download() {
  const link = h('a', { href: URL.createObjectURL(new Blob([JSON.stringify(state.detail, undefined, 2)], { type: 'application/json' })), download: `${state.detail.workflowId}-${state.detail.id}.json` })
  link.click()
  URL.revokeObjectURL(link.href)
}

// --- dialogs ---

async function openRun() {
  const schema = await read(workflowPath('input-schema.json')).catch(() => ({}))
  const example = state.detail?.input ?? {}
  const properties = Object.entries(schema.properties ?? {})
  const isPlain = properties.length > 0 && properties.every(([, { type }]) => ['string', 'number', 'integer', 'boolean'].includes(type))
  const told = h('p', { role: 'alert', class: 's-failed' })
  const json = h('textarea', { id: 'run-json', class: 'mono', spellcheck: 'false' }, JSON.stringify(example ?? {}, undefined, 2))
  const fields = properties.map(([name, { type, title }]) => ({
    name, type, input: h('input', { id: `run-${name}`, name, type: type === 'boolean' ? 'checkbox' : 'text', value: type === 'boolean' ? undefined : example?.[name] ?? '', checked: example?.[name] === true }), title: title ?? name,
  }))
  const values = () => Object.fromEntries(fields.filter(({ input, type }) => type === 'boolean' || input.value !== '').map(({ name, type, input }) =>
    [name, type === 'boolean' ? input.checked : type === 'string' || input.value.trim() === '' || Number.isNaN(Number(input.value)) ? input.value : Number(input.value)]))
  const submit = async (event) => {
    event.preventDefault()
    try {
      const { id } = await post(`api/workflows/${encodeURIComponent(state.workflow)}/run`, { input: isPlain ? values() : JSON.parse(json.value) })
      $('run').close()
      await pickInstance(id)
      await loadInstances()
    } catch (error) { told.textContent = error.message }
  }
  $('run').replaceChildren(h('form', { onsubmit: submit }, h('h2', { id: 'run-title' }, `Run ${state.workflow}`),
    ...(isPlain ? fields.map(({ name, title, input }) => h('label', { for: `run-${name}` }, title, input)) : [h('label', { for: 'run-json' }, 'Input (JSON)', json)]),
    told, h('div', { class: 'end' }, button('Cancel', () => $('run').close()), h('button', { type: 'submit', class: 'main' }, 'Run'))))
  $('run').showModal()
}

function askToken() {
  if ($('token').open) return
  const input = h('input', { id: 'token-input', type: 'password', autocomplete: 'off' })
  $('token').replaceChildren(h('form', { onsubmit: (event) => { event.preventDefault(); sessionStorage.setItem('inspect-token', input.value); location.reload() } },
    h('h2', { id: 'token-title' }, 'This inspector needs its token'), h('label', { for: 'token-input' }, 'Token', input), h('div', { class: 'end' }, h('button', { type: 'submit', class: 'main' }, 'Open'))))
  $('token').showModal()
}

const KEYS = [['/', 'filter'], ['j  k', 'next, previous instance'], ['Enter  Space', 'pick a state or row'], ['f  +  -  0', 'fit, zoom in, zoom out, 100 %'], ['Arrows', 'on a state: follow its edges'], ['← → Home End', 'on tabs: move'], ['Esc', 'clear the pick, close a dialog'], ['?', 'this help']]

function openHelp() {
  $('help').replaceChildren(h('h2', { id: 'help-title' }, 'Keys'), h('dl', {}, ...KEYS.flatMap(([key, text]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, text)])),
    h('div', { class: 'end' }, button('Close', () => $('help').close(), { class: 'main' })))
  $('help').showModal()
}

// --- parts ---

function tabs(list, names, selected, panel, pick) {
  const had = list.contains(document.activeElement)
  list.replaceChildren(...names.map((name) => button(name, () => pick(name), { role: 'tab', id: `tab-${name}`, 'aria-selected': name === selected, 'aria-controls': panel.id, tabindex: name === selected ? 0 : -1 })))
  panel.setAttribute('aria-labelledby', `tab-${selected}`)
  if (had) list.querySelector('[aria-selected=true]')?.focus()
  list.onkeydown = (event) => {
    const at = names.indexOf(selected)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    pick(names[(to + names.length) % names.length])
  }
}

let lastTold = 0
function tell(text) {
  if (Date.now() - lastTold < 1500) return
  lastTold = Date.now()
  $('told').textContent = text
}

async function attempt(promise) {
  try {
    await promise
  } catch (error) {
    $('told').textContent = error.message
    $('failures').replaceChildren(h('p', { class: 'box bad', role: 'alert' }, error.message))
  }
}

// --- live ---

let timer
function soon(work, wait = 150) {
  timer ??= setTimeout(() => { timer = undefined; void attempt(work()) }, wait)
}

function listen() {
  const token = sessionStorage.getItem('inspect-token')
  const source = new EventSource(`${base}api/events${token === null ? '' : `?token=${encodeURIComponent(token)}`}`)
  const say = (word) => { $('live').dataset.state = word; $('live').querySelector('.word').textContent = word }
  const refresh = () => soon(async () => { await Promise.all([loadWorkflows(), loadInstances(), loadDetail()]) })
  source.addEventListener('open', () => say('live'))
  source.addEventListener('error', () => say(source.readyState === EventSource.CLOSED ? 'ended' : 'reconnecting'))
  for (const name of ['reset', 'dropped']) source.addEventListener(name, refresh)
  source.addEventListener('instance', ({ data }) => {
    const one = JSON.parse(data)
    if (one.status !== 'active' && one.status !== 'waiting') tell(`${one.workflowId} ${one.id.slice(0, 8)} ${one.status}`)
    refresh()
  })
  source.addEventListener('step', ({ data }) => { if (JSON.parse(data).instanceId === state.instance) soon(loadDetail) })
}

// --- start ---

function showLegend() {
  const sign = (text, style) => h('span', {}, h('i', { style, 'aria-hidden': true }), text)
  $('legend').replaceChildren(sign('active', 'border-color:var(--active-line);border-width:4px'), sign('path taken', 'border-color:var(--done-line);border-width:3px'),
    sign('error', 'border-color:var(--error);border-style:dashed'), sign('condition', 'border-color:#a23bbd'), sign('not reached', 'border-color:var(--muted);border-style:dashed;opacity:.6'))
  $('zoom').replaceChildren(button('−', () => zoomTo(state.scale / 1.25), { 'aria-label': 'Zoom out' }), button('100 %', () => zoomTo(1)), button('+', () => zoomTo(state.scale * 1.25), { 'aria-label': 'Zoom in' }), button('Fit', fit))
}

function follow(element, key) {
  const forward = key === 'ArrowDown' || key === 'ArrowRight'
  const edges = nodes().flatMap((node) => node.edges).filter((edge) => edge[forward ? 'source' : 'target'] === element.dataset.id)
  for (const edge of edges) {
    const target = $('view').querySelector(`[data-id="${CSS.escape(edge[forward ? 'target' : 'source'])}"][role=button]`)
    if (target !== null) return target.focus()
  }
}

function step(by) {
  const at = state.instances.findIndex(({ id }) => id === state.instance)
  const to = state.instances[Math.min(state.instances.length - 1, Math.max(0, at + by))]
  if (to === undefined) return
  void attempt(pickInstance(to.id).then(() => $('instances').querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' })))
}

const ACTIONS = { '/': () => $('filter').focus(), j: () => step(1), k: () => step(-1), f: fit, '+': () => zoomTo(state.scale * 1.25), '-': () => zoomTo(state.scale / 1.25), 0: () => zoomTo(1), '?': openHelp, Escape: () => { if (state.state !== '') pickState(state.state) } }

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') !== null) return
  if (event.target.matches('input, textarea')) {
    if (event.key === 'Escape') event.target.blur()
    return
  }
  const node = event.target.closest?.('.swf [role=button]')
  if (node && (event.key === 'Enter' || event.key === ' ')) {
    event.preventDefault()
    pickNode(node)
  } else if (node && event.key.startsWith('Arrow')) {
    event.preventDefault()
    follow(node, event.key)
  } else if (ACTIONS[event.key] !== undefined) {
    event.preventDefault()
    ACTIONS[event.key]()
  }
})

function pickNode(element) {
  const found = nodes().find(({ id }) => id === element.dataset.id)
  if (found?.state !== undefined) pickState(found.state)
}

$('view').addEventListener('click', ({ target }) => { const node = target.closest('.swf [role=button]'); if (node !== null) pickNode(node) })
$('view').addEventListener('pointerdown', (event) => {
  if (!$('view').classList.contains('chart') || event.target.closest('[role=button]') !== null) return
  const from = { x: event.clientX + $('view').scrollLeft, y: event.clientY + $('view').scrollTop }
  const move = (moved) => { $('view').scrollLeft = from.x - moved.clientX; $('view').scrollTop = from.y - moved.clientY }
  $('view').classList.add('dragging')
  document.addEventListener('pointermove', move)
  document.addEventListener('pointerup', () => { document.removeEventListener('pointermove', move); $('view').classList.remove('dragging') }, { once: true })
})
$('filter').addEventListener('input', ({ target }) => { state.text = target.value; soon(loadInstances, 250) })
$('more').addEventListener('click', () => attempt(loadInstances(true)))
$('help-open').addEventListener('click', openHelp)
window.addEventListener('resize', fit)
setInterval(() => { if (document.visibilityState === 'visible') showInstances() }, 10_000)

showStatuses()
showLegend()
await attempt((async () => {
  await loadWorkflows()
  if (state.instance !== '') { const { workflowId } = await read(`api/instances/${encodeURIComponent(state.instance)}`); state.workflow = workflowId; await loadWorkflows() }
  listen()
  const view = showView()
  await Promise.all([loadInstances(), loadDetail()])
  await view
})())
