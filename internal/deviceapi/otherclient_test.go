package deviceapi_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// script is a value as scripts make them of JSON; what the standard library writes of one has
// its members in order, as the hashes of other clients want it.
type script = map[string]any

// scriptHash is the hash of a value's ordered JSON.
func scriptHash(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:])
}

// otherClient imitates the collector of another vendor, over a real connection. It supports only
// version 1, spells deviceLabel, hashes records within envelopes and ends a pass with a commit.
type otherClient struct {
	t     *testing.T
	base  string
	token string
}

// call sends a message and returns the status and the members of the answer.
func (o *otherClient) call(method, path string, body any) (int, script) {
	o.t.Helper()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			o.t.Fatal(err)
		}
		content = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(o.t.Context(), method, o.base+wire.Root+path, content)
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-PDPP-Collector-Protocol", "1")
	if o.token != "" {
		r.Header.Set("Authorization", "Bearer "+o.token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer script
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		o.t.Fatalf("%s %s: %d, %v", method, path, resp.StatusCode, err)
	}
	return resp.StatusCode, answer
}

func (o *otherClient) must(status int, method, path string, body any) script {
	o.t.Helper()
	got, answer := o.call(method, path, body)
	if got != status {
		o.t.Fatalf("%s %s: %d %v, want %d", method, path, got, answer, status)
	}
	return answer
}

// TestOtherClientsSession plays a first and a second day of a client that is not ours, and
// everything that it may send twice.
func TestOtherClientsSession(t *testing.T) {
	b := newBed(t)
	listening := httptest.NewServer(b.handler)
	defer listening.Close()
	o := &otherClient{t: t, base: listening.URL}
	code := b.code("home", "")
	in := o.must(http.StatusCreated, "POST", "/enroll",
		script{"enrollment_code": code, "agent_version": "local-collector/0.3.1", "deviceLabel": "Ida's desk"})
	o.token = in["device_token"].(string)
	device, source, connection := in["device_id"].(string), in["source_instance_id"].(string),
		in["connector_instance_id"].(string)
	if d, err := b.store.Device(t.Context(), device); err != nil || d.DisplayName != "Ida's desk" {
		t.Errorf("the device is %+v, %v", d, err)
	}
	own := "/" + device + "/source-instances/" + source
	beat := func(status string, pending int) script {
		return script{"source_instance_id": source, "connector_id": "notes", "status": status,
			"agent_version": "local-collector/0.3.1", "records_pending": pending, "outbox": script{
				"pending": pending, "retrying": 0, "leased": 0, "stale_leases": 0, "dead_letter": 0, "succeeded": 0,
				"total": pending}}
	}
	batch := func(seq int, records ...script) script {
		id := fmt.Sprint("local-outbox:", seq)
		var envelopes []any
		var sent []any
		for _, r := range records {
			hash := scriptHash(t, script{"connector_id": "notes", "data": r["data"], "emitted_at": r["emitted_at"],
				"record_key": r["record_key"], "stream": r["stream"]})
			envelopes = append(envelopes, script{"batch_id": id, "batch_seq": seq, "body_hash": hash, "connector_id": "notes",
				"data": r["data"], "device_id": device,
				"emitted_at": r["emitted_at"], "record_key": r["record_key"], "source_instance_id": source, "stream": r["stream"]})
			sent = append(sent, r)
		}
		return script{"device_id": device, "source_instance_id": source, "connector_id": "notes", "batch_id": id,
			"batch_seq": seq, "body_hash": scriptHash(t, envelopes), "records": sent}
	}
	record := func(id, text string) script {
		return script{"stream": "notes", "record_key": id, "data": script{"id": id, "text": text},
			"emitted_at": "2026-03-01T11:00:00.000Z"}
	}
	commit := func(id string, state script) script {
		return script{"version": 1, "commit_id": id, "run_id": "run_" + id, "device_id": device, "source_instance_id": source,
			"connector_id": "notes", "connector_instance_id": connection,
			"collection_boundary": nil, "state_delta": state,
			"terminal_facts": []any{script{"stream": "notes", "coverage_statuses": []any{"collected", "missing"},
				"scoped": false}}}
	}

	o.must(http.StatusOK, "POST", "/"+device+"/heartbeat", beat("starting", 0))
	if state := o.must(http.StatusOK, "GET", own+"/state", nil); state["connector_instance_id"] != connection ||
		len(state["state"].(script)) != 0 {
		t.Errorf("the first state is %v", state)
	}
	first := batch(1, record("a", "Apples & <pears>"), record("b", "plums é"))
	taken := o.must(http.StatusCreated, "POST", "/"+device+"/ingest-batches", first)
	if taken["accepted_record_count"] != 2.0 || taken["rejected_record_count"] != 0.0 {
		t.Errorf("taken as %v", taken)
	}
	if again := o.must(http.StatusCreated, "POST", "/"+device+"/ingest-batches",
		first); fmt.Sprint(again) != fmt.Sprint(taken) {
		t.Errorf("again it is %v, first it was %v", again, taken)
	}
	other := batch(1, record("a", "something else"))
	if status, answer := o.call("POST", "/"+device+"/ingest-batches", other); status != http.StatusConflict ||
		answer["error"].(script)["code"] != "device_batch_conflict" {
		t.Errorf("another batch of that id: %d %v", status, answer)
	}
	broken := batch(2, record("c", "cherries"))
	broken["body_hash"] = strings.Repeat("0", 64)
	if status, answer := o.call("POST", "/"+device+"/ingest-batches", broken); status != http.StatusBadRequest ||
		answer["error"].(script)["code"] != "device_batch_hash_mismatch" {
		t.Errorf("a hash that does not fit: %d %v", status, answer)
	}
	gap := script{"source_instance_id": source, "connector_id": "notes", "reason": "policy_budget", "stream": "notes",
		"first_seen_at": "2026-03-01T11:00:00.000Z", "retryable": true,
		"next_attempt_backoff_ms": 900000, "first_seen_run_id": "run_c1", "last_run_id": "run_c1"}
	o.must(http.StatusCreated, "POST", own+"/local-collector-gaps", gap)
	o.must(http.StatusCreated, "POST", own+"/local-collector-gaps", gap)

	end := commit("c1", script{"notes": script{"offset": 2}})
	receipt := o.must(http.StatusCreated, "POST", own+"/terminal-run-commits", end)
	hashed := commit("c1", script{"notes": script{"offset": 2}})
	hashed["terminal_facts"] = []any{script{"stream": "notes", "coverage_statuses": []any{"collected", "missing"},
		"scoped": false}}
	for member, want := range (script{"commit_id": "c1", "run_id": "run_c1", "envelope_hash": scriptHash(t, hashed)}) {
		if receipt[member] != want {
			t.Errorf("the receipt's %s is %v, this client wants %v", member, receipt[member], want)
		}
	}
	if event, _ := receipt["terminal_event_id"].(string); event == "" {
		t.Error("the receipt names no event")
	}
	if again := o.must(http.StatusOK, "POST", own+"/terminal-run-commits", end); fmt.Sprint(again) != fmt.Sprint(receipt) {
		t.Errorf("again the receipt is %v", again)
	}
	if status, answer := o.call("POST", own+"/terminal-run-commits",
		commit("c1", script{"notes": script{"offset": 3}})); status != http.StatusConflict ||
		answer["error"].(script)["code"] != "terminal_run_commit_conflict" {
		t.Errorf("another commit of that id: %d %v", status, answer)
	}
	o.must(http.StatusOK, "POST", own+"/local-collector-gaps/recovered",
		script{"source_instance_id": source, "connector_id": "notes", "reason": "policy_budget", "stream": "notes",
			"recovered_run_id": "run_c1"})
	o.must(http.StatusOK, "POST", "/"+device+"/heartbeat",
		script{"source_instances": []any{beat("healthy", 0)}, "agent_version": "local-collector/0.3.1"})

	// The next day it goes on from there, by a state of its own, and ends in the older form.
	if state := o.must(http.StatusOK, "GET", own+"/state", nil); fmt.Sprint(state["state"]) != "map[notes:map[offset:2]]" {
		t.Errorf("it goes on from %v", state["state"])
	}
	o.must(http.StatusCreated, "POST", "/"+device+"/ingest-batches", batch(2, record("c", "cherries")))
	o.must(http.StatusOK, "PUT", own+"/state", script{"state": script{"notes": script{"offset": 3}}})
	o.must(http.StatusCreated, "POST", own+"/terminal-collection",
		script{"source_instance_id": source, "connector_id": "notes", "run_id": "run_c2",
			"streams": []any{script{"stream": "notes", "coverage_statuses": []any{"collected"}}}})
	l := laptop{bed: b}
	l.ConnectorInstanceID = connection
	l.equal(l.records("notes"), []string{"a", "b", "c"})
	l.equal(l.gaps(), []string{"notes/ policy_budget recovered"})
	runs, err := b.store.ListRuns(t.Context(), store.RunQuery{ConnectionID: connection})
	if err != nil || len(runs) == 0 || runs[0].Status != store.RunSucceeded ||
		!strings.Contains(string(runs[0].Facts), `"considered":1,"covered":1`) {
		t.Errorf("its runs are %+v, %v", runs, err)
	}
	if ended := o.must(http.StatusOK, "POST", "/"+device+"/self-revoke", script{}); ended["revoked_at"] == nil {
		t.Errorf("it ended as %v", ended)
	}
	if status, _ := o.call("POST", "/"+device+"/self-revoke", script{}); status != http.StatusUnauthorized {
		t.Errorf("a second end: %d", status)
	}
}
