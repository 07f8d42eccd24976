package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// server knows one device and keeps what it accepts.
type server struct {
	*httptest.Server
	device, token string

	mu       sync.Mutex
	requests int
	strange  []string // requests that this device had no business to make
	refusing bool     // uploads are refused for good
	accepted []string // keys
	state    json.RawMessage
	beats    []string
	next     string // the source that the next code is for
}

func newServer(t *testing.T, device, token string) *server {
	s := &server{device: device, token: token, state: json.RawMessage("{}")}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/_ref/device-exporters/enroll" {
		s.enrol(w, body, r.Header.Get("Authorization"))
		return
	}
	rest, ours := strings.CutPrefix(r.URL.Path, "/_ref/device-exporters/"+s.device+"/")
	if !ours || r.Header.Get("Authorization") != "Bearer "+s.token || r.Header.Get("X-PDPP-Collector-Protocol") != "1" {
		s.strange = append(s.strange, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	var got struct {
		Status      string
		ConnectorID string `json:"connector_id"`
		Records     []struct {
			Key string `json:"record_key"`
		}
		State json.RawMessage
	}
	_ = json.Unmarshal(body, &got)
	object := ""
	switch what := r.Method + " " + rest[strings.LastIndex(rest, "/")+1:]; what {
	case "POST heartbeat":
		s.beats = append(s.beats, got.Status)
		object = "device_exporter_heartbeat"
	case "GET state":
		_, _ = io.WriteString(w, `{"object":"device_source_instance_state","state":`+string(s.state)+`}`)
		return
	case "POST self-revoke":
		object = "device_exporter_revocation"
	case "PUT state":
		s.state = got.State
		object = "device_source_instance_state"
	case "POST ingest-batches":
		if s.refusing {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"type":"e","code":"invalid_request","message":"no","request_id":"req_1"}}`)
			return
		}
		for _, record := range got.Records {
			s.accepted = append(s.accepted, record.Key)
		}
		w.WriteHeader(http.StatusCreated)
		object = "device_ingest_batch_result"
	default:
		s.strange = append(s.strange, what)
	}
	_, _ = io.WriteString(w, `{"object":"`+object+`"}`)
}

// enrol lets in who shows the code for the next source; a device that shows its token gets
// no other.
func (s *server) enrol(w http.ResponseWriter, body []byte, shown string) {
	var asked struct {
		Code string `json:"enrollment_code"`
	}
	if json.Unmarshal(body, &asked) != nil || asked.Code != "lde_"+s.next {
		w.WriteHeader(http.StatusGone)
		_, _ = io.WriteString(w, `{"error":{"type":"e","code":"enrollment_code_expired","message":"no",`+
			`"request_id":"req_1"}}`)
		return
	}
	token := s.token
	if shown == "Bearer "+s.token {
		token = ""
	}
	answer, _ := json.Marshal(map[string]string{"object": "device_exporter_enrollment", "device_id": s.device,
		"device_token":       token,
		"source_instance_id": s.next, "connector_instance_id": "conn_1", "connector_id": "diary",
		"local_binding_name": s.next})
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(answer)
}

func (s *server) expect(source string) { s.mu.Lock(); s.next = source; s.mu.Unlock() }

func (s *server) refuse(yes bool) { s.mu.Lock(); s.refusing = yes; s.mu.Unlock() }

func (s *server) count() int { s.mu.Lock(); defer s.mu.Unlock(); return s.requests }

func (s *server) mustHave(t *testing.T, keys ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.accepted, keys) || len(s.strange) > 0 {
		t.Errorf("the server accepted %v, want %v; strange requests: %v", s.accepted, keys, s.strange)
	}
}
