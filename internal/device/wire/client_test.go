package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"pdpp/internal/slice"
	"pdpp/protocol"
)

const token = "dvt_9f2ab77c41e0"

// seen is a request as the server got it.
type seen struct{ method, path, body string }

// answering is a server that gives every request the same answer and keeps the last one.
func answering(t *testing.T, status int, body string, headers ...string) (*Client, *seen) {
	t.Helper()
	var got seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = seen{r.Method, r.URL.EscapedPath(), string(content)}
		if r.Header.Get("Authorization") != "Bearer "+token || r.Header.Get(ProtocolHeader) != ProtocolVersion {
			t.Errorf("headers %v", r.Header)
		}
		if len(content) > 0 && r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("content type %q", r.Header.Get("Content-Type"))
		}
		for n := 0; n < len(headers); n += 2 {
			w.Header().Set(headers[n], headers[n+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return &Client{BaseURL: server.URL, DeviceID: "dev/1", Token: token, HTTP: server.Client()}, &got
}

const root = "/_ref/device-exporters/dev%2F1/"

func TestHeartbeatOnTheWire(t *testing.T) {
	c, got := answering(t, 200, `{"object":"device_exporter_heartbeat","status":"accepted"}`)
	at, pending := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), int64(0)
	full := Heartbeat{
		SourceInstanceID: "src-a", ConnectorID: "notes", Status: StatusBlocked, AgentVersion: "1.2", RecordsPending: &pending,
		Outbox:    &OutboxCounts{Pending: 1, Retrying: 2, Leased: 3, StaleLeases: 4, DeadLetter: 5, Succeeded: 6, Total: 7, BacklogOpen: 8, OldestPendingAt: &at},
		LastError: &HeartbeatError{ErrorDeadLetterBacklog, []DeadLetterClass{{"http_400", 5}}},
	}
	for _, step := range []struct {
		hb   Heartbeat
		body string
	}{
		{Heartbeat{SourceInstanceID: "src-a", ConnectorID: "notes", Status: StatusStarting},
			`{"source_instance_id":"src-a","connector_id":"notes","status":"starting"}`},
		{full, `{"source_instance_id":"src-a","connector_id":"notes","status":"blocked","agent_version":"1.2","records_pending":0,` +
			`"outbox":{"pending":1,"retrying":2,"leased":3,"stale_leases":4,"dead_letter":5,"succeeded":6,"total":7,"backlog_open":8,"oldest_pending_at":"2026-03-01T12:00:00Z"},` +
			`"last_error":{"kind":"dead_letter_backlog","top_dead_letter_classes":[{"error_class":"http_400","count":5}]}}`},
	} {
		if err := c.Heartbeat(t.Context(), step.hb); err != nil {
			t.Fatal(err)
		}
		if want := (seen{"POST", root + "heartbeat", step.body}); *got != want {
			t.Errorf("sent %+v\nwant %+v", *got, want)
		}
	}
}

func TestIngestOnTheWire(t *testing.T) {
	c, got := answering(t, 201, `{"object":"x","status":"accepted","accepted_record_count":2,"rejected_record_count":1}`)
	records := []slice.Record{
		{Stream: "notes", Key: "n1", Data: jsontext.Value(`{"b":1, "a":"x"}`), EmittedAt: "2026-03-01T12:00:00Z"},
		{Stream: "notes", Key: "n2", Op: protocol.OpDelete, EmittedAt: "2026-03-01T12:00:01Z"},
	}
	hash, err := BodyHash(records)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Ingest(t.Context(), Batch{SourceInstanceID: "src-a", ConnectorID: "notes", BatchID: "local-outbox:1", BatchSeq: 7, Records: records})
	if err != nil || answer != (BatchAnswer{"accepted", 2, 1}) {
		t.Fatalf("answer %+v, %v", answer, err)
	}
	want := seen{"POST", root + "ingest-batches", `{"device_id":"dev/1","source_instance_id":"src-a","connector_id":"notes","batch_id":"local-outbox:1","batch_seq":7,"body_hash":"` + hash + `",` +
		`"records":[{"stream":"notes","record_key":"n1","data":{"b":1,"a":"x"},"emitted_at":"2026-03-01T12:00:00Z"},` +
		`{"stream":"notes","record_key":"n2","data":null,"emitted_at":"2026-03-01T12:00:01Z","op":"delete"}]}`}
	if diff := cmp.Diff(want, *got, cmp.AllowUnexported(seen{})); diff != "" {
		t.Error(diff)
	}
	if records[0].Deleted() || !records[1].Deleted() {
		t.Error("the second record alone is a tombstone")
	}
}

func TestStateOnTheWire(t *testing.T) {
	c, got := answering(t, 200, `{"object":"state","state":{"notes":{"at": 3}}}`)
	state, err := c.State(t.Context(), "src a")
	if err != nil || len(state) != 1 || string(state["notes"]) != `{"at": 3}` {
		t.Fatalf("state %v, %v", state, err)
	}
	if want := (seen{"GET", root + "source-instances/src%20a/state", ""}); *got != want {
		t.Errorf("sent %+v", *got)
	}
	if err := c.PutState(t.Context(), "src-a", state); err != nil {
		t.Fatal(err)
	}
	if want := (seen{"PUT", root + "source-instances/src-a/state", `{"state":{"notes":{"at":3}}}`}); *got != want {
		t.Errorf("sent %+v", *got)
	}
	c, _ = answering(t, 200, `{"state":null}`)
	if state, err := c.State(t.Context(), "src-a"); err != nil || state == nil || len(state) != 0 {
		t.Errorf("no state: %v, %v", state, err)
	}
}

func TestReportGapOnTheWire(t *testing.T) {
	c, got := answering(t, 201, ``)
	if err := c.ReportGap(t.Context(), "src-a", Gap{Reason: GapConnectorChildFailure, Stream: "notes"}); err != nil {
		t.Fatal(err)
	}
	if want := (seen{"POST", root + "local-collector-gaps", `{"source_instance_id":"src-a","reason":"connector_child_failure","stream":"notes"}`}); *got != want {
		t.Errorf("sent %+v", *got)
	}
}

func TestAnswersThatAreNoSuccess(t *testing.T) {
	envelope := func(code string) string {
		return `{"error":{"type":"t","code":"` + code + `","message":"about ` + token + `"}}`
	}
	for name, step := range map[string]struct {
		status  int
		body    string
		headers []string
		want    Error
	}{
		"conflict":     {409, envelope("device_batch_conflict"), nil, Error{Code: "device_batch_conflict"}},
		"wrong hash":   {400, envelope("device_batch_hash_mismatch"), nil, Error{Code: "device_batch_hash_mismatch"}},
		"unknown":      {401, envelope("unauthorized"), []string{"Retry-After", "9"}, Error{Code: "unauthorized"}},
		"other device": {403, ``, nil, Error{Code: "http_403"}},
		"busy":         {503, envelope("device_ingest_retryable"), []string{"Retry-After", "1"}, Error{Code: "device_ingest_retryable", Retryable: true, RetryAfter: time.Second}},
		"too many":     {429, `<html>`, []string{"Retry-After", "x"}, Error{Code: "http_429", Retryable: true}},
		"too slow":     {408, `{"error":"slow"}`, nil, Error{Code: "http_408", Retryable: true}},
		"broken":       {500, strings.Repeat("x", 3<<20), nil, Error{Code: "http_500", Retryable: true}},
		"elsewhere":    {307, ``, []string{"Location", "https://other.example/"}, Error{Code: "http_307"}},
		"echoes":       {400, envelope("bad_" + token), nil, Error{Code: "http_400"}},
		"garbage":      {200, `[`, nil, Error{Code: CodeInvalidResponse, Retryable: true}},
		"endless":      {200, `{"state":{"a":"` + strings.Repeat("x", 2<<20) + `"}}`, nil, Error{Code: CodeInvalidResponse, Retryable: true}},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := answering(t, step.status, step.body, step.headers...)
			_, err := c.State(t.Context(), "src-a")
			var got *Error
			if !errors.As(err, &got) {
				t.Fatalf("error %v", err)
			}
			step.want.Status, step.want.Message = step.status, got.Message
			if *got != step.want || got.Message == "" {
				t.Errorf("got %+v\nwant %+v", *got, step.want)
			}
			if strings.Contains(err.Error(), token) {
				t.Errorf("the token shows in %q", err)
			}
		})
	}
}

func TestARequestThatCannotBeMadeIsNotTriedAgain(t *testing.T) {
	for name, c := range map[string]*Client{
		"no address": {DeviceID: "dev"}, "no http": {BaseURL: "ftp://box.example", DeviceID: "dev"}, "broken": {BaseURL: "http://%zz", DeviceID: "dev"},
		"user": {BaseURL: "https://ines:pw@box.example", DeviceID: "dev"}, "query": {BaseURL: "https://box.example?a=b", DeviceID: "dev"},
		"no device": {BaseURL: "https://box.example"}, "parent": {BaseURL: "https://box.example", DeviceID: ".."},
	} {
		err := c.Heartbeat(context.Background(), Heartbeat{})
		var got *Error
		if !errors.As(err, &got) || got.Code != CodeInvalidRequest || got.Retryable || got.Status != 0 || strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := &Client{BaseURL: "https://box.example", DeviceID: "dev"}
	_, err := c.Ingest(t.Context(), Batch{Records: []slice.Record{{Data: jsontext.Value(`{`)}}})
	var got *Error
	if !errors.As(err, &got) || got.Code != CodeInvalidRequest {
		t.Errorf("records that are no JSON: %v", err)
	}
	if got := c.transport(); got.CheckRedirect == nil || http.DefaultClient.CheckRedirect != nil {
		t.Error("the client follows redirects, or everyone's client was changed")
	}
}
