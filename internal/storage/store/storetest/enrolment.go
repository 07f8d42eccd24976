package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// putCode stores a code that is valid for a quarter of an hour.
func putCode(t *testing.T, s store.Store, name, binding string) {
	t.Helper()
	ok(t, s.CreateDeviceCode(t.Context(), store.DeviceCode{
		ID: "id_" + name, Hash: []byte(name), ConnectorID: "notes", LocalBinding: binding, Status: store.CodePending,
		CreatedAt: Now, ExpiresAt: Now.Add(15 * time.Minute),
	}))
}

// enrolment returns the use of a code; suffix names what is newly created.
func enrolment(code, suffix string) store.Enrolment {
	return store.Enrolment{
		CodeHash: []byte(code), DeviceID: "dexp_" + suffix, Label: "Laptop " + suffix, AgentVersion: "1.0",
		ProtocolVersion: "1", SourceID: "dsrc_" + suffix,
		CredentialID: "dcred_" + suffix, TokenHash: []byte("token " + suffix), ConnectionName: "Notes", ManifestGeneration: 1,
	}
}

func enrolled(t *testing.T, s store.Store, e store.Enrolment) store.DeviceSource {
	t.Helper()
	done, err := s.EnrolDevice(t.Context(), e, Now)
	ok(t, err)
	return done.Source
}

// tokenState returns the state of a token.
func tokenState(t *testing.T, s store.Store, suffix string) string {
	t.Helper()
	c, err := s.DeviceCredential(t.Context(), []byte("token "+suffix))
	ok(t, err)
	return c.Status
}

func testDeviceCodes(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.DeviceCode(ctx, []byte("a"))
	fails(t, err, store.ErrNotFound)
	c := store.DeviceCode{
		ID: "id_a", Hash: []byte("a"), ConnectorID: "notes", LocalBinding: "home", DisplayName: "My notes",
		Status: store.CodePending,
		Scope:  jsontext.Value(`{"source_roots":["/home/ann"]}`), CreatedAt: Now, ExpiresAt: Now.Add(time.Hour),
	}
	ok(t, s.CreateDeviceCode(ctx, c))
	got, err := s.DeviceCode(ctx, []byte("a"))
	ok(t, err)
	same(t, got, c)
	later := c
	later.ID, later.Hash, later.CreatedAt, later.ExpiresAt = "id_b", []byte("b"), Now.Add(time.Minute),
		Now.Add(2*time.Hour)
	ok(t, s.CreateDeviceCode(ctx, later))
	all, err := s.DeviceCodes(ctx)
	ok(t, err)
	same(t, all, []store.DeviceCode{later, c})
	ok(t, s.CancelDeviceCode(ctx, "id_a"))
	fails(t, s.CancelDeviceCode(ctx, "id_a"), store.ErrNotFound)
	fails(t, s.CancelDeviceCode(ctx, "id_z"), store.ErrNotFound)
	_, err = s.EnrolDevice(ctx, enrolment("a", "1"), Now)
	fails(t, err, store.ErrCodeUsed)
	_, err = s.EnrolDevice(ctx, enrolment("z", "1"), Now)
	fails(t, err, store.ErrNotFound)
	_, err = s.EnrolDevice(ctx, enrolment("b", "1"), later.ExpiresAt)
	fails(t, err, store.ErrCodeExpired)
	devices, err := s.ListDevices(ctx)
	ok(t, err)
	same(t, len(devices), 0) // a rejected code creates nothing

	// A lost answer is repeated to the same address only.
	first, stranger := enrolment("b", "first"), enrolment("b", "stranger")
	first.Address, stranger.Address = "192.0.2.1", "203.0.113.7"
	enrolled(t, s, first)
	_, err = s.EnrolDevice(ctx, stranger, Now)
	fails(t, err, store.ErrCodeUsed)
	same(t, tokenState(t, s, "first"), store.DeviceActive)

	far := c
	far.ID, far.Hash, far.CreatedAt = "id_c", []byte("c"), later.ExpiresAt.Add(24*time.Hour)
	far.ExpiresAt = far.CreatedAt.Add(time.Hour)
	ok(t, s.CreateDeviceCode(ctx, far))
	all, err = s.DeviceCodes(ctx)
	ok(t, err)
	same(t, all, []store.DeviceCode{far}) // the others expired over a day ago
}

// testEnrolAgain checks that a code returns the same ids and a new token until a token of it is presented, because
// the answer may get lost.
func testEnrolAgain(t *testing.T, s store.Store) {
	ctx := t.Context()
	putCode(t, s, "a", "home")
	first := enrolled(t, s, enrolment("a", "1"))
	same(t, first, store.DeviceSource{
		ID: "dsrc_1", DeviceID: "dexp_1", ConnectorID: "notes", ConnectionID: "cin_notes_1", LocalBinding: "home",
		SourceKind:  store.SourceLocalDevice,
		DisplayName: "Notes", Status: store.DeviceActive, ManifestGeneration: 1, Generation: 1, CreatedAt: Now,
		UpdatedAt: Now,
	})
	kept, err := s.DeviceSource(ctx, "dsrc_1")
	ok(t, err)
	same(t, kept, first)
	c, err := s.Connection(ctx, "cin_notes_1")
	ok(t, err)
	same(t, []string{c.DisplayName, string(c.Status), string(c.SourceKind)}, []string{"Notes", "active", "local_device"})

	same(t, enrolled(t, s, enrolment("a", "2")), first)
	same(t, []string{tokenState(t, s, "1"), tokenState(t, s, "2")}, []string{store.DeviceRevoked, store.DeviceActive})
	fails(t, s.UseDeviceCredential(ctx, "dcred_1", "192.0.2.1", Now), store.ErrNotFound)

	ok(t, s.UseDeviceCredential(ctx, "dcred_2", "192.0.2.1", Now.Add(time.Minute)))
	_, err = s.EnrolDevice(ctx, enrolment("a", "3"), Now)
	fails(t, err, store.ErrCodeUsed)
	d, err := s.Device(ctx, "dexp_1")
	ok(t, err)
	same(t, []string{d.LastAddress, d.LastUsedAt.String()}, []string{"192.0.2.1", Now.Add(time.Minute).String()})
	devices, err := s.ListDevices(ctx)
	ok(t, err)
	same(t, len(devices), 1)
}

// testEnrolAtOnce checks that ten concurrent uses create one device with one valid token.
func testEnrolAtOnce(t *testing.T, s store.Store) {
	ctx := t.Context()
	putCode(t, s, "a", "home")
	var together sync.WaitGroup
	got := make([]store.EnrolmentResult, 10)
	errs := make([]error, 10)
	for i := range got {
		together.Go(func() { got[i], errs[i] = s.EnrolDevice(ctx, enrolment("a", fmt.Sprint(i)), Now) })
	}
	together.Wait()
	good := 0
	for i := range got {
		ok(t, errs[i])
		same(t, got[i].Source, got[0].Source)
		if tokenState(t, s, fmt.Sprint(i)) == store.DeviceActive {
			good++
		}
	}
	same(t, good, 1)
	devices, err := s.ListDevices(ctx)
	ok(t, err)
	sources, err := s.DeviceSources(ctx, "")
	ok(t, err)
	same(t, []int{len(devices), len(sources)}, []int{1, 1})
}

// testTakeOver checks that two devices which take one binding at once end with one connection and one active source.
func testTakeOver(t *testing.T, s store.Store) {
	ctx := t.Context()
	var together sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		name := fmt.Sprint(i)
		putCode(t, s, name, "home")
		together.Go(func() { _, errs[i] = s.EnrolDevice(ctx, enrolment(name, name), Now) })
	}
	together.Wait()
	for _, err := range errs {
		ok(t, err)
	}
	sources, err := s.DeviceSources(ctx, "")
	ok(t, err)
	var active store.DeviceSource
	generations := map[int64]bool{}
	for _, src := range sources {
		same(t, src.ConnectionID, "cin_notes_1")
		generations[src.Generation] = true
		if src.Status == store.DeviceActive {
			same(t, active.ID, "")
			active = src
		}
	}
	same(t, []int{len(sources), len(generations), int(active.Generation)}, []int{4, 4, 4})

	// The run of the previous source ends with it.
	run := store.RunStart{RunID: "r1", ConnectionID: "cin_notes_1", ConnectorID: "notes", Trigger: store.TriggerManual,
		Holder: "device:" + active.ID, TTL: time.Hour}
	lease, err := s.StartRun(ctx, run, Now)
	ok(t, err)
	putCode(t, s, "other", "home")
	next := enrolled(t, s, enrolment("other", "other"))
	same(t, []int64{next.Generation, next.MaxBatchSeq}, []int64{5, 0})
	r, err := s.Run(ctx, "r1")
	ok(t, err)
	same(t, []string{string(r.Status), r.TerminalReason}, []string{string(store.RunAbandoned), "device_replaced"})
	_, err = s.RenewLease(ctx, lease, time.Hour, Now)
	fails(t, err, store.ErrLeaseLost)

	// A second name is a second connection.
	putCode(t, s, "work", "work")
	same(t, enrolled(t, s, enrolment("work", "work")).ConnectionID, "cin_notes_2")
	// A revoked connection is not resumed.
	c, err := s.Connection(ctx, "cin_notes_1")
	ok(t, err)
	c.Status = store.ConnectionRevoked
	ok(t, s.UpdateConnection(ctx, c))
	putCode(t, s, "anew", "home")
	same(t, enrolled(t, s, enrolment("anew", "anew")).ConnectionID, "cin_notes_3")
}

// testJoinDevice checks that an existing device gets more sources.
//
//pdpp:tier unraced TestStore/JoinDevice
func testJoinDevice(t *testing.T, s store.Store) {
	ctx := t.Context()
	putCode(t, s, "a", "home")
	first := enrolled(t, s, enrolment("a", "1"))
	joining := func(code, suffix string) store.Enrolment {
		e := enrolment(code, suffix)
		e.Joins = "dexp_1"
		return e
	}
	putCode(t, s, "b", "work")
	done, err := s.EnrolDevice(ctx, joining("b", "2"), Now)
	ok(t, err)
	same(t, []any{done.Joined, done.Source.DeviceID, done.Source.ID}, []any{true, "dexp_1", "dsrc_2"})
	_, err = s.DeviceCredential(ctx, []byte("token 2"))
	fails(t, err, store.ErrNotFound) // it has a token
	_, err = s.EnrolDevice(ctx, enrolment("b", "3"), Now)
	fails(t, err, store.ErrCodeUsed) // no other device can use it
	again, err := s.EnrolDevice(ctx, joining("b", "4"), Now)
	ok(t, err)
	same(t, again, done)

	putCode(t, s, "c", "home")
	done, err = s.EnrolDevice(ctx, joining("c", "5"), Now)
	ok(t, err)
	same(t, done.Source, first) // it has that source, and its outbox stays valid
	putCode(t, s, "d", "home")
	narrower := joining("d", "6")
	narrower.Scope = jsontext.Value(`{"source_roots":["/home/ann/notes"]}`)
	done, err = s.EnrolDevice(ctx, narrower, Now)
	ok(t, err)
	kept, err := s.DeviceSource(ctx, first.ID)
	ok(t, err)
	same(t, []string{string(done.Source.Scope), string(kept.Scope)},
		[]string{string(narrower.Scope), string(narrower.Scope)})

	for i := range store.MaxSourcesPerDevice - 2 {
		name := fmt.Sprint("many", i)
		putCode(t, s, name, name)
		_, err := s.EnrolDevice(ctx, joining(name, name), Now)
		ok(t, err)
	}
	putCode(t, s, "full", "full")
	_, err = s.EnrolDevice(ctx, joining("full", "full"), Now)
	fails(t, err, store.ErrDeviceLimit)
	for i := range store.MaxDevices - 1 {
		name := fmt.Sprint("device", i)
		putCode(t, s, name, name)
		enrolled(t, s, enrolment(name, name))
	}
	_, err = s.EnrolDevice(ctx, enrolment("full", "full"), Now)
	fails(t, err, store.ErrDeviceLimit)
}

func testRotateDevice(t *testing.T, s store.Store) {
	ctx := t.Context()
	putCode(t, s, "a", "home")
	enrolled(t, s, enrolment("a", "1"))
	ok(t, s.UseDeviceCredential(ctx, "dcred_1", "192.0.2.1", Now))
	rotate := func(suffix string) error {
		return s.RotateDeviceCredential(ctx, store.DeviceCredential{ID: "dcred_" + suffix, DeviceID: "dexp_1",
			TokenHash: []byte("token " + suffix), CreatedAt: Now})
	}
	ok(t, rotate("2"))
	ok(t, rotate("3")) // the answer to the first was lost
	same(t, []string{tokenState(t, s, "1"), tokenState(t, s, "2"), tokenState(t, s, "3")},
		[]string{store.DeviceActive, store.DeviceRevoked, store.DeviceActive})
	ok(t, s.UseDeviceCredential(ctx, "dcred_1", "192.0.2.1", Now)) // until the new one is presented
	ok(t, s.UseDeviceCredential(ctx, "dcred_3", "192.0.2.1", Now))
	same(t, []string{tokenState(t, s, "1"), tokenState(t, s, "3")}, []string{store.DeviceRevoked, store.DeviceActive})
	fails(t, s.UseDeviceCredential(ctx, "dcred_1", "192.0.2.1", Now), store.ErrNotFound)
	fails(t, s.UseDeviceCredential(ctx, "dcred_9", "192.0.2.1", Now), store.ErrNotFound)

	ok(t, s.RenameDevice(ctx, "dexp_1", "Studio", Now))
	fails(t, s.RenameDevice(ctx, "dexp_9", "Studio", Now), store.ErrNotFound)
	lease, err := s.StartRun(ctx, store.RunStart{RunID: "r1", ConnectionID: "cin_notes_1", ConnectorID: "notes",
		Trigger: store.TriggerManual, Holder: "device:dsrc_1", TTL: time.Hour}, Now)
	ok(t, err)
	ended := Now.Add(time.Hour)
	at, err := s.RevokeDevice(ctx, "dexp_1", ended)
	ok(t, err)
	same(t, at, ended)
	at, err = s.RevokeDevice(ctx, "dexp_1", ended.Add(time.Hour))
	ok(t, err)
	same(t, at, ended)
	_, err = s.RevokeDevice(ctx, "dexp_9", ended)
	fails(t, err, store.ErrNotFound)
	same(t, tokenState(t, s, "3"), store.DeviceRevoked)
	fails(t, rotate("4"), store.ErrNotFound)
	d, err := s.Device(ctx, "dexp_1")
	ok(t, err)
	same(t, []string{d.DisplayName, d.Status, d.RevokedAt.String()},
		[]string{"Studio", store.DeviceRevoked, ended.String()})
	src, err := s.DeviceSource(ctx, "dsrc_1")
	ok(t, err)
	same(t, []string{src.Status, src.RevokedAt.String()}, []string{store.DeviceRevoked, ended.String()})
	_, err = s.RenewLease(ctx, lease, time.Hour, Now)
	fails(t, err, store.ErrLeaseLost)
	c, err := s.Connection(ctx, "cin_notes_1")
	ok(t, err)
	same(t, c.Status, store.ConnectionActive) // it stays, with its records
	_, err = s.EnrolDevice(ctx, enrolment("a", "5"), Now)
	fails(t, err, store.ErrCodeUsed)
}
