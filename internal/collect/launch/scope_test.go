package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// A run collects the requested streams, narrowed to the owner's selection. Single requested records are collected
// anyway. A stream starts over after such a request, and when its selection is newer than its cursor.
func TestScopeOfARun(t *testing.T) {
	m := &manifest.Manifest{ConnectorKey: "garden", Streams: []manifest.Stream{
		{Name: "beds", Views: []manifest.View{{ID: "brief", Fields: []string{"name"}},
			{ID: "full", Fields: []string{"name", "size"}}}, Selection: &manifest.Selection{Fields: true}},
		{Name: "paths", Views: []manifest.View{{ID: "brief", Fields: []string{"name"}}}},
		{Name: "shed", CoveragePolicy: manifest.PolicyUnsupported},
	}, Profiles: []manifest.Profile{
		{ID: "plants", Streams: []manifest.ProfileStream{{Name: "beds", View: "brief"}}},
		{ID: "lanes", Streams: []manifest.ProfileStream{{Name: "paths"}, {Name: "shed"}}},
		{ID: "tools", Streams: []manifest.ProfileStream{{Name: "shed"}}},
	}}
	chosenAt := time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)
	of := func(name string, keys ...string) protocol.StreamScope {
		return protocol.StreamScope{Name: name, Resources: keys}
	}
	viewed := func(name string, fields ...string) protocol.StreamScope {
		return protocol.StreamScope{Name: name, Fields: fields}
	}
	chosen := store.Selection{Streams: []store.StreamSelection{{Stream: "beds", Resources: []string{"b1", "b2"},
		Since: chosenAt}}}
	none := store.Selection{}
	both := store.Selection{Profile: "plants",
		Streams: []store.StreamSelection{{Stream: "beds", View: "full", Resources: []string{"b1"}, Since: chosenAt}}}
	plants, lanes := store.Selection{Profile: "plants"}, store.Selection{Profile: "lanes"}
	deleted := store.Selection{Deleted: []string{"paths"}}
	just := func(all ...protocol.StreamScope) []protocol.StreamScope { return all }
	for name, c := range map[string]struct {
		chosen          store.Selection
		requested, want []protocol.StreamScope
		over            []string // the streams that start over from a bookmark of before the choice
	}{
		"everything": {none, nil, nil, nil},
		"one stream": {none, []protocol.StreamScope{of("paths")}, []protocol.StreamScope{of("paths")}, nil},
		"one record": {none, []protocol.StreamScope{of("paths", "p1")},
			[]protocol.StreamScope{of("paths", "p1")}, []string{"paths"}},
		"chosen, of everything": {chosen, nil, []protocol.StreamScope{of("beds", "b1", "b2"), of("paths")},
			[]string{"beds"}},
		"chosen, of another": {chosen, []protocol.StreamScope{of("paths")}, []protocol.StreamScope{of("paths")},
			[]string{"beds"}},
		"chosen, and one is asked": {chosen, []protocol.StreamScope{of("beds", "b9")},
			[]protocol.StreamScope{of("beds", "b9")}, []string{"beds"}},
		"a stream was deleted": {deleted, nil, just(of("beds")), nil},
		"one of two asked":     {deleted, just(of("beds"), of("paths")), just(of("beds")), nil},
		"a profile":            {plants, nil, just(viewed("beds", "name")), nil},
		"a profile, of one record": {plants, just(of("beds", "b9")),
			just(protocol.StreamScope{Name: "beds", Resources: []string{"b9"}, Fields: []string{"name"}}), []string{"beds"}},
		"a profile of more": {lanes, nil, just(of("paths")), nil}, // what cannot be collected stays out
		"a view beside a profile": {both, nil,
			just(protocol.StreamScope{Name: "beds", Resources: []string{"b1"}, Fields: []string{"name", "size"}}),
			[]string{"beds"}},
	} {
		l := &Launcher{Selected: func(context.Context, string) (store.Selection, error) { return c.chosen, nil }}
		got, err := l.runScope(t.Context(), connection, m, c.requested)
		if err != nil || !reflect.DeepEqual(got.streams, c.want) {
			t.Errorf("%s: %+v, %v", name, got.streams, err)
		}
		for _, stream := range []string{"beds", "paths"} {
			want := strings.Contains(strings.Join(c.over, " "), stream)
			if over := got.startsOver(store.Cursor{CursorID: store.CursorID{Stream: stream},
				At: chosenAt.Add(-1)}); over != want {
				t.Errorf("%s: %s starts over: %v", name, stream, over)
			}
		}
		if name == "chosen, of everything" &&
			got.startsOver(store.Cursor{CursorID: store.CursorID{Stream: "beds"}, At: chosenAt}) {
			t.Error("a bookmark of since the choice is not used")
		}
	}
	l := &Launcher{Selected: func(context.Context, string) (store.Selection, error) {
		return store.Selection{},
			os.ErrClosed
	}}
	if _, err := l.runScope(t.Context(), connection, m, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("what is chosen cannot be read: %v", err)
	}
	// What the connector does not declare is refused, and never read as everything.
	for message, c := range map[string]struct {
		chosen    store.Selection
		requested []protocol.StreamScope
	}{
		`the connector garden declares no profile "herbs"; there are plants, lanes, tools`: {
			store.Selection{Profile: "herbs"}, nil},
		"the profile plants leaves out the stream paths": {plants, just(of("paths", "p1"))},
		"nothing of the profile tools can be collected; there are plants, lanes, tools": {
			store.Selection{Profile: "tools"}, nil},
		"you deleted the stream paths":                {deleted, just(of("paths"))},
		"you deleted every stream of this connection": {store.Selection{Deleted: []string{"paths", "beds"}}, nil},
		`the stream beds has no view "long"; there are brief, full`: {
			store.Selection{Streams: []store.StreamSelection{{Stream: "beds", View: "long"}}}, nil},
		"the stream paths is collected whole: its connector selects no fields": {
			store.Selection{Streams: []store.StreamSelection{{Stream: "paths", View: "brief"}}}, nil},
	} {
		l.Selected = func(context.Context, string) (store.Selection, error) { return c.chosen, nil }
		got, err := l.runScope(t.Context(), connection, m, c.requested)
		if choice := (*manifest.ChoiceError)(nil); !errors.As(err, &choice) || err.Error() != message || got.streams != nil {
			t.Errorf("%+v of %+v gives %+v, %v", c.chosen, c.requested, got.streams, err)
		}
	}
}

// A foreign connector runs only in the form that the owner confirmed. A built-in one needs no confirmation, and a
// launcher without confirmations rejects none.
func TestConfirmedAsItIs(t *testing.T) {
	b := newBed(t)
	program := filepath.Join(t.TempDir(), "connector")
	write := func(text string) {
		if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	c := catalog.Connector{Name: "garden", Path: program, Manifest: &manifest.Manifest{}}
	l := &Launcher{Store: b.store, OnlyConfirmed: true}
	refused := func(what string, reason runner.Reason, sentence string) {
		t.Helper()
		out := l.startRefusal(t.Context(), c)
		switch {
		case reason == "" && out != nil:
			t.Errorf("%s, and it is refused: %+v", what, out.Failure)
		case reason != "" && (out == nil || out.Status != runner.Failed || out.ExitCode != -1 ||
			out.Failure.Reason != reason || !strings.Contains(out.Failure.Message, sentence)):
			t.Errorf("%s: %+v", what, out)
		}
	}
	refused("never confirmed", ReasonUnconfirmed, "garden is a connector that you have not confirmed")
	if err := Confirm(t.Context(), b.store, c, time.Now()); err != nil {
		t.Fatal(err)
	}
	refused("confirmed", "", "")
	write("another")
	refused("replaced", ReasonUnconfirmed, "garden changed since you confirmed it")
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	refused("gone", runner.ReasonStorage, "read the program of connector garden")
	if err := Confirm(t.Context(), b.store, c, time.Now()); err == nil {
		t.Error("a program that is not there was confirmed")
	}
	c.Builtin = true
	refused("built in", "", "")
	c.Builtin, l.OnlyConfirmed = false, false
	refused("nobody asks", "", "")
}

// A gap waits with its sender when both waits come from one announcement, and otherwise for its own time.
func TestGapWaitsWithItsSender(t *testing.T) {
	until := time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)
	b := &leasedStore{waits: []time.Time{until.Add(-time.Hour), until}}
	for off, want := range map[time.Duration]time.Duration{
		0: 0, time.Second: 0, -time.Second: 0, sameWait - 1: 0, 1 - sameWait: 0, sameWait: sameWait, -sameWait: -sameWait,
		time.Minute: time.Minute,
	} {
		at := until.Add(off)
		if got := b.notBefore(&at); got == nil || !got.Equal(until.Add(want)) {
			t.Errorf("%v from the sender's wait: %v", off, got)
		}
	}
	if got := b.notBefore(nil); got != nil {
		t.Errorf("without a wait: %v", got)
	}
}
