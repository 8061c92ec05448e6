// A Gmail stand-in made by others, as a second opinion: starts it for the address in argv[2] and prints one line of
// JSON with a URL and a refresh token. It ends when its stdin is closed.
//
// The small proxy in front adds what the stand-in lacks: getProfile, and ids in hexadecimal as Gmail's are (it makes
// "msg_…" and "thr_…", with twelve bytes in base64url behind).

import http from 'node:http'
import net from 'node:net'
import { createEmulator } from 'emulate'

const address = process.argv[2]
const port = await findFreePort()
const emulator = await createEmulator({
  service: 'google',
  port,
  seed: { google: { users: [{ email: address, name: 'Ann' }] } },
})
const inner = `http://127.0.0.1:${port}`

const proxy = http.createServer(async (request, response) => {
  const body = await readAll(request)
  const path = request.url
    .replace(/\/messages\/([0-9a-f]{24})/, (_, id) => `/messages/msg_${fromHex(id)}`)
    .replace(/\/threads\/([0-9a-f]{24})/, (_, id) => `/threads/thr_${fromHex(id)}`)
  const headers = { authorization: request.headers.authorization ?? '' }
  if (request.headers['content-type']) headers['content-type'] = request.headers['content-type']
  if (/\/users\/[^/]+\/profile(\?|$)/.test(path)) return answer(response, 200, await profile(headers))
  const sent = body.length ? withThreadIds(body.toString()) : undefined
  const inward = await fetch(inner + path, { method: request.method, headers, body: sent, redirect: 'manual' })
  answer(response, inward.status, withHexIds(await inward.text()), inward.headers.get('content-type'))
})
await new Promise((started) => proxy.listen(0, '127.0.0.1', started))

console.log(JSON.stringify({ url: `http://127.0.0.1:${proxy.address().port}`, refresh_token: await signIn() }))
process.stdin.on('end', () => process.exit(0)).resume()

async function profile(headers) {
  const ask = async (what) => (await fetch(`${inner}/gmail/v1/users/me/${what}`, { headers })).json()
  const messages = await ask('messages?includeSpamTrash=true&maxResults=1')
  const threads = await ask('threads?includeSpamTrash=true&maxResults=1')
  const history = await ask('history?startHistoryId=0&maxResults=1')
  return JSON.stringify({
    emailAddress: address,
    messagesTotal: messages.resultSizeEstimate,
    threadsTotal: threads.resultSizeEstimate,
    historyId: history.historyId,
  })
}

async function signIn() {
  const redirect_uri = 'http://127.0.0.1/done'
  const consent = await fetch(`${inner}/o/oauth2/v2/auth/callback`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ email: address, redirect_uri, scope: 'gmail', client_id: 'client' }),
  })
  const code = new URL(consent.headers.get('location')).searchParams.get('code')
  const granted = await fetch(`${inner}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri, client_id: 'client' }),
  })
  return (await granted.json()).refresh_token
}

function withHexIds(text) {
  return text.replace(/"(?:msg|thr)_([A-Za-z0-9_-]{16})"/g, (_, id) => `"${Buffer.from(id, 'base64url').toString('hex')}"`)
}

function withThreadIds(text) {
  return text.replace(/("threadId":\s*)"([0-9a-f]{24})"/, (_, key, id) => `${key}"thr_${fromHex(id)}"`)
}

function fromHex(id) {
  return Buffer.from(id, 'hex').toString('base64url')
}

function answer(response, status, text, type = 'application/json') {
  response.writeHead(status, { 'content-type': type ?? 'text/plain', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

async function readAll(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function findFreePort() {
  return new Promise((found) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => found(port))
    })
  })
}
