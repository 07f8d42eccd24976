// usage: node terminal_vectors.mjs > terminal_vectors.json
import { createHash } from "node:crypto";

const ordered = (v) => {
  if (v === null || typeof v !== "object") return v;
  if (Array.isArray(v)) return v.map(ordered);
  const out = {};
  for (const name of Object.keys(v).sort()) out[name] = ordered(v[name]);
  return out;
};
const hash = (v) => createHash("sha256").update(JSON.stringify(ordered(v))).digest("hex");
const commit = (more) => ({
  version: 1, commit_id: "commit-1", run_id: "run-1", device_id: "dexp_1", source_instance_id: "dsrc_1", connector_id: "diary",
  connector_instance_id: "cin_diary_1", collection_boundary: "unscoped", state_delta: { notes: { n: 3 } },
  terminal_facts: [{ stream: "notes", coverage_statuses: ["collected"] }], ...more,
});
const fact = (stream, ...coverage_statuses) => ({ stream, coverage_statuses });
const cases = {
  "plain": commit({}),
  "facts out of order": commit({ terminal_facts: [fact("sessions", "missing", "collected", "missing"), fact("coverage_diagnostics", "collected"), fact("a_b", "x"), fact("a1b", "x"), fact("ab", "x")] }),
  "scoped or not": commit({ terminal_facts: [{ ...fact("notes", "collected"), scoped: false }, { ...fact("tags", "deferred"), scoped: true }] }),
  "index names in a state": commit({ state_delta: { notes: { 10: "a", 2: "b", x: 1 }, "notes#catch_up": null } }),
  "members that are none of it": commit({ terminal_facts: [{ ...fact("notes", "collected"), reason: "free text" }], note: "free text" }),
};
const envelope = ({ collection_boundary, commit_id, connector_id, connector_instance_id, device_id, run_id, source_instance_id, state_delta, terminal_facts }) => ({
  collection_boundary, commit_id, connector_id, connector_instance_id, device_id, run_id, source_instance_id, state_delta,
  terminal_facts: terminal_facts.map((f) => ({
    coverage_statuses: [...new Set(f.coverage_statuses)].sort(), ...(typeof f.scoped === "boolean" ? { scoped: f.scoped } : {}), stream: f.stream,
  })).sort((a, b) => a.stream.localeCompare(b.stream)),
  version: 1,
});
console.log(JSON.stringify(Object.entries(cases).map(([name, c]) => ({ name, commit: c, envelope_hash: hash(envelope(c)) })), null, 1));
