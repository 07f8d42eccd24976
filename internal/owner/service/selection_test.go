package service

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func chosen(stream string, keys ...string) api.Selection {
	return api.Selection{Streams: []api.SelectedStream{{Stream: stream, Resources: keys}}}
}

// A selection of records is stored sorted and without duplicates. A stream restarts only if its selection changed,
// including a change to everything.
func TestSelectionBeginsAnewOnlyWhenItChanged(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	began := b.at
	for i, step := range []struct {
		wanted api.Selection
		keys   []string
		since  time.Duration
	}{
		{chosen("beds", "b2", "b1", "b2"), []string{"b1", "b2"}, 0},
		{chosen("beds", "b1", "b2"), []string{"b1", "b2"}, 0},
		{chosen("beds", "b3"), []string{"b3"}, 2 * time.Hour},
		{api.Selection{}, nil, 3 * time.Hour},
		{chosen("beds"), nil, 3 * time.Hour},
		{chosen("beds", "b3"), []string{"b3"}, 5 * time.Hour},
	} {
		b.at = began.Add(time.Duration(i) * time.Hour)
		b.requireNoError(b.SetSelection(b.ctx(), id, step.wanted))
		d, err := b.Connection(b.ctx(), id)
		b.requireNoError(err)
		var shown []string
		for _, s := range d.Selection.Streams {
			shown = append(shown, s.Resources...)
		}
		kept, err := Selections(b.Store)(b.ctx(), id)
		b.requireNoError(err)
		if !slices.Equal(shown, step.keys) || (len(d.Selection.Streams) > 0) != (step.keys != nil) {
			t.Errorf("step %d shows %+v", i, d.Selection)
		}
		if len(kept.Streams) != 1 || kept.Streams[0].Stream != "beds" ||
			!slices.Equal(kept.Streams[0].Resources, step.keys) || !kept.Streams[0].Since.Equal(began.Add(step.since)) {
			t.Errorf("step %d keeps %+v", i, kept)
		}
	}
}

// A profile and views are stored as chosen, when connecting and later. A stream restarts if its selected part
// changes. An undeclared profile or view is rejected and leaves the stored selection unchanged.
func TestSelectionByProfileAndView(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	brief := api.Selection{Profile: "brief", Streams: []api.SelectedStream{}}
	d, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "garden", Fields: map[string]string{"token": "trowel"},
		Selection: &brief})
	b.requireNoError(err)
	id := d.ID
	since := func(stream string) time.Time {
		t.Helper()
		kept, err := Selections(b.Store)(b.ctx(), id)
		b.requireNoError(err)
		for _, k := range kept.Streams {
			if k.Stream == stream {
				return k.Since
			}
		}
		return time.Time{}
	}
	if d.Selection.Profile != "brief" || len(d.Selection.Streams) != 0 || !since("beds").Equal(b.at) {
		t.Errorf("connected with %+v, since %v", d.Selection, since("beds"))
	}
	viewed := func(profile, view string) api.Selection {
		return api.Selection{Profile: profile, Streams: []api.SelectedStream{{Stream: "beds", View: view}}}
	}
	began := b.at
	for i, step := range []struct {
		wanted api.Selection
		since  time.Duration // of the beds
	}{
		{viewed("brief", "names"), 0}, // the profile already selects this
		{viewed("", "names"), 0},
		{viewed("", "sizes"), 3 * time.Hour},
		{api.Selection{}, 4 * time.Hour},
	} {
		b.at = began.Add(time.Duration(i+1) * time.Hour)
		b.requireNoError(b.SetSelection(b.ctx(), id, step.wanted))
		d, err := b.Connection(b.ctx(), id)
		b.requireNoError(err)
		if got := since("beds"); !got.Equal(began.Add(step.since)) || d.Selection.Profile != step.wanted.Profile ||
			len(d.Selection.Streams) != len(step.wanted.Streams) {
			t.Errorf("step %d: %+v, since %v", i, d.Selection, got)
		}
	}
	b.requireNoError(b.SetSelection(b.ctx(), id, brief))
	for param, wanted := range map[string]api.Selection{"profile": {Profile: "long"}, "view": viewed("", "colours"),
		"streams": {Streams: []api.SelectedStream{{Stream: "paths", View: "names"}}}} {
		wantError(t, b.SetSelection(b.ctx(), id, wanted), api.CodeInvalid, param)
		_, err := b.Connect(b.ctx(), api.Connect{ConnectorID: "garden", Fields: map[string]string{"token": "trowel"},
			Selection: &wanted})
		wantError(t, err, api.CodeInvalid, param)
	}
	if d, err := b.Connection(b.ctx(), id); err != nil || d.Selection.Profile != "brief" {
		t.Errorf("after refusals it is %+v, %v", d.Selection, err)
	}
	// What was kept before there were profiles is read as it was meant.
	b.requireNoError(b.Store.PutSetting(b.ctx(), store.SelectionSetting+id,
		[]byte(`[{"stream":"beds","resources":["b1"],"since":"2026-01-01T00:00:00Z"}]`), b.at))
	if d, err := b.Connection(b.ctx(), id); err != nil || d.Selection.Profile != "" || len(d.Selection.Streams) != 1 ||
		d.Selection.Streams[0].Resources[0] != "b1" {
		t.Errorf("an earlier choice is read as %+v, %v", d.Selection, err)
	}
}

// Records that cannot be meant are neither chosen nor fetched.
func TestSelectionIsChecked(t *testing.T) {
	t.Parallel()
	b := newServiceHarness(t)
	id := b.connect("trowel").ID
	b.worker()
	var many []string
	for i := range mostSelected + 1 {
		many = append(many, fmt.Sprint("b", i))
	}
	twice := chosen("beds", "b1")
	twice.Streams = append(twice.Streams, twice.Streams...)
	for param, all := range map[string][]api.Selection{"streams": {chosen("paths", "p1"), twice},
		"resources": {chosen("beds", many...), chosen("beds", "b1", " ")}} {
		for _, wanted := range all {
			wantError(t, b.SetSelection(b.ctx(), id, wanted), api.CodeInvalid, param)
			wantError(t, b.Collect(b.ctx(), id, wanted), api.CodeInvalid, param)
		}
	}
	b.requireNoError(b.SetSelection(b.ctx(), id, chosen("beds", many[1:]...)))
	wantError(t, b.Collect(b.ctx(), id, api.Selection{}), api.CodeInvalid, "streams")
	wantError(t, b.Collect(b.ctx(), id, chosen("beds")), api.CodeInvalid, "streams")
	if r, err := b.Store.RunRequest(b.ctx(), id); err != nil || r.Scope != nil {
		t.Errorf("beside the first run %+v is asked for, %v", r, err)
	}
	b.requireNoError(b.Collect(b.ctx(), id, chosen("beds", "b7")))
	r, err := b.Store.RunRequest(b.ctx(), id)
	b.requireNoError(err)
	if r.Trigger != store.TriggerManual || len(r.Scope) != 1 || r.Scope[0].Name != "beds" ||
		!slices.Equal(r.Scope[0].Resources, []string{"b7"}) || !r.RequestedAt.Equal(b.at) {
		t.Errorf("asked for %+v", r)
	}
	b.requireNoError(b.Store.CreateConnection(b.ctx(),
		store.Connection{ID: "cin_attic_1", ConnectorID: "attic", DisplayName: "Attic", Status: store.ConnectionActive,
			SourceKind: store.SourceLocalDevice, CreatedAt: b.at, UpdatedAt: b.at}))
	wantError(t, b.SetSelection(b.ctx(), "cin_attic_1", chosen("boxes", "x")), api.CodeInvalid, "connection_id")
	wantError(t, b.SetSelection(b.ctx(), "cin_none", chosen("beds", "b1")), api.CodeNotFound, "")
}
