package collector

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

const (
	device = "dev_attic"
	source = "dsrc_attic_1"
	secret = "tok-3f9a-never-shown"
)

// server implements the device routes strictly. It checks the caller, path, version and hash, and
// answers a repeated request as before.
type server struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	requests []string // METHOD last-part-of-path, in the order of arrival
	bodies   []string // of the same requests
	state    map[string]json.RawMessage
	batches  map[string]storedBatch
	accepted map[string]int // stream/key: how often a record came in a batch of its own
	beats    []beat
	gaps     []gapSaid
	// capable is set if the server commits cursors and gaps together with their batch.
	capable   bool
	missing   map[string]string // gaps that came with a batch: stream/key, reason
	recovered []string
	lastSeq   int64
	token     string // dead once newToken is used
	newToken  string
	inOrder   bool // nothing is put aside, so that numbers only grow
	unseen    int  // notes that the cursor counts and the server need not have
	tooMany   func(records int) (status int, body string, refused bool)
	moved     []string // names of cursors, in the order of arrival
	// intercept may answer a request itself, before the server does anything
	// (done false) or instead of its answer (done true).
	intercept func(n int, name string, done bool, w http.ResponseWriter) bool
}

type storedBatch struct{ hash, answer string }

type beat struct {
	Status    string `json:"status"`
	LastError *struct {
		Kind    string           `json:"kind"`
		Classes []map[string]any `json:"top_dead_letter_classes"`
	} `json:"last_error"`
	Pending *int64           `json:"records_pending"`
	Outbox  map[string]int64 `json:"outbox"`
}

type gapSaid struct {
	Reason, Stream string
	Details        struct{ Missing map[string]int }
}

func newServer(t *testing.T) *server {
	s := &server{t: t, state: map[string]json.RawMessage{}, batches: map[string]storedBatch{}, accepted: map[string]int{},
		missing: map[string]string{}, token: secret, newToken: secret}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the device was killed while it sent
	}
	s.mu.Lock()
	name := r.Method + " " + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	s.requests, s.bodies = append(s.requests, name), append(s.bodies, string(body))
	n := len(s.requests)
	s.mu.Unlock()
	if s.intercepted(n, name, false, w) {
		return
	}
	status, answer := s.judge(r, body)
	if s.intercepted(n, name, true, w) {
		return
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// intercepted asks one request at a time, so that a test's counters need no lock.
func (s *server) intercepted(n int, name string, done bool, w http.ResponseWriter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.intercept != nil && s.intercept(n, name, done, w)
}

func refuse(status int, code string) (int, string) {
	return status, `{"error":{"type":"error","code":"` + code + `","message":"no","request_id":"req_1"}}`
}

func (s *server) judge(r *http.Request, body []byte) (int, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest, ours := strings.CutPrefix(r.URL.Path, "/_ref/device-exporters/"+device+"/")
	switch {
	case r.Header.Get("X-PDPP-Collector-Protocol") != "1":
		return refuse(400, "invalid_request")
	case r.Header.Get("Authorization") != "Bearer "+s.token && r.Header.Get("Authorization") != "Bearer "+s.newToken:
		return refuse(401, "authentication_error")
	case !ours:
		return refuse(403, "insufficient_scope")
	}
	if r.Header.Get("Authorization") == "Bearer "+s.newToken {
		s.token = s.newToken
	}
	switch r.Method + " " + rest {
	case "POST token":
		s.newToken = "tok-next-never-shown"
		return 201, `{"object":"device_exporter_token","device_token":"` + s.newToken + `"}`
	case "POST heartbeat":
		var b beat
		if err := json.Unmarshal(dropTime(body), &b); err != nil {
			return refuse(400, "invalid_request")
		}
		s.beats = append(s.beats, b)
		return 200, `{"object":"device_exporter_heartbeat","status":"accepted"}`
	case "POST ingest-batches":
		return s.ingest(body)
	case "GET source-instances/" + source + "/state":
		reports := map[string]any{"object": "device_source_instance_state", "state": s.state}
		if s.capable {
			reports["capabilities"] = []string{"batch_state", "gap_leases", "token_rotation"}
		}
		answer, _ := json.Marshal(reports)
		return 200, string(answer)
	case "GET source-instances/" + source + "/gaps":
		return 200, s.leased()
	case "POST source-instances/" + source + "/local-collector-gaps/recovered":
		s.recovered = append(s.recovered, string(body))
		return 200, `{"object":"device_local_collector_gap"}`
	case "PUT source-instances/" + source + "/state":
		var put struct{ State map[string]json.RawMessage }
		if json.Unmarshal(body, &put) != nil || put.State == nil {
			return refuse(400, "invalid_request")
		}
		s.move(put.State)
		return 200, `{"object":"device_source_instance_state"}`
	case "POST source-instances/" + source + "/local-collector-gaps":
		var g gapSaid
		if json.Unmarshal(body, &g) != nil || g.Reason != "policy_budget" && g.Reason != "connector_child_failure" {
			return refuse(400, "invalid_request")
		}
		s.gaps = append(s.gaps, g)
		return 201, `{"object":"device_local_collector_gap"}`
	}
	return refuse(404, "not_found")
}

// move takes cursors, each by its name.
func (s *server) move(state map[string]json.RawMessage) {
	for stream, cursor := range state {
		if strings.HasPrefix(stream, "$") {
			s.t.Errorf("the device sent %s, which is the server's", stream)
		}
		if stream == "notes" {
			s.heldAgainstRecords(cursor)
		}
		s.state[stream], s.moved = cursor, append(s.moved, stream)
	}
}

func (s *server) leased() string {
	type gap struct {
		GapID  string `json:"gap_id"`
		Stream string `json:"stream"`
		Parent string `json:"parent_stream"`
		Key    string `json:"record_key"`
		Reason string `json:"reason"`
	}
	all := []gap{}
	for name, reason := range s.missing {
		stream, key, _ := strings.Cut(name, "/")
		all = append(all, gap{"srv_" + key, stream, "notes", key, reason})
	}
	answer, _ := json.Marshal(map[string]any{"object": "device_source_instance_gaps", "data": all})
	return string(answer)
}

// heldAgainstRecords fails the test when a cursor is ahead of its records: the
// diary's counts the notes before it.
func (s *server) heldAgainstRecords(cursor json.RawMessage) {
	var at struct{ N int }
	_ = json.Unmarshal(cursor, &at)
	have := 0
	for name := range s.accepted {
		if strings.HasPrefix(name, "notes/") {
			have++
		}
	}
	if at.N > have+s.unseen {
		s.t.Errorf("the cursor %s came when the server had %d notes", cursor, have)
	}
}

func (s *server) ingest(body []byte) (int, string) {
	var b struct {
		DeviceID         string `json:"device_id"`
		SourceInstanceID string `json:"source_instance_id"`
		ConnectorID      string `json:"connector_id"`
		BatchID          string `json:"batch_id"`
		BatchSeq         int64  `json:"batch_seq"`
		BodyHash         string `json:"body_hash"`
		RunID            string `json:"run_id"`
		Records          []map[string]any
		State            map[string]json.RawMessage
		Gaps, Recovered  []struct {
			Stream, Reason string
			Key            string `json:"record_key"`
		}
	}
	body = bytes.ReplaceAll(body, []byte(`"recovered_gaps"`), []byte(`"recovered"`))
	if json.Unmarshal(body, &b) != nil || b.DeviceID != device || b.SourceInstanceID != source ||
		b.ConnectorID != "diary" ||
		b.BatchID == "" || b.BatchSeq == 0 || s.capable && b.RunID == "" || !s.capable && len(b.Records) == 0 ||
		len(b.Records) > 100 {
		return refuse(400, "invalid_request")
	}
	if s.tooMany != nil {
		if status, body, refused := s.tooMany(len(b.Records)); refused {
			return status, body
		}
	}
	for _, r := range b.Records {
		if _, reported := r["data"]; reported == (r["op"] == "delete") {
			return refuse(400, "invalid_request")
		}
	}
	if sorted(b.Records) != b.BodyHash {
		return refuse(400, "device_batch_hash_mismatch")
	}
	if have, seen := s.batches[b.BatchID]; seen {
		if have.hash != b.BodyHash {
			return refuse(409, "device_batch_conflict")
		}
		return 201, have.answer
	}
	for _, r := range b.Records {
		s.accepted[r["stream"].(string)+"/"+r["record_key"].(string)]++
	}
	if b.BatchSeq < s.lastSeq && s.inOrder {
		s.t.Errorf("batch %d came after %d", b.BatchSeq, s.lastSeq)
	}
	s.lastSeq = b.BatchSeq
	for _, g := range b.Gaps {
		s.missing[g.Stream+"/"+g.Key] = g.Reason
	}
	for _, g := range b.Recovered {
		delete(s.missing, g.Stream+"/"+g.Key)
	}
	s.move(b.State)
	answer, _ := json.Marshal(map[string]any{"object": "device_ingest_batch_result", "status": "accepted",
		"accepted_record_count": len(b.Records), "rejected_record_count": 0})
	s.batches[b.BatchID] = storedBatch{b.BodyHash, string(answer)}
	return 201, string(answer)
}

// sorted hashes records with the standard library, which writes map keys in sorted order.
func sorted(records []map[string]any) string {
	var canonical bytes.Buffer
	enc := json.NewEncoder(&canonical)
	enc.SetEscapeHTML(false)
	if records == nil {
		records = []map[string]any{}
	}
	if enc.Encode(records) != nil {
		return ""
	}
	sum := sha256.Sum256(bytes.TrimSpace(canonical.Bytes()))
	return hex.EncodeToString(sum[:])
}

// dropTime removes the one member of the counts that is no number.
func dropTime(body []byte) []byte {
	var all map[string]any
	if json.Unmarshal(body, &all) != nil {
		return nil
	}
	if counts, ok := all["outbox"].(map[string]any); ok {
		delete(counts, "oldest_pending_at")
	}
	out, _ := json.Marshal(all)
	return out
}

// answerWith makes every request of that name get the status.
func (s *server) answerWith(name string, status int, code, retryAfter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = func(_ int, got string, done bool, w http.ResponseWriter) bool {
		if got != name || done {
			return false
		}
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		if code != "" {
			_, body := refuse(status, code)
			_, _ = io.WriteString(w, body)
		}
		return true
	}
}

func (s *server) behave() { s.mu.Lock(); s.intercept = nil; s.mu.Unlock() }

func (s *server) lastBeat() beat {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.beats) == 0 {
		s.t.Fatal("there was no heartbeat")
	}
	return s.beats[len(s.beats)-1]
}

func (s *server) seen() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.requests) }
