package wire

import (
	"compress/gzip"
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

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

const token = "dvt_9f2ab77c41e0"

// seen is a request as the server got it.
type seen struct{ method, path, body string }

// answering starts a server that sends the same answer to every request and stores the last request.
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
	c, got := answering(t, 200, `{"object":"device_exporter_heartbeat","status":"accepted","requested_run":true}`)
	at, pending := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), int64(0)
	full := Heartbeat{
		SourceInstanceID: "src-a", ConnectorID: "notes", Status: StatusBlocked, AgentVersion: "1.2", RecordsPending: &pending,
		Outbox: &OutboxCounts{Pending: 1, Retrying: 2, Leased: 3, StaleLeases: 4, DeadLetter: 5, Succeeded: 6, Total: 7,
			BacklogOpen: 8, OldestPendingAt: &at},
		LastError: &HeartbeatError{ErrorDeadLetterBacklog, []DeadLetterClass{{"http_400", 5}}},
	}
	for _, step := range []struct {
		hb   Heartbeat
		body string
	}{
		{Heartbeat{SourceInstanceID: "src-a", ConnectorID: "notes", Status: StatusStarting},
			`{"source_instance_id":"src-a","connector_id":"notes","status":"starting"}`},
		{full, `{"source_instance_id":"src-a","connector_id":"notes","status":"blocked","agent_version":"1.2",` +
			`"records_pending":0,` +
			`"outbox":{"pending":1,"retrying":2,"leased":3,"stale_leases":4,"dead_letter":5,"succeeded":6,"total":7,` +
			`"backlog_open":8,"oldest_pending_at":"2026-03-01T12:00:00Z"},` +
			`"last_error":{"kind":"dead_letter_backlog","top_dead_letter_classes":[{"error_class":"http_400","count":5}]}}`},
	} {
		if answer, err := c.Heartbeat(t.Context(), step.hb); err != nil || !answer.RequestedRun {
			t.Fatalf("%+v, %v", answer, err)
		}
		if want := (seen{"POST", root + "heartbeat", step.body}); *got != want {
			t.Errorf("sent %+v\nwant %+v", *got, want)
		}
	}
}

func TestIngestOnTheWire(t *testing.T) {
	c, got := answering(t, 201,
		`{"object":"device_ingest_batch_result","status":"accepted","accepted_record_count":2,"rejected_record_count":1,`+
			`"rejections":[{"index":1,"code":"x"}]}`)
	records := []slice.Record{
		{Stream: "notes", Key: "n1", Data: jsontext.Value(`{"b":1, "a":"x"}`), EmittedAt: "2026-03-01T12:00:00Z"},
		{Stream: "notes", Key: "n2", Op: protocol.OpDelete, EmittedAt: "2026-03-01T12:00:01Z"},
	}
	hash, err := BodyHash(records)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Ingest(t.Context(), Batch{SourceInstanceID: "src-a", ConnectorID: "notes", BatchID: "local-outbox:1",
		BatchSeq: 7, Records: records})
	if err != nil || answer.Accepted != 2 || answer.Rejected != 1 || answer.Rejections[0] != (Rejection{1, "x"}) {
		t.Fatalf("answer %+v, %v", answer, err)
	}
	want := seen{"POST", root + "ingest-batches",
		`{"records":[{"data":{"a":"x","b":1},"emitted_at":"2026-03-01T12:00:00Z","record_key":"n1","stream":"notes"},` +
			`{"emitted_at":"2026-03-01T12:00:01Z","op":"delete","record_key":"n2","stream":"notes"}],` +
			`"device_id":"dev/1","source_instance_id":"src-a","connector_id":"notes","batch_id":"local-outbox:1",` +
			`"batch_seq":7,"body_hash":"` + hash + `"}`}
	if diff := cmp.Diff(want, *got, cmp.AllowUnexported(seen{})); diff != "" {
		t.Error(diff)
	}
	if records[0].Deleted() || !records[1].Deleted() {
		t.Error("the second record alone is a tombstone")
	}
}

func TestStateOnTheWire(t *testing.T) {
	c, got := answering(t, 200,
		`{"object":"device_source_instance_state","state":{"notes":{"at": 3}},"capabilities":["gzip"]}`)
	state, err := c.State(t.Context(), "src a")
	if err != nil || len(state.State) != 1 || string(state.State["notes"]) != `{"at": 3}` ||
		state.Capabilities[0] != CanGzip {
		t.Fatalf("state %+v, %v", state, err)
	}
	if want := (seen{"GET", root + "source-instances/src%20a/state", ""}); *got != want {
		t.Errorf("sent %+v", *got)
	}
	if err := c.PutState(t.Context(), "src-a", StateUpdate{State: state.State, AfterBatchID: "b"}); err != nil {
		t.Fatal(err)
	}
	if want := (seen{"PUT", root + "source-instances/src-a/state",
		`{"state":{"notes":{"at":3}},"after_batch_id":"b"}`}); *got != want {
		t.Errorf("sent %+v", *got)
	}
	c, _ = answering(t, 200, `{"object":"device_source_instance_state","state":null}`)
	if state, err := c.State(t.Context(), "src-a"); err != nil || state.State == nil || len(state.State) != 0 {
		t.Errorf("no state: %+v, %v", state, err)
	}
}

func TestGapsOnTheWire(t *testing.T) {
	c, got := answering(t, 201, `{"object":"device_local_collector_gap"}`)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	g := Gap{SourceInstanceID: "src-a", ConnectorID: "notes", Reason: GapConnectorChildFailure, FirstSeenAt: at,
		Retryable: true, NextAttemptBackoffMS: 900_000, Stream: "notes"}
	if err := c.ReportGap(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if want := (seen{"POST", root + "source-instances/src-a/local-collector-gaps",
		`{"source_instance_id":"src-a","connector_id":"notes","reason":"connector_child_failure",` +
			`"first_seen_at":"2026-03-01T12:00:00Z","retryable":true,"next_attempt_backoff_ms":900000,"stream":"notes"}`}); *got != want {
		t.Errorf("sent %+v", *got)
	}
	if err := c.RecoverGap(t.Context(), GapRecovered{SourceInstanceID: "src-a", ConnectorID: "notes",
		Reason: GapPolicyBudget}); err != nil {
		t.Fatal(err)
	}
	if want := (seen{"POST", root + "source-instances/src-a/local-collector-gaps/recovered",
		`{"source_instance_id":"src-a","connector_id":"notes","reason":"policy_budget"}`}); *got != want {
		t.Errorf("sent %+v", *got)
	}
	c, got = answering(t, 200,
		`{"object":"device_source_instance_gaps","data":[{"gap_id":"g1","stream":"notes","record_key":"k","reason":"x"}]}`)
	if gaps, err := c.LeaseGaps(t.Context(), "src-a"); err != nil || len(gaps) != 1 || gaps[0].RecordKey != "k" ||
		got.path != root+"source-instances/src-a/gaps" {
		t.Errorf("%+v, %v, %+v", gaps, err, *got)
	}
}

func TestEnrolmentOnTheWire(t *testing.T) {
	c, got := answering(t, 201,
		`{"object":"device_exporter_enrollment","device_id":"dexp_1","device_token":"ldt_x",`+
			`"source_instance_id":"dsrc_1","connector_instance_id":"conn_1","connector_id":"notes",`+
			`"local_binding_name":"laptop"}`)
	enrolled, err := c.Enroll(t.Context(), Enrollment{Code: "lde_1", DeviceLabel: "Studio"})
	if err != nil || enrolled.DeviceID != "dexp_1" || enrolled.DeviceToken != "ldt_x" ||
		enrolled.SourceInstanceID != "dsrc_1" {
		t.Fatalf("%+v, %v", enrolled, err)
	}
	if want := (seen{"POST", "/_ref/device-exporters/enroll",
		`{"enrollment_code":"lde_1","device_label":"Studio"}`}); *got != want {
		t.Errorf("sent %+v", *got)
	}
	c, got = answering(t, 201, `{"object":"device_exporter_token","device_token":"ldt_y"}`)
	if token, err := c.RotateToken(t.Context()); err != nil || token.DeviceToken != "ldt_y" ||
		*got != (seen{"POST", root + "token", `{}`}) {
		t.Errorf("%+v, %v, %+v", token, err, *got)
	}
	c, got = answering(t, 200, `{"object":"device_exporter_revocation","revoked_at":"2026-03-01T12:00:00Z"}`)
	if end, err := c.SelfRevoke(t.Context()); err != nil || end.RevokedAt.IsZero() ||
		*got != (seen{"POST", root + "self-revoke", `{}`}) {
		t.Errorf("%+v, %v, %+v", end, err, *got)
	}
}

func TestLargeBodiesAreCompressed(t *testing.T) {
	c, got := answering(t, 200, `{"object":"device_exporter_heartbeat"}`)
	c.Compress = true
	if _, err := c.Heartbeat(t.Context(), Heartbeat{AgentVersion: strings.Repeat("x", 9000)}); err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(r); err != nil || len(got.body) > 1000 || !strings.Contains(string(plain), "xxxx") {
		t.Errorf("%d bytes sent for %d, %v", len(got.body), len(plain), err)
	}
}

// TestAnswers is the whole table of what a client does with an answer that is no success.
func TestAnswers(t *testing.T) {
	envelope := func(code string) string {
		return `{"error":{"type":"t","code":"` + code + `","message":"about ` + token + `","request_id":"req_1"}}`
	}
	const second = time.Second
	for name, step := range map[string]struct {
		status int
		body   string
		after  string // Retry-After
		want   Error
		action Action
		why    string // for Stop
	}{
		"busy": {503, envelope("device_ingest_retryable"), "1",
			Error{Code: "device_ingest_retryable", Ours: true, RetryAfter: second}, Wait, ""},
		"device busy": {429, envelope("device_busy"), "7", Error{Code: "device_busy", Ours: true, RetryAfter: 7 * second},
			Wait, ""},
		"too many":      {429, `<html>`, "x", Error{Code: "http_429"}, Wait, ""},
		"too slow":      {408, `{"error":"slow"}`, "", Error{Code: "http_408"}, Wait, ""},
		"too early":     {425, ``, "", Error{Code: "http_425"}, Wait, ""},
		"broken":        {500, strings.Repeat("x", 3<<20), "", Error{Code: "http_500"}, Wait, ""},
		"proxy":         {502, `<html>`, "2", Error{Code: "http_502", RetryAfter: 2 * second}, Wait, ""},
		"portal":        {302, ``, "", Error{Code: "http_302"}, Stop, ServerUnreachable},
		"elsewhere":     {307, envelope("moved"), "", Error{Code: "moved", Ours: true}, Stop, ServerUnreachable},
		"portal's page": {200, `<html>Welcome</html>`, "", Error{Code: CodeInvalidResponse}, Stop, ServerUnreachable},
		"other object":  {200, `{"object":"weather"}`, "", Error{Code: CodeInvalidResponse}, Stop, ServerUnreachable},
		"garbage":       {200, `[`, "", Error{Code: CodeInvalidResponse}, Stop, ServerUnreachable},
		"empty":         {204, ``, "", Error{Code: CodeInvalidResponse}, Stop, ServerUnreachable},
		"endless": {200, `{"object":"device_source_instance_state","state":{"a":"` + strings.Repeat("x", 2<<20) +
			`"}}`, "", Error{Code: CodeInvalidResponse}, Stop, ServerUnreachable},
		"no envelope": {400, `{"error":"no"}`, "", Error{Code: "http_400"}, Stop, ServerUnreachable},
		"no request id": {400, `{"error":{"code":"invalid_request"}}`, "", Error{Code: "invalid_request"}, Stop,
			ServerUnreachable},
		"echoes":          {400, envelope("bad_" + token), "", Error{Code: "http_400"}, Stop, ServerUnreachable},
		"other program":   {404, `404 page not found`, "", Error{Code: "http_404"}, Stop, ServerUnreachable},
		"login of others": {401, `<html>`, "", Error{Code: "http_401"}, Stop, ServerUnreachable},
		"unknown device": {401, envelope("authentication_error"), "9", Error{Code: "authentication_error", Ours: true}, Stop,
			DeviceUnknown},
		"other device": {403, envelope("permission_error"), "", Error{Code: "permission_error", Ours: true}, Stop,
			DeviceUnknown},
		"unknown source": {404, envelope("not_found"), "", Error{Code: "not_found", Ours: true}, Stop, SourceUnknown},
		"old protocol": {409, envelope(CodeProtocolMismatch), "", Error{Code: CodeProtocolMismatch, Ours: true}, Stop,
			UpgradeNeeded},
		"old manifest": {409, envelope(CodeManifestMismatch), "", Error{Code: CodeManifestMismatch, Ours: true}, Stop,
			UpgradeNeeded},
		"too large":     {413, envelope("payload_too_large"), "", Error{Code: "payload_too_large", Ours: true}, Split, ""},
		"proxy's limit": {413, `<html>`, "", Error{Code: "http_413"}, Split, ""},
		"conflict":      {409, envelope(CodeBatchConflict), "", Error{Code: CodeBatchConflict, Ours: true}, PutAside, ""},
		"wrong hash":    {400, envelope(CodeHashMismatch), "", Error{Code: CodeHashMismatch, Ours: true}, PutAside, ""},
		"other refusal": {422, envelope("unprocessable"), "", Error{Code: "unprocessable", Ours: true}, PutAside, ""},
	} {
		t.Run(name, func(t *testing.T) {
			headers := []string{"Retry-After", step.after}
			if step.status/100 == 3 {
				headers = append(headers, "Location", "https://portal.example/")
			}
			c, _ := answering(t, step.status, step.body, headers...)
			_, err := c.State(t.Context(), "src-a")
			var got *Error
			if !errors.As(err, &got) {
				t.Fatalf("error %v", err)
			}
			step.want.Status, step.want.Message = step.status, got.Message
			if *got != step.want || got.Message == "" || got.Action() != step.action || step.why != "" &&
				got.Condition() != step.why {
				t.Errorf("got %+v, action %d, condition %q\nwant %+v, %d, %q", *got, got.Action(), got.Condition(), step.want,
					step.action, step.why)
			}
			if strings.Contains(err.Error(), token) {
				t.Errorf("the token shows in %q", err)
			}
		})
	}
}

func TestARequestThatCannotBeMadeIsNotTriedAgain(t *testing.T) {
	for name, c := range map[string]*Client{
		"no address": {DeviceID: "dev"}, "no http": {BaseURL: "ftp://box.example", DeviceID: "dev"},
		"broken":    {BaseURL: "http://%zz", DeviceID: "dev"},
		"user":      {BaseURL: "https://ines:pw@box.example", DeviceID: "dev"},
		"query":     {BaseURL: "https://box.example?a=b", DeviceID: "dev"},
		"no device": {BaseURL: "https://box.example"}, "parent": {BaseURL: "https://box.example", DeviceID: ".."},
	} {
		_, err := c.Heartbeat(context.Background(), Heartbeat{})
		var got *Error
		if !errors.As(err, &got) || got.Code != CodeInvalidRequest || got.Action() != PutAside || got.Status != 0 ||
			strings.Contains(err.Error(), "pw") {
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
