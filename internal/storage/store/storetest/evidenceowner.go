package storetest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func testBackoffs(t *testing.T, s store.Store) {
	ctx := t.Context()
	fails(t, s.PutBackoff(ctx, store.Backoff{ConnectionID: "nowhere", Backoff: evidence.Backoff{ObservedAt: Now}}),
		store.ErrNotFound)
	ok(t, s.ClearBackoff(ctx, "c"))
	declare(t, s, "c")
	next := Now.Add(time.Hour)
	first := evidence.Backoff{Class: "failure:network", Failures: 1, ObservedAt: Now, NextAttemptAt: &next}
	second := evidence.Backoff{Class: "source_pressure", Failures: 2, ObservedAt: next}
	for _, b := range []evidence.Backoff{first, second} {
		ok(t, s.PutBackoff(ctx, store.Backoff{ConnectionID: "c", Backoff: b}))
		same(t, evidenceOf(t, s, "c").Backoff, &b)
	}
	ok(t, s.ClearBackoff(ctx, "c"))
	same(t, evidenceOf(t, s, "c").Backoff, nil)
}

func testProbes(t *testing.T, s store.Store) {
	ctx := t.Context()
	put := func(connection string, p evidence.Probe) error {
		return s.PutProbe(ctx, store.Probe{ConnectionID: connection, Probe: p})
	}
	browser := evidence.Probe{Dimension: evidence.ProbeRuntime, Name: "browser", Status: evidence.ProbeFailed,
		Reason: "none", At: Now}
	fails(t, put("nowhere", browser), store.ErrNotFound)
	fails(t, s.DeleteProbe(ctx, "c", evidence.ProbeRuntime, "browser"), store.ErrNotFound)
	declare(t, s, "c")
	expires := Now.Add(time.Hour)
	login := evidence.Probe{Dimension: evidence.ProbeCredentials, Status: evidence.ProbeOK, At: Now, ExpiresAt: &expires}
	network := evidence.Probe{Dimension: evidence.ProbeRuntime, Name: "network", Status: evidence.ProbeOK, At: Now}
	for _, p := range []evidence.Probe{network, browser, login} {
		ok(t, put("c", p))
	}
	same(t, evidenceOf(t, s, "c").Probes, []evidence.Probe{login, browser, network})
	browser.Status, browser.Reason, browser.At = evidence.ProbeOK, "", expires
	ok(t, put("c", browser))
	ok(t, s.DeleteProbe(ctx, "c", evidence.ProbeCredentials, ""))
	same(t, evidenceOf(t, s, "c").Probes, []evidence.Probe{browser, network})
}

func testEvidenceOwner(t *testing.T, s store.Store) {
	t.Attr("spec", "CH-05.3") // a question waits until it is answered or its run ends
	ctx := t.Context()
	declare(t, s, "c")
	later := Now.Add(time.Hour)
	ok(t, s.PutSchedule(ctx, store.Schedule{ConnectionID: "c", IntervalSeconds: 60, JitterSeconds: 5, Enabled: true,
		CreatedAt: Now, UpdatedAt: later}))
	ok(t, s.PutCredential(ctx, store.Credential{ConnectionID: "c", Kind: "token", Sealed: []byte("x"),
		Status: store.CredentialActive, CapturedAt: Now}))
	e := evidenceOf(t, s, "c")
	same(t, e.Schedule, &evidence.Schedule{Enabled: true, IntervalSeconds: 60, JitterSeconds: 5, UpdatedAt: later})
	same(t, e.Credential, &evidence.Credential{Status: evidence.CredentialActive, CapturedAt: Now})
	ok(t, s.RejectCredential(ctx, "c", "401", Now, later))
	same(t, evidenceOf(t, s, "c").Credential,
		&evidence.Credential{Status: evidence.CredentialRejected, CapturedAt: Now, RejectedAt: &later, Reason: "401"})
	ok(t, s.PutCredential(ctx, store.Credential{ConnectionID: "c", Kind: "token", Sealed: []byte("x"),
		Status: store.CredentialActive, CapturedAt: Now, Refresh: store.Refresh{ExpiresAt: &later}}))
	same(t, evidenceOf(t, s, "c").Credential, &evidence.Credential{Status: evidence.CredentialActive, CapturedAt: Now,
		EndsAt: &later})
	ok(t, s.PutCredential(ctx, store.Credential{ConnectionID: "c", Kind: "token", Sealed: []byte("x"),
		Status: store.CredentialActive, CapturedAt: Now, Refresh: store.Refresh{Renewable: true, ExpiresAt: &later}}))
	// it is refreshed
	same(t, evidenceOf(t, s, "c").Credential, &evidence.Credential{Status: evidence.CredentialActive, CapturedAt: Now})

	l := start(t, s, "c", "r1", Now)
	for i, kind := range []protocol.InteractionKind{protocol.AskCredentials, protocol.AskOTP, protocol.AskManualAction,
		protocol.AskMissingCredentials} {
		ok(t, s.OpenInteraction(ctx, l,
			store.Interaction{RequestID: string(kind), Kind: kind, OpenedAt: Now.Add(time.Duration(i)), ExpiresAt: &later}, Now))
	}
	ask := func(id, reason, sensitivity string) evidence.Attention {
		return evidence.Attention{ID: id, RunID: "r1", Reason: reason, Lifecycle: evidence.AttentionOpen,
			Sensitivity: sensitivity, OpenedAt: Now, ExpiresAt: &later}
	}
	same(t, evidenceOf(t, s, "c").Attention, []evidence.Attention{ // opened in one microsecond: by id
		ask("credentials", "credentials_required", "secret"), ask("manual_action", "manual_action_required", "non_secret"),
		ask("missing_credentials", "credentials_required", "secret"), ask("otp", "otp_required", "secret"),
	})
	ok(t, s.CloseInteraction(ctx, l, "otp", protocol.ResponseSuccess, Now))
	same(t, len(evidenceOf(t, s, "c").Attention), 3)
	finish(t, s, l, Now)
	same(t, evidenceOf(t, s, "c").Attention, nil)
	same(t, evidenceOf(t, s, "c").LastRun.Unanswered, false) // it succeeded all the same

	for _, c := range []struct {
		name   string
		status protocol.ResponseStatus // empty: the run ends before
		want   bool
	}{{"answered", protocol.ResponseSuccess, false}, {"refused", protocol.ResponseCancelled, true},
		{"late", protocol.ResponseTimeout, true}, {"left", "", true}} {
		l := start(t, s, "c", c.name, later)
		ok(t, s.OpenInteraction(ctx, l, store.Interaction{RequestID: "q", Kind: protocol.AskOTP, OpenedAt: later}, later))
		if c.status != "" {
			ok(t, s.CloseInteraction(ctx, l, "q", c.status, later))
		}
		ok(t, s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunFailed, Event: slice.Event{Type: "run.failed"}}, later))
		run := evidenceOf(t, s, "c").LastRun
		same(t, run.ID, c.name)
		same(t, run.Unanswered, c.want)
	}
}

func testEvidenceDevices(t *testing.T, s store.Store) {
	t.Attr("spec", "CH-05.2") // a device's outbox is a separate fact
	ctx := t.Context()
	declare(t, s, "account")
	same(t, evidenceOf(t, s, "account").Device, nil)
	ok(t, s.CreateConnection(ctx, store.Connection{ID: "c", ConnectorID: "example", Status: store.ConnectionActive,
		SourceKind: store.SourceLocalDevice, ManifestGeneration: 1, CreatedAt: Now, UpdatedAt: Now}))
	same(t, evidenceOf(t, s, "c").Device, &evidence.Device{})

	later := Now.Add(time.Hour)
	ok(t, s.PutDevice(ctx, store.Device{ID: "d1", DisplayName: "Laptop", Status: "active", CreatedAt: Now,
		UpdatedAt: Now}))
	ok(t, s.PutDevice(ctx, store.Device{ID: "d2", DisplayName: "Old laptop", Status: "revoked", CreatedAt: Now,
		UpdatedAt: Now, RevokedAt: &later}))
	source := func(id, device, connection string, created time.Time) store.DeviceSource {
		return store.DeviceSource{ID: id, DeviceID: device, ConnectionID: connection, Status: "active", CreatedAt: created,
			UpdatedAt: created}
	}
	beating := source("s1", "d1", "c", Now)
	beating.LastHeartbeatAt, beating.LastHeartbeatStatus, beating.RecordsPending = &later, "healthy", ptr(int64(0))
	beating.OutboxDiagnostics = jsontext.Value(`{"pending":1,"retrying":2,"leased":3,"stale_leases":4,"dead_letter":5,
		"succeeded":6,"total":7,
		"backlog_open":8,"oldest_pending_at":"2026-03-04T05:06:07.891Z","oldest_retrying_at":null}`)
	for _, src := range []store.DeviceSource{source("s2", "d2", "c", later), beating, source("s3", "d1", "account", Now)} {
		ok(t, s.PutDeviceSource(ctx, src))
	}
	l := start(t, s, "c", "r1", Now, store.StreamSpec{Name: "coverage_diagnostics"})
	diagnostic := func(key, data string) slice.Record {
		r := slice.Record{Stream: "coverage_diagnostics", Key: key, Data: []byte(data), EmittedAt: "2026-03-04T05:06:07Z"}
		if data == "" {
			r.Op = protocol.OpDelete
		}
		return r
	}
	commit(t, s, l, slice.Slice{Records: []slice.Record{diagnostic("coverage:b",
		`{"store":"b","stream":"items","status":"collected","more":1}`),
		diagnostic("coverage:a", `{"store":"a","status":"unaccounted"}`), diagnostic("coverage:c", `{"store":1}`),
		diagnostic("coverage:d", `{}`)}}, Now)
	commit(t, s, l, slice.Slice{Records: []slice.Record{diagnostic("coverage:d", "")}}, later)

	same(t, evidenceOf(t, s, "c").Device, &evidence.Device{
		Sources: []evidence.DeviceSource{
			{ID: "s1", Host: "Laptop", DeviceStatus: "active", Status: "active", Heartbeat: &evidence.Heartbeat{
				At: later, Status: evidence.HeartbeatHealthy, Pending: ptr(int64(0)),
				Outbox: &evidence.OutboxCounts{Pending: 1, Retrying: 2, Leased: 3, StaleLeases: 4, DeadLetter: 5, Succeeded: 6,
					Total: 7, BacklogOpen: 8, OldestPendingAt: &Now},
			}},
			{ID: "s2", Host: "Old laptop", DeviceStatus: "revoked", Status: "active", RevokedAt: &later},
		},
		LastIngestAt: &later,
		Stores: []evidence.CoverageStore{{Store: "a", Status: "unaccounted"},
			{Store: "b", Stream: "items", Status: "collected"}, {Store: "coverage:c"}},
	})
	account := evidenceOf(t, s, "account").Device
	same(t, account, &evidence.Device{Sources: []evidence.DeviceSource{{ID: "s3", Host: "Laptop", DeviceStatus: "active",
		Status: "active"}}})

	// A missing count is not zero.
	const counts = `"retrying":0,"leased":0,"stale_leases":0,"dead_letter":0,"succeeded":0,"total":0`
	for report, want := range map[string]*evidence.OutboxCounts{
		`{"pending":0,` + counts + `}`:    {},
		``:                                nil,
		`null`:                            nil,
		`{}`:                              nil,
		`[]`:                              nil,
		`{` + counts + `}`:                nil,
		`{"pending":-1,` + counts + `}`:   nil,
		`{"pending":0.5,` + counts + `}`:  nil,
		`{"pending":"3",` + counts + `}`:  nil,
		`{"pending":null,` + counts + `}`: nil,
		`{"pending":0,"backlog_open":-1,` + counts + `}`:          nil,
		`{"pending":4,"oldest_pending_at":"soon",` + counts + `}`: {Pending: 4},
	} {
		beating.OutboxDiagnostics, beating.RecordsPending = jsontext.Value(report), ptr(int64(-1))
		ok(t, s.PutDeviceSource(ctx, beating))
		beat := evidenceOf(t, s, "c").Device.Sources[0].Heartbeat
		same(t, beat.Outbox, want)
		same(t, beat.Pending, nil)
	}
}
