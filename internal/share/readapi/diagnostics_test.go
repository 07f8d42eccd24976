package readapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// troubled fills the store with everything that an owner may see and a client may not. Each contains the word
// "marmot" or is named by its kind.
func (w *world) troubled() {
	w.t.Helper()
	mine, _ := w.furnish()
	ctx, t := w.ctx(), w.t
	check(t, w.store.PutCredential(ctx,
		store.Credential{ConnectionID: "mine", Kind: "marmot_kind", Sealed: []byte("marmot sealed"),
			Fingerprint: "marmot print",
			Status:      store.CredentialActive, CapturedAt: noon.Add(-time.Hour)}))
	check(t, w.store.RejectCredential(ctx, "mine", "marmot_rejected_token", noon.Add(-time.Hour), noon))
	soon := noon.Add(time.Hour)
	_, err := w.store.CommitSlice(ctx, mine, slice.Slice{Gaps: []slice.Gap{
		{Stream: "notes", RecordKey: "marmot-1", Reason: protocol.ReasonRateLimited, Retryable: true,
			Locator:   jsontext.Value(`{"path":"/marmot"}`),
			LastError: jsontext.Value(`{"message":"marmot"}`), NotBefore: &soon},
		{Stream: "letters", RecordKey: "marmot-2", Reason: protocol.ReasonRateLimited, Retryable: true},
	}}, noon)
	check(t, err)
	_, err = w.store.JoinAllowance(ctx, mine, "marmot_allowance", "api", noon)
	check(t, err)
	check(t, w.store.UpdateAllowances(ctx,
		[]store.AllowanceUpdate{{Key: "marmot_allowance", RunID: mine.RunID, News: jsontext.Value(`{"marmot":4242}`),
			Learned: jsontext.Value(`{"marmot":4242}`)}}, noon))
	check(t, w.store.FinishRun(ctx, mine, store.RunOutcome{
		Status: store.RunFailed, FailureReason: "marmot_reason", Error: "marmot failure",
		ConnectorError: jsontext.Value(`{"code":"marmot"}`),
		KnownGaps:      jsontext.Value(`[{"kind":"marmot"}]`),
		Event:          slice.Event{Type: "run.failed", Data: jsontext.Value(`{"why":"marmot"}`)},
	}, noon))
	pending := int64(4242)
	check(t, w.store.PutDevice(ctx, store.Device{ID: "marmot_device", DisplayName: "marmot laptop", Status: "active",
		LastError: jsontext.Value(`{"m":"marmot"}`), CreatedAt: noon, UpdatedAt: noon}))
	check(t, w.store.PutDeviceSource(ctx, store.DeviceSource{
		ID: "marmot_source", DeviceID: "marmot_device", ConnectorID: "journal", ConnectionID: "mine", LocalBinding: "marmot",
		SourceKind:  store.SourceLocalDevice,
		DisplayName: "marmot", Status: "active", LastHeartbeatAt: &noon, LastHeartbeatStatus: "stalled",
		RecordsPending:    &pending,
		OutboxDiagnostics: jsontext.Value(`{"dead_letter":4242,"oldest":"marmot"}`), CreatedAt: noon, UpdatedAt: noon,
	}))
}

// diagnoses are words of the owner's diagnostics: what was stored above, and the names
// of their members.
var diagnoses = []string{
	"marmot", "4242", "allowance", "health", "verdict", "detail_gap", "backlog", "outbox", "dead_letter", "pending",
	"reject", "credential", "attention", "stalled",
	"heartbeat", "device", "condition", "gap", "failure", "failed", "rate_limit", "trace", "suppressed", "remediation",
	"next_attempt", "run_id", "reason", "Journal of",
}

// Whatever a client with a grant asks for, no answer holds anything of it, refusals included.
func TestNoAnswerHoldsADiagnosis(t *testing.T) {
	t.Attr("spec", "CH-06.2")
	t.Attr("spec", "CH-19.3")
	t.Attr("spec", "CH-27.4")
	w := newWorld(t)
	w.troubled()
	if gaps, err := w.store.ListGaps(w.ctx(), store.GapQuery{ConnectionID: "mine"}); err != nil || len(gaps) != 2 {
		t.Fatalf("the store holds %d gaps (%v): the search does not see what it is for", len(gaps), err)
	}
	tokens := map[string]string{
		"whole":  w.grant("", notes, grants.Stream{ConnectionID: "mine", Stream: "letters"}),
		"narrow": w.grant("", february(grants.Stream{ConnectionID: "mine", Stream: "notes", Fields: []string{"title"}})),
		"single": w.grant(store.GrantSingleUse, notes),
	}
	paths := []string{
		"/v1/streams", "/v1/streams/notes", "/v1/streams/letters", "/v1/streams/notes/records",
		"/v1/streams/notes/records?order=desc&limit=1",
		"/v1/streams/notes/records?changes_since=beginning", "/v1/streams/notes/records/n2",
		"/v1/streams/notes/records/nobody", "/v1/streams/letters/records",
		"/v1/search?q=coast", "/v1/search?q=marmot", "/v1/schema", "/v1/connectors", "/v1/streams/nowhere",
		"/v1/streams/notes/records?fields=private",
		"/v1/streams/notes/records?expand=connection", "/v1/streams?profile=full", "/v1/streams/notes/records?cursor=x",
	}
	found := 0
	for name, token := range tokens {
		for _, path := range paths {
			a := w.ask(token, path)
			if a.status == 200 {
				found++
			}
			for _, word := range diagnoses {
				if strings.Contains(strings.ToLower(cursor.ReplaceAllString(a.body, "")), strings.ToLower(word)) {
					t.Errorf("%s with %s: the answer holds %q: %s", path, name, word, a.body)
				}
			}
			for header := range a.header {
				if strings.Contains(strings.ToLower(header), "health") {
					t.Errorf("%s with %s: header %s", path, name, header)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d answers had something in them", found)
	}
}

// blocked is a store that answers clients with a fault of the owner's.
type blocked struct{ store.Store }

func (b blocked) ListRecords(context.Context, store.RecordQuery) ([]store.StoredRecord, error) {
	return nil, &usererr.Error{Status: http.StatusConflict, Code: "provider_wait",
		Message: "Kelp refused the credential of marmot-2.", RunID: "run_7"}
}

// A fault that was made for the owner is not an answer to a client, whatever way it took.
func TestFaultsOfTheOwnerStayTheirs(t *testing.T) {
	t.Attr("spec", "CH-06.2")
	w := newWorld(t)
	w.furnish()
	w.serveWith(blocked{w.store}, readapi.GrantLimits{})
	got := w.ask(w.grant("", notes), "/v1/streams/notes/records")
	if got.status != http.StatusInternalServerError || strings.Contains(got.body, "marmot") ||
		strings.Contains(got.body, "provider_wait") || strings.Contains(got.body, "run_7") {
		t.Errorf("answered %d: %s", got.status, got.body)
	}
}
