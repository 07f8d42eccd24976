package service

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pdpp/internal/keep/store"
	"pdpp/internal/owner/api"
)

func chosen(stream string, keys ...string) api.Selection {
	return api.Selection{Streams: []api.SelectedStream{{Stream: stream, Resources: keys}}}
}

// A choice of records is kept in order and without doubles. Only a choice that differs
// from the one before begins its stream anew, also the choice of everything.
func TestSelectionBeginsAnewOnlyWhenItChanged(t *testing.T) {
	t.Parallel()
	b := newBed(t)
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
		b.must(b.SetSelection(b.ctx(), id, step.wanted))
		d, err := b.Connection(b.ctx(), id)
		b.must(err)
		var shown []string
		for _, s := range d.Selection.Streams {
			shown = append(shown, s.Resources...)
		}
		kept, err := Selections(b.Store)(b.ctx(), id)
		b.must(err)
		if !slices.Equal(shown, step.keys) || (len(d.Selection.Streams) > 0) != (step.keys != nil) {
			t.Errorf("step %d shows %+v", i, d.Selection)
		}
		if len(kept) != 1 || kept[0].Stream != "beds" || !slices.Equal(kept[0].Resources, step.keys) || !kept[0].Since.Equal(began.Add(step.since)) {
			t.Errorf("step %d keeps %+v", i, kept)
		}
	}
}

// Records that cannot be meant are neither chosen nor fetched.
func TestSelectionIsChecked(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	id := b.connect("trowel").ID
	b.worker()
	var many []string
	for i := range mostSelected + 1 {
		many = append(many, fmt.Sprint("b", i))
	}
	twice := chosen("beds", "b1")
	twice.Streams = append(twice.Streams, twice.Streams...)
	for param, all := range map[string][]api.Selection{"streams": {chosen("paths", "p1"), twice}, "resources": {chosen("beds", many...), chosen("beds", "b1", " ")}} {
		for _, wanted := range all {
			wantError(t, b.SetSelection(b.ctx(), id, wanted), api.CodeInvalid, param)
			wantError(t, b.Collect(b.ctx(), id, wanted), api.CodeInvalid, param)
		}
	}
	b.must(b.SetSelection(b.ctx(), id, chosen("beds", many[1:]...)))
	wantError(t, b.Collect(b.ctx(), id, api.Selection{}), api.CodeInvalid, "streams")
	wantError(t, b.Collect(b.ctx(), id, chosen("beds")), api.CodeInvalid, "streams")
	if r, err := b.Store.RunRequest(b.ctx(), id); err != nil || r.Scope != nil {
		t.Errorf("beside the first run %+v is asked for, %v", r, err)
	}
	b.must(b.Collect(b.ctx(), id, chosen("beds", "b7")))
	r, err := b.Store.RunRequest(b.ctx(), id)
	b.must(err)
	if r.Trigger != store.TriggerManual || len(r.Scope) != 1 || r.Scope[0].Name != "beds" || !slices.Equal(r.Scope[0].Resources, []string{"b7"}) || !r.RequestedAt.Equal(b.at) {
		t.Errorf("asked for %+v", r)
	}
	b.must(b.Store.CreateConnection(b.ctx(), store.Connection{ID: "cin_attic_1", ConnectorID: "attic", DisplayName: "Attic", Status: store.ConnectionActive, SourceKind: store.SourceLocalDevice, CreatedAt: b.at, UpdatedAt: b.at}))
	wantError(t, b.SetSelection(b.ctx(), "cin_attic_1", chosen("boxes", "x")), api.CodeInvalid, "connection_id")
	wantError(t, b.SetSelection(b.ctx(), "cin_none", chosen("beds", "b1")), api.CodeNotFound, "")
}
