// usage: node bodyhash_vectors.mjs > bodyhash_vectors.json
import { createHash } from "node:crypto";

const ordered = (v) => {
  if (v === null || typeof v !== "object") return v;
  if (Array.isArray(v)) return v.map(ordered);
  const out = {};
  for (const name of Object.keys(v).sort()) out[name] = ordered(v[name]);
  return out;
};
const hash = (v) => createHash("sha256").update(JSON.stringify(ordered(v))).digest("hex");
const record = (data, more = {}) => ({ stream: "notes", record_key: "n1", data, emitted_at: "2026-03-01T08:00:00Z", ...more });

const cases = {
  "plain": [record({ b: 1, a: "x" })],
  "two records": [record({ id: "a" }), record({ id: "b" }, { record_key: "n2" })],
  "index names": [record({ 10: "ten", 2: "two", "02": "text", a: 1, "-1": 0, "1.5": 0 })],
  "largest index": [record({ 4294967294: 1, 4294967295: 2, 7: 3 })],
  "nested index names": [record({ list: [{ 3: [], 1: {} }], z: { 0: { 10: 1, 9: 2 } } })],
  "numbers": [record({ n: [0, -0, 1e2, 1.50, 1e21, 1e-7, 12345678901234567890, 0.1] })],
  "text": [record({ "é": "\u2028<&>\u0001", "\u{1f600}": "\ud83d\ude00", "\uffff": "\"\\/\n" })],
  "prototype": [record(JSON.parse('{"__proto__":{"x":1},"a":2}'))],
  "tombstone": [(({ data, ...rest }) => rest)(record(null, { op: "delete" }))],
  "null data": [record(null)],
  "none": [],
};
const ids = { batch_id: "local-outbox:1", batch_seq: 7, connector_id: "notes", device_id: "dexp_1", source_instance_id: "dsrc_1" };
const envelopes = (records) => records.map((r) => {
  const body = { connector_id: ids.connector_id, ...r };
  return { batch_id: ids.batch_id, batch_seq: ids.batch_seq, body_hash: hash(body), device_id: ids.device_id, source_instance_id: ids.source_instance_id, ...body };
});
const vectors = Object.entries(cases).map(([name, records]) => ({
  name, records: JSON.stringify(records), body_hash: hash(records), envelope_hash: hash(envelopes(records)),
}));
console.log(JSON.stringify({ ...ids, vectors }, null, 1));
