package storetest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func testInteractions(t *testing.T, s store.Store) {
	ctx := t.Context()
	l, m := begin(t, s, "c", "r1"), begin(t, s, "d", "r2")
	expires := Now.Add(time.Minute)
	want := store.Interaction{
		RequestID: "q", RunID: "r1", ConnectionID: "c", Kind: protocol.AskManualAction, Message: "Please solve the puzzle.",
		Schema: jsontext.Value(`{"type": "object"}`), Stream: Stream, OpenedAt: Now, ExpiresAt: &expires,
	}
	ok(t, s.OpenInteraction(ctx, l, want, Now))
	fails(t, s.OpenInteraction(ctx, l, want, Now), store.ErrExists)
	second := Now.Add(time.Second)
	ok(t, s.OpenInteraction(ctx, m, store.Interaction{RequestID: "q", Kind: protocol.AskOTP}, second))

	open := func(connection string) []store.Interaction {
		all, err := s.OpenInteractions(ctx, connection)
		ok(t, err)
		return all
	}
	other := store.Interaction{RequestID: "q", RunID: "r2", ConnectionID: "d", Kind: protocol.AskOTP, OpenedAt: second}
	same(t, open(""), []store.Interaction{want, other})
	same(t, open("d"), []store.Interaction{other})

	ok(t, s.CloseInteraction(ctx, l, "q", protocol.ResponseSuccess, second))
	fails(t, s.CloseInteraction(ctx, l, "q", protocol.ResponseTimeout, second), store.ErrNotFound)
	fails(t, s.CloseInteraction(ctx, l, "q9", protocol.ResponseTimeout, second), store.ErrNotFound)
	same(t, open(""), []store.Interaction{other})
	finish(t, s, m, second)
	same(t, open(""), nil)
}

func testSchedules(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.Schedule(ctx, "c")
	fails(t, err, store.ErrNotFound)
	fails(t, s.DeleteSchedule(ctx, "c"), store.ErrNotFound)
	fails(t, s.PutSchedule(ctx, store.Schedule{ConnectionID: "nowhere", CreatedAt: Now, UpdatedAt: Now}),
		store.ErrNotFound)
	connect(t, s, "c")
	connect(t, s, "b")
	c := store.Schedule{ConnectionID: "c", IntervalSeconds: 3600, JitterSeconds: 60, Enabled: true, CreatedAt: Now,
		UpdatedAt: Now}
	b := store.Schedule{ConnectionID: "b", IntervalSeconds: 60, CreatedAt: Now, UpdatedAt: Now}
	ok(t, s.PutSchedule(ctx, c))
	ok(t, s.PutSchedule(ctx, b))
	changed := store.Schedule{ConnectionID: "c", IntervalSeconds: 7200, CreatedAt: Now.Add(time.Hour),
		UpdatedAt: Now.Add(time.Hour)}
	ok(t, s.PutSchedule(ctx, changed))
	changed.CreatedAt = Now // the first one counts
	got, err := s.Schedule(ctx, "c")
	ok(t, err)
	same(t, got, changed)
	all, err := s.ListSchedules(ctx)
	ok(t, err)
	same(t, all, []store.Schedule{b, changed})
	ok(t, s.DeleteSchedule(ctx, "b"))
	all, err = s.ListSchedules(ctx)
	ok(t, err)
	same(t, all, []store.Schedule{changed})
}

func testCredentials(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.Credential(ctx, "c")
	fails(t, err, store.ErrNotFound)
	fails(t, s.RejectCredential(ctx, "c", "401", Now, Now), store.ErrNotFound)
	fails(t, s.DeleteCredential(ctx, "c"), store.ErrNotFound)
	connect(t, s, "c")
	want := store.Credential{
		ConnectionID: "c", Kind: "token", Sealed: []byte{0, 1, 0xff, '\'', 0}, Fingerprint: "f1",
		Status: store.CredentialActive, CapturedAt: Now, Generation: 1,
	}
	fails(t, s.PutCredential(ctx, store.Credential{ConnectionID: "nowhere", Sealed: []byte("x")}), store.ErrNotFound)
	ok(t, s.PutCredential(ctx, want))
	got, err := s.Credential(ctx, "c")
	ok(t, err)
	same(t, got, want)

	later := Now.Add(time.Hour)
	// an older one
	fails(t, s.RejectCredential(ctx, "c", "401", want.CapturedAt.Add(-time.Microsecond), later), store.ErrNotFound)
	fails(t, s.RejectCredential(ctx, "c", "401", farFuture, later), store.ErrNotFound)
	got, err = s.Credential(ctx, "c")
	ok(t, err)
	same(t, got, want)
	ok(t, s.RejectCredential(ctx, "c", "401", want.CapturedAt, later))
	rejected := want
	rejected.Status, rejected.RejectedAt, rejected.RejectionReason = store.CredentialRejected, &later, "401"
	got, err = s.Credential(ctx, "c")
	ok(t, err)
	same(t, got, rejected)

	exchanged := want
	exchanged.Sealed, exchanged.Fingerprint = []byte("exchanged"), "f1b"
	ok(t, s.RotateCredential(ctx, exchanged)) // which clears the rejection
	got, err = s.Credential(ctx, "c")
	ok(t, err)
	same(t, got, exchanged)

	want.Sealed, want.Fingerprint, want.CapturedAt = []byte("new"), "f2", later
	ok(t, s.PutCredential(ctx, want)) // a new one has not been rejected
	want.Generation = 2
	fails(t, s.RejectCredential(ctx, "c", "401", Now, later.Add(time.Hour)), store.ErrNotFound)
	fails(t, s.RotateCredential(ctx, exchanged), store.ErrNotFound) // the owner entered another meanwhile
	got, err = s.Credential(ctx, "c")
	ok(t, err)
	same(t, got, want)
	want.Status = store.CredentialRevoked
	ok(t, s.PutCredential(ctx, want))
	want.Generation = 3
	// the owner's decision stays
	fails(t, s.RejectCredential(ctx, "c", "401", want.CapturedAt, farFuture), store.ErrNotFound)
	fails(t, s.RotateCredential(ctx, want), store.ErrNotFound)
	got, err = s.Credential(ctx, "c")
	ok(t, err)
	same(t, got, want)
	ok(t, s.DeleteCredential(ctx, "c"))
	_, err = s.Credential(ctx, "c")
	fails(t, err, store.ErrNotFound)
}

func testDevices(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.Device(ctx, "dexp1")
	fails(t, err, store.ErrNotFound)
	later := Now.Add(time.Hour)
	d := store.Device{ID: "dexp1", DisplayName: "Laptop", Status: "active", AgentVersion: "1", ProtocolVersion: "2",
		CreatedAt: Now, UpdatedAt: Now}
	early := store.Device{ID: "dexp2", Status: "active", CreatedAt: Now.Add(-time.Hour), UpdatedAt: Now}
	ok(t, s.PutDevice(ctx, d))
	ok(t, s.PutDevice(ctx, early))
	d.DisplayName, d.Status, d.LastHeartbeatAt, d.LastError = "Old laptop", "revoked", &later, jsontext.Value(`{"a": 1}`)
	d.UpdatedAt, d.RevokedAt = later, &later
	ok(t, s.PutDevice(ctx, d))
	got, err := s.Device(ctx, "dexp1")
	ok(t, err)
	same(t, got, d)
	all, err := s.ListDevices(ctx)
	ok(t, err)
	same(t, all, []store.Device{early, d})

	src := store.DeviceSource{
		ID: "dsrc1", DeviceID: "dexp1", ConnectorID: "notes", ConnectionID: "c", LocalBinding: "b",
		SourceKind:  store.SourceLocalDevice,
		DisplayName: "Notes", Status: "active", ManifestGeneration: 2, CreatedAt: Now, UpdatedAt: Now,
	}
	fails(t, s.PutDeviceSource(ctx, store.DeviceSource{ID: "dsrc0", DeviceID: "nobody"}), store.ErrNotFound)
	ok(t, s.PutDeviceSource(ctx, src))
	other := store.DeviceSource{ID: "dsrc2", DeviceID: "dexp2", Status: "active", CreatedAt: later, UpdatedAt: later}
	ok(t, s.PutDeviceSource(ctx, other))
	src.LastHeartbeatAt, src.LastHeartbeatStatus, src.RecordsPending = &later, "healthy", ptr(int64(0))
	src.OutboxDiagnostics, src.LastError, src.UpdatedAt, src.RevokedAt = jsontext.Value(`{}`), jsontext.Value(`{"e":1}`),
		later, &later
	ok(t, s.PutDeviceSource(ctx, src))
	sources, err := s.DeviceSources(ctx, "")
	ok(t, err)
	same(t, sources, []store.DeviceSource{src, other})
	sources, err = s.DeviceSources(ctx, "dexp1")
	ok(t, err)
	same(t, sources, []store.DeviceSource{src})
}
