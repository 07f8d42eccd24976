// Package collector is the device side of a source whose data lives on the
// owner's own machine: it runs the connector there, queues what it delivers in
// a durable outbox, uploads that, and says honestly how far it got.
//
// The pieces: profile.go and profiles.go know the enrolled sources, run.go is
// one pass, sink.go the way from the runner into the outbox, gapledger.go what
// could not be fetched, upload.go the way from the outbox to the server,
// heartbeat.go what the server is told, recover.go and inspect.go what the
// owner asks for.
package collector

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/internal/collect/catalog"
	"pdpp/internal/collect/runner"
	"pdpp/internal/device/wire"
)

// Collector works for one profile. The zero values of the optional fields are
// what a program uses.
type Collector struct {
	Profile    Profile
	Connectors catalog.Finder
	// Lookup gives the owner's value for a variable that the connector declares
	// and the profile does not set; nil gives none.
	Lookup func(name string) (string, bool)
	// Bindings are what this machine offers a connector.
	Bindings     map[string]jsontext.Value
	HTTP         *http.Client
	AgentVersion string
	Policy       Policy
	Options      runner.Options
	// Now is the clock and Wait lets time pass; nil means the real ones.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
}

// Policy bounds a pass. Zero values mean the defaults.
type Policy struct {
	BatchRecords      int           // records in one upload
	BatchBytes        int           // and their size, unless one alone is larger
	Claim             int           // uploads taken from the queue at a time
	Lease             time.Duration // how long they are taken for
	MaxAttempts       int           // after so many an upload is put aside
	DrainTime         time.Duration // how long one drain may take
	DrainRounds       int           // and how many claims it may make
	QueueDepth        int64         // waiting uploads that make the queue full
	RetryBackoff      time.Duration
	LongestRetryAfter time.Duration
	KeepSucceeded     int
}

func (p Policy) withDefaults() Policy {
	orInt(&p.BatchRecords, 100)
	orInt(&p.BatchBytes, 4<<20)
	orInt(&p.Claim, 4)
	orInt(&p.Lease, 300*time.Second)
	orInt(&p.MaxAttempts, 5)
	orInt(&p.DrainTime, 120*time.Second)
	orInt(&p.DrainRounds, 256)
	orInt(&p.QueueDepth, 10_000)
	orInt(&p.RetryBackoff, 30*time.Second)
	orInt(&p.LongestRetryAfter, 60*time.Second)
	orInt(&p.KeepSucceeded, 10_000)
	return p
}

func orInt[T ~int | ~int64](value *T, otherwise T) {
	if *value == 0 {
		*value = otherwise
	}
}

func (c *Collector) client() *wire.Client {
	return &wire.Client{BaseURL: c.Profile.BaseURL, DeviceID: c.Profile.DeviceID, Token: c.Profile.Token.reveal(), HTTP: c.HTTP}
}

func (c *Collector) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *Collector) wait(ctx context.Context, d time.Duration) error {
	if c.Wait != nil {
		return c.Wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// childVariable is what the connector is given for a variable that it declares:
// the profile's value before the environment's, and none of the collector's own.
func (c *Collector) childVariable(name string) (string, bool) {
	if isOwn(name) {
		return "", false
	}
	if value, ok := c.Profile.Variables[name]; ok {
		return value, true
	}
	if c.Lookup == nil {
		return "", false
	}
	return c.Lookup(name)
}

func newRunID(now time.Time) string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("run_%d_%s", now.UnixMilli(), hex.EncodeToString(b[:]))
}
