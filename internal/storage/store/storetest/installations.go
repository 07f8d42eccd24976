package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// testDeviceLimitAtOnce checks that concurrent enrolments never exceed the limit of devices.
func testDeviceLimitAtOnce(t *testing.T, s store.Store) {
	ctx := t.Context()
	const free, come = 3, 12
	for i := range store.MaxDevices - free {
		name := fmt.Sprint("early", i)
		ok(t, s.PutDevice(ctx, store.Device{ID: name, DisplayName: name, Status: store.DeviceActive, CreatedAt: Now,
			UpdatedAt: Now}))
	}
	var together sync.WaitGroup
	errs := make([]error, come)
	for i := range errs {
		name := fmt.Sprint("late", i)
		putCode(t, s, name, name)
		together.Go(func() { _, errs[i] = s.EnrolDevice(ctx, enrolment(name, name), Now) })
	}
	together.Wait()
	in := 0
	for _, err := range errs {
		if err == nil {
			in++
		} else if !errors.Is(err, store.ErrDeviceLimit) {
			t.Error(err)
		}
	}
	all, err := s.ListDevices(ctx)
	ok(t, err)
	same(t, []int{in, len(all)}, []int{free, store.MaxDevices})
}

// testInstallations checks that a device that moves to another computer is one, and that two that alternate are
// detected.
func testInstallations(t *testing.T, s store.Store) {
	ctx := t.Context()
	u := uploaderOf(t, s, "1", "home")
	fails(t, s.NoteInstallation(ctx, "dexp_9", "a", Now), store.ErrNotFound)
	doubled := func(want *time.Time) {
		t.Helper()
		d, err := s.Device(ctx, u.DeviceID)
		ok(t, err)
		same(t, d.DoubledAt, want)
	}
	at := Now
	for _, step := range []struct {
		who   string
		after time.Duration
	}{{"a", 0}, {"a", time.Hour}, {"b", time.Hour}, {"b", time.Minute}, {"a", 25 * time.Hour}, {"c", time.Minute}} {
		at = at.Add(step.after)
		ok(t, s.NoteInstallation(ctx, u.DeviceID, step.who, at))
		doubled(nil) // it moved there, and back after a day, and on
	}
	at = at.Add(time.Hour).Truncate(time.Microsecond)
	ok(t, s.NoteInstallation(ctx, u.DeviceID, "a", at))
	doubled(&at)
	e := evidenceOf(t, s, u.ConnectionID)
	if sources := e.Device.Sources; len(sources) != 1 || sources[0].DoubledAt == nil || !sources[0].DoubledAt.Equal(at) {
		t.Errorf("the evidence says %+v", e.Device)
	}
	_, err := s.RevokeDevice(ctx, u.DeviceID, at)
	ok(t, err)
	fails(t, s.NoteInstallation(ctx, u.DeviceID, "b", at), store.ErrNotFound)
}
