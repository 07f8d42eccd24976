package connectortest

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres/postgrestest"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
)

// Databases opens a fresh store on each database.
var Databases = map[string]func(t testing.TB) (store.Store, error){
	"sqlite": func(t testing.TB) (store.Store, error) {
		return sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	},
	"postgres": func(t testing.TB) (store.Store, error) {
		return postgres.Open(t.Context(), postgrestest.NewDatabase(t), postgres.Options{})
	},
}

// ForgetfulSource is a source that deletes things while no bookmark remembers them.
type ForgetfulSource struct {
	Target
	Stream string
	// Away is a resource that the owner selects for a while instead of the whole stream.
	Away string
	// Delete deletes something of the stream at the source.
	Delete func(t *testing.T)
	// Add adds something of the stream while another selection is in force; it may be nil.
	Add func()
	// There are the keys that have to be stored: of what is at the source, and of what stays although it is not.
	There func(t *testing.T) []string
}

// RunForgotten runs a shipped connector on both databases and deletes things at its source before a full refresh, and
// while another selection is in force. start returns a fresh source. What is stored is compared with it afterwards.
func RunForgotten(t *testing.T, start func(t *testing.T) ForgetfulSource) {
	for name, open := range Databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = st.Close() })
			f := start(t)
			b := NewHarnessOver(t, f.Target, st)
			b.Succeed(t)
			b.requireRecords(t, f, "a first run")

			f.Delete(t)
			if result := b.Run(t, launch.RunRequest{Mode: protocol.FullRefresh}); result.Status != runner.Succeeded {
				t.Fatalf("a full refresh ended as %s: %v\nstderr: %s", result.Status, result.Failure, result.StderrTail)
			}
			b.requireRecords(t, f, "a full refresh")

			b.runSelected(t, f.Stream, f.Away)
			if f.Add != nil {
				f.Add()
				b.runSelected(t, f.Stream, f.Away)
			}
			f.Delete(t)
			b.runSelected(t, f.Stream)
			b.requireRecords(t, f, "a selection away and back")
		})
	}
}

// ForgottenStream is Forgotten for a stream of a simulated provider and a mutation that deletes some of it.
func ForgottenStream(t *testing.T, target Target, stream string, deletion providersim.Mutation) {
	RunForgotten(t, func(t *testing.T) ForgetfulSource {
		sim, under := target.Start(t), target
		under.Start = func(*testing.T) *Sim { return sim }
		return ForgetfulSource{
			Target: under, Stream: stream, Away: "another one",
			Delete: func(t *testing.T) { sim.MutateData(t, deletion) },
			There: func(*testing.T) (keys []string) {
				for key, item := range sim.Provider.Truth()[stream] {
					if !item.Deleted {
						keys = append(keys, key)
					}
				}
				return keys
			},
		}
	})
}

// runSelected makes a run after the owner has selected resources of a stream, or all of it.
func (b *Harness) runSelected(t *testing.T, stream string, resources ...string) {
	t.Helper()
	b.Clock += time.Second // a bookmark of the same moment would count as one of this selection
	l := b.Launcher()
	chosen := store.Selection{Streams: []store.StreamSelection{{Stream: stream, Resources: resources,
		Since: b.currentTime()}}}
	l.Selected = func(context.Context, string) (store.Selection, error) { return chosen, nil }
	result, err := l.Run(t.Context(), launch.RunRequest{ConnectionID: Connection, Trigger: store.TriggerManual})
	if err != nil || result.Status != runner.Succeeded {
		t.Fatalf("a run with %v selected: %v, %s: %v\nstderr: %s", resources, err, result.Status, result.Failure,
			result.StderrTail)
	}
}

// requireRecords compares the live records of a stream with those that have to be there.
func (b *Harness) requireRecords(t *testing.T, f ForgetfulSource, after string) {
	t.Helper()
	var live []string
	for key, r := range b.storedRecords(t, f.Stream) {
		if !r.Deleted {
			live = append(live, key)
		}
	}
	slices.Sort(live)
	want := f.There(t)
	if slices.Sort(want); !slices.Equal(live, want) || len(want) == 0 {
		t.Errorf("after %s %s holds %q, and %q have to be there", after, f.Stream, live, want)
	}
}
