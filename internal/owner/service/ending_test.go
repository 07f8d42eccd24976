package service

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// asked opens a record of what the owner is asked.
func (b *serviceHarness) asked(id string, kind verdict.ActionKind, contract verdict.Contract) {
	b.t.Helper()
	b.requireNoError(b.Store.SaveAttention(
		b.ctx(),
		[]attention.AttentionRecord{
			{ID: "att_" + string(kind), ConnectionID: id, Kind: string(kind), Contract: string(contract),
				Words: "Do it.", Lifecycle: evidence.AttentionOpen, OpenedAt: b.at, UpdatedAt: b.at,
				Notice: attention.NoticeSuppressed},
		},
		nil,
	))
}

func (b *serviceHarness) openUpload(id string) []attention.AttentionRecord {
	b.t.Helper()
	open, err := b.Store.Attention(b.ctx(), store.AttentionQuery{ConnectionIDs: []string{id}})
	b.requireNoError(err)
	return open
}

// An ended connection collects no more and keeps its records.
func TestRevoke(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	b.succeed(id)
	b.asked(id, verdict.Reauth, verdict.CredentialPresent)
	lease := b.begin(id, "run_a")
	b.requireNoError(b.requestManualRun(b.ctx(), id))
	b.requireNoError(b.Store.SaveBrowserProfile(b.ctx(), lease,
		store.BrowserProfile{ConnectionID: id, Name: "trowel__" + id,
			Sealed: []byte("sealed")}, b.at))
	for range 2 { // again changes nothing
		b.requireNoError(b.Revoke(b.ctx(), id))
	}
	if wanted, err := b.Store.RenewLease(b.ctx(), lease, time.Hour, b.at); err != nil || !wanted {
		t.Errorf("the run is told %t, %v", wanted, err)
	}
	if _, err := b.Store.Credential(b.ctx(), id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("credential: %v", err)
	}
	if profiles, err := b.Store.BrowserProfiles(b.ctx()); err != nil || len(profiles) > 0 {
		t.Errorf("browser profiles: %+v, %v", profiles, err)
	}
	if b.requested(id) || len(b.openUpload(id)) != 0 {
		t.Errorf("requested %t, asked %+v", b.requested(id), b.openUpload(id))
	}
	d, err := b.Connection(b.ctx(), id)
	b.requireNoError(err)
	if d.Status != "revoked" || d.Plan != nil || d.Credential != nil {
		t.Errorf("connection %+v", d)
	}
	if page, err := b.Records(b.ctx(), api.RecordQuery{ConnectionID: id, Stream: "beds"}); err != nil ||
		len(page.Records) != 2 {
		t.Errorf("%d records, %v", len(page.Records), err)
	}
	wantError(t, b.Run(b.ctx(), id), api.CodeRevoked, "")
	wantError(t, b.SetSchedule(b.ctx(), id, api.Schedule{IntervalSeconds: 7200, Enabled: true}), api.CodeRevoked, "")
	wantError(t, b.SetCredential(b.ctx(), id, map[string]string{"token": "trowel"}), api.CodeRevoked, "")
	wantError(t, b.Revoke(b.ctx(), "cin_none"), api.CodeNotFound, "")
}

// Where the owner was asked for a credential, the watcher of that record asks for the
// run that confirms it; elsewhere it is asked for with the credential.
func TestNewCredentialIsConfirmed(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("rake").ID
	b.makeRun(id)
	b.requireNoError(b.SetCredential(b.ctx(), id, map[string]string{"token": "spade"}))
	if !b.requested(id) {
		t.Error("nothing confirms the credential")
	}
	b.makeRun(id)
	b.asked(id, verdict.Reauth, verdict.CredentialPresent)
	b.requireNoError(b.SetCredential(b.ctx(), id, map[string]string{"token": "trowel"}))
	if b.requested(id) {
		t.Error("the run is asked for twice")
	}
	looks, err := b.Store.ClaimChecks(b.ctx(), b.at, time.Minute, 10)
	b.requireNoError(err)
	if len(looks) != 1 {
		t.Errorf("looks %+v", looks)
	}
	wantError(t, b.SetCredential(b.ctx(), id, nil), api.CodeCredentialForm, "token")
}

func TestReattachSchedule(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	b.succeed(id)
	off := api.Schedule{IntervalSeconds: 7200}
	b.requireNoError(b.SetSchedule(b.ctx(), id, off))
	b.asked(id, verdict.ReattachSchedule, verdict.ScheduleAttached)
	for range 2 {
		_, err := b.Store.ClaimChecks(b.ctx(), b.at, time.Minute, 10)
		b.requireNoError(err)
		b.requireNoError(b.Acknowledge(b.ctx(), id, string(verdict.ReattachSchedule)))
		if looks, err := b.Store.ClaimChecks(b.ctx(), b.at, time.Minute, 10); err != nil || len(looks) != 1 {
			t.Errorf("the connection is not looked at: %+v, %v", looks, err)
		}
	}
	if open := b.openUpload(id); len(open) != 1 || open[0].Lifecycle != evidence.AttentionAcknowledged {
		t.Errorf("asked %+v", open)
	}

	other := b.connect("trowel").ID
	b.succeed(other)
	b.requireNoError(b.SetSchedule(b.ctx(), other, off))
	b.requireNoError(b.Acknowledge(b.ctx(), other, string(verdict.ReattachSchedule))) // no offer exists yet
	if s, err := b.Store.Schedule(b.ctx(), other); err != nil || !s.Enabled || !b.requested(other) {
		t.Errorf("schedule %+v, %v", s, err)
	}
	b.requireNoError(b.DeleteSchedule(b.ctx(), other))
	wantError(t, b.Acknowledge(b.ctx(), other, string(verdict.ReattachSchedule)), api.CodeInvalid, "action_kind")
}

// What waits for a later try becomes eligible; what the owner ignored stays ignored.
func TestRetryWhatIsMissing(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	b.worker()
	id := b.connect("trowel").ID
	l := b.begin(id, "run_a")
	later := b.at.Add(time.Hour)
	gap := func(key string, retryable bool) slice.Gap {
		return slice.Gap{Stream: "beds", RecordKey: key, Reason: protocol.ReasonTemporaryUnavailable, Retryable: retryable,
			NotBefore: &later, Locator: jsontext.Value(`{}`)}
	}
	_, err := b.Store.CommitSlice(b.ctx(), l,
		slice.Slice{Gaps: []slice.Gap{gap("a", true), gap("b", true), gap("c", false)}}, b.at)
	b.requireNoError(err)
	b.requireNoError(b.Store.FinishRun(b.ctx(), l,
		store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, b.at))
	page, err := b.Gaps(b.ctx(), api.GapQuery{ConnectionID: id})
	b.requireNoError(err)
	missing := page.Gaps
	if len(missing) != 3 || missing[0].Text == "" {
		t.Fatalf("missing %+v", missing)
	}
	byKey := map[string]api.Gap{}
	for _, g := range missing {
		byKey[g.RecordKey] = g
	}
	_, err = b.Store.IgnoreGap(b.ctx(), byKey["b"].ID, "not wanted", b.at)
	b.requireNoError(err)
	b.requireNoError(b.Acknowledge(b.ctx(), id, string(verdict.RetryGap)))
	page, err = b.Gaps(b.ctx(), api.GapQuery{ConnectionID: id})
	b.requireNoError(err)
	for _, g := range page.Gaps {
		if waits := g.Status == string(protocol.GapPending) &&
			(g.NotBefore == nil || !g.NotBefore.After(b.at)); waits != (g.RecordKey == "a") {
			t.Errorf("gap %+v", g)
		}
	}
	if !b.requested(id) {
		t.Error("no run was asked for")
	}
}

func TestAcknowledgeRefresh(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	b.worker()
	id := b.connect("trowel").ID
	b.succeed(id)
	b.requireNoError(b.Acknowledge(b.ctx(), id, string(verdict.RefreshNow)))
	if !b.requested(id) {
		t.Error("no run was asked for")
	}
	for _, kind := range []string{string(verdict.Reauth), string(verdict.AddInfo), string(verdict.CodeFix),
		string(verdict.WaitAction), "", "everything"} {
		wantError(t, b.Acknowledge(b.ctx(), id, kind), api.CodeInvalid, "action_kind")
	}
}
