// Hands the messages of this server to the framed page of another inspector, once that page has greeted.

const frame = document.getElementById('frame')
const target = new URL(frame.dataset.src)
const waiting = []
let isReady = false

const hand = (message) => frame.contentWindow.postMessage(message, target.origin)

window.addEventListener('message', ({ data, source, origin }) => {
  if (source !== frame.contentWindow || origin !== target.origin || data?.type !== '@statelyai.connected') return
  isReady = true
  for (const message of waiting.splice(0)) hand(message)
})

const token = sessionStorage.getItem('inspect-token')
const url = new URL('ws', location.href)
url.protocol = url.protocol.replace('http', 'ws')
if (token !== null) url.searchParams.set('token', token)

function connect() {
  const socket = new WebSocket(url)
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(data)
    if (isReady) hand(message)
    else if (waiting.push(message) > 1000) waiting.shift()
  })
  socket.addEventListener('close', () => setTimeout(connect, 2000))
}

frame.src = target.href
connect()
