// Package collector is the device side of a source that stores its data on the owner's machine. It
// runs the connector there, queues its records in a durable outbox, uploads them, and reports its
// progress to the server.
//
// The main files: profile.go and profiles.go read and write the enrolled sources. run.go makes one
// pass. sink.go moves records from the runner into the outbox. gapledger.go stores the gaps that could
// not be fetched. upload.go sends the outbox to the server. heartbeat.go reports the status to the
// server. recover.go and inspect.go implement the owner's commands.
package collector

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/disk"
)

// Collector works for one profile. The zero values of the optional fields are
// what a program uses.
type Collector struct {
	Profile    Profile
	Dirs       Dirs // of the profiles that share the device
	Connectors catalog.Finder
	// Lookup returns the owner's value for a variable that the connector declares and the profile does not
	// set. Nil means that there are no such values.
	Lookup func(name string) (string, bool)
	// Bindings are what this machine offers a connector.
	Bindings     map[string]jsontext.Value
	HTTP         *http.Client
	AgentVersion string
	Policy       Policy
	Options      runner.Options
	// HistoryWaits allows a connector that reads files to skip data that is not new.
	HistoryWaits bool
	// InstallationID distinguishes installations that share a token.
	InstallationID string
	// Now is the clock, Wait lets time pass, and Free is the room on the queue's disk; nil
	// means the real ones.
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
	Free func(folder string) (int64, error)
}

// Policy bounds a pass. Zero values mean the defaults.
type Policy struct {
	BatchRecords  int           // records in one upload at first; it grows and shrinks with BatchBytes
	BatchBytes    int           // their total size, unless a single record is larger
	LargestBatch  int           // what BatchBytes grows to while uploads are quick
	Claim         int           // items taken from the queue at a time
	Patience      time.Duration // how long a pass waits for a server that takes nothing
	BeatEvery     time.Duration // between two heartbeats while a pass works
	QueueBytes    int64         // what may wait for upload; a tenth of the free disk if that is less
	SpareDisk     int64         // a disk with less room is full
	AwaitLock     time.Duration // how long another collector on this queue is waited for
	KeepSucceeded int
}

func (p Policy) withDefaults() Policy {
	orInt(&p.BatchRecords, 1000)
	orInt(&p.BatchBytes, 1<<20)
	orInt(&p.LargestBatch, 2<<20)
	orInt(&p.Claim, 4) // two batches, or one with its gaps and its cursors
	orInt(&p.Patience, 2*time.Minute)
	orInt(&p.BeatEvery, 5*time.Minute)
	orInt(&p.QueueBytes, 448<<20) // with what the database adds, its files stay below 512 MiB
	orInt(&p.SpareDisk, 64<<20)
	orInt(&p.AwaitLock, time.Minute)
	orInt(&p.KeepSucceeded, 10_000)
	return p
}

func orInt[T ~int | ~int64](value *T, otherwise T) {
	if *value == 0 {
		*value = otherwise
	}
}

func (c *Collector) client() *wire.Client {
	return &wire.Client{BaseURL: c.Profile.BaseURL, DeviceID: c.Profile.DeviceID, Token: c.Profile.Token.reveal(),
		HTTP: c.HTTP}
}

func (c *Collector) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *Collector) free() (int64, error) {
	if c.Free != nil {
		return c.Free(filepath.Dir(c.Profile.Queue))
	}
	free, _, err := disk.Space(filepath.Dir(c.Profile.Queue))
	return int64(free), err
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

// childVariable returns the value that the connector receives for a variable it declares. The
// profile's value takes precedence over the environment's. The collector's own variables are never
// passed on.
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
	return fmt.Sprintf("run_%d_%s", now.UnixMilli(), randomText()[:10])
}

func randomText() string { return strings.ToLower(rand.Text()) }
