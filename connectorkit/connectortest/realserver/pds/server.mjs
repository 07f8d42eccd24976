// Starts a directory of names and a PDS, and tells what a repository holds from its export.
import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const env = process.env
const modules = createRequire(path.join(env.TEST_MODULES, 'x.js'))
if (env.TEST_POINTS) {
  // The limit of requests has no setting: the server's own limiter gets a smaller one.
  const limiters = modules('rate-limiter-flexible')
  const Memory = limiters.RateLimiterMemory
  limiters.RateLimiterMemory = class extends Memory {
    constructor(o) {
      super(o.keyPrefix === 'rl-global-ip' ? { ...o, points: Number(env.TEST_POINTS), duration: Number(env.TEST_SECONDS) } : o)
    }
  }
}
const plc = modules('@did-plc/server')
const pds = modules('@atproto/pds')
const ofPDS = createRequire(modules.resolve('@atproto/pds'))
const { Repo, MemoryBlockstore, readCarWithRoot } = ofPDS('@atproto/repo')
const { lexToJson } = ofPDS('@atproto/lexicon')
const { createHash, randomBytes } = await import('node:crypto')

const directory = plc.PlcServer.create({ db: plc.Database.mock(), port: Number(env.TEST_PLC) })
await directory.start()

const home = (name) => {
  const folder = path.join(env.TEST_DIR, name)
  mkdirSync(folder, { recursive: true })
  return folder
}
const given = {
  ...pds.readEnv(),
  devMode: true, port: Number(env.TEST_PORT), hostname: 'localhost', version: '0',
  dataDirectory: home('data'), blobstoreDiskLocation: home('blobs'), blobstoreDiskTmpLocation: home('tmp'),
  didPlcUrl: `http://127.0.0.1:${env.TEST_PLC}`, serviceHandleDomains: ['.test'], inviteRequired: false,
  jwtSecret: randomBytes(16).toString('hex'), adminPassword: randomBytes(16).toString('hex'), dpopSecret: randomBytes(32).toString('hex'),
  plcRotationKeyK256PrivateKeyHex: randomBytes(32).toString('hex'),
  rateLimitsEnabled: true, rateLimitBypassKey: env.TEST_BYPASS, disableSsrfProtection: true, crawlers: [],
}
const server = await pds.PDS.create(pds.envToCfg(given), pds.envToSecrets(given))
await server.start()

// The export, record by record, in the form that a collection of ours has. What is in no form of the
// protocol's is there all the same.
const forms = {
  'app.bsky.actor.profile': (v, _, who) => ({
    id: who.did, handle: who.handle, display_name: v.displayName, description: v.description, avatar: file(v.avatar), banner: file(v.banner),
    pinned_uri: v.pinnedPost?.uri, created_at: v.createdAt,
  }),
  'app.bsky.feed.post': (v, at) => {
    const e = v.embed ?? {}
    const m = e.media ?? e
    const features = (v.facets ?? []).flatMap((f) => f.features)
    return {
      ...at, text: v.text, languages: some(v.langs), labels: some(v.labels?.values?.map((l) => l.val)),
      tags: some([...(v.tags ?? []), ...features.filter((f) => f.tag).map((f) => f.tag)]),
      mentioned_dids: some(features.filter((f) => f.did).map((f) => f.did)), links: some(features.filter((f) => f.uri).map((f) => f.uri)),
      reply_parent_uri: v.reply?.parent.uri, reply_root_uri: v.reply?.root.uri, quoted_uri: e.record?.record?.uri ?? e.record?.uri,
      images: some(m.images?.map((i) => file(i.image, i.alt))), video: file(m.video, m.alt),
      card: m.external && { url: m.external.uri, title: m.external.title, description: m.external.description, thumb: file(m.external.thumb) },
    }
  },
  'app.bsky.feed.repost': (v, at) => liked(v, at),
  'app.bsky.feed.like': (v, at) => liked(v, at),
  'app.bsky.graph.follow': (v, at) => ({ ...at, subject_did: v.subject }),
  'app.bsky.graph.block': (v, at) => ({ ...at, subject_did: v.subject }),
  'app.bsky.graph.list': (v, at) => ({ ...at, name: v.name, purpose: v.purpose.split('#')[1], description: v.description, avatar: file(v.avatar) }),
  'app.bsky.graph.listitem': (v, at) => ({ ...at, list_id: v.list.split('/').at(-1), list_uri: v.list, subject_did: v.subject }),
}
const some = (list) => (list?.length ? list : undefined)
const file = (b, alt) => b && { cid: b.ref.$link, mime_type: b.mimeType, size_bytes: b.size, alt: alt || undefined }
const liked = (v, at) => ({ ...at, subject_uri: v.subject.uri, subject_cid: v.subject.cid, subject_did: v.subject.uri.split('/')[2] })

// The files that a record refers to, as they are on the disk.
const filesOf = (v) => (v?.$type === 'blob' ? [v] : v && typeof v === 'object' ? Object.values(v).flatMap(filesOf) : [])
const stored = (did, b) => {
  const content = readFileSync(path.join(env.TEST_DIR, 'blobs', did, b.ref.$link))
  const sha256 = createHash('sha256').update(content).digest('hex')
  const about = { mime_type: b.mimeType, size_bytes: content.length }
  return { id: b.ref.$link, ...about, blob_ref: { blob_id: sha256, sha256, ...about } }
}

const repository = async (who) => {
  const answer = await fetch(`http://127.0.0.1:${env.TEST_PORT}/xrpc/com.atproto.sync.getRepo?did=${who.did}`)
  if (!answer.ok) throw new Error(await answer.text())
  const { root, blocks } = await readCarWithRoot(new Uint8Array(await answer.arrayBuffer()))
  const repo = await Repo.load(new MemoryBlockstore(blocks), root)
  const all = { media: {} }
  for (const collection of Object.keys(forms)) all[collection] = {}
  for await (const { collection, rkey, cid, record } of repo.walkRecords()) {
    if (!forms[collection]) continue
    const value = lexToJson(record)
    for (const b of filesOf(value)) all.media[b.ref.$link] = stored(who.did, b)
    const at = { id: rkey, uri: `at://${who.did}/${collection}/${rkey}`, cid: cid.toString(), created_at: value.createdAt }
    const foreign = collection === 'app.bsky.feed.like' && typeof value.subject !== 'object'
    all[collection][rkey] = foreign ? at : forms[collection](value, at, who)
  }
  return all
}

createServer(async (req, res) => {
  const url = new URL(req.url, 'http://127.0.0.1')
  try {
    const body = url.pathname === '/repository' ? await repository(Object.fromEntries(url.searchParams)) : {}
    res.end(JSON.stringify(body))
  } catch (err) {
    res.statusCode = 500
    res.end(String(err?.stack ?? err))
  }
}).listen(Number(env.TEST_CONTROL), '127.0.0.1')

process.on('SIGTERM', () => process.exit(0))
