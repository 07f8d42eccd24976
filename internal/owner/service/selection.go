package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pdpp/internal/keep/store"
	"pdpp/internal/owner/api"
	"pdpp/internal/owner/service/faults"
	"pdpp/internal/schedule/scheduler"
	"pdpp/manifest"
	"pdpp/protocol"
)

// mostSelected bounds the records of a stream that are chosen one by one.
const mostSelected = 500

func selectionSetting(connectionID string) string { return "selection:" + connectionID }

// Selections gives a launcher what the owner chose of a connection's streams.
func Selections(st Settings) func(ctx context.Context, connectionID string) ([]store.Selected, error) {
	return func(ctx context.Context, connectionID string) ([]store.Selected, error) {
		body, err := st.Setting(ctx, selectionSetting(connectionID))
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var kept []store.Selected
		if err := json.Unmarshal(body, &kept); err != nil {
			return nil, fmt.Errorf("decode the selection: %w", err)
		}
		return kept, nil
	}
}

// selectionOf gives the streams of which only some records are collected.
func (s *Service) selectionOf(ctx context.Context, connectionID string) (api.Selection, error) {
	out := api.Selection{Streams: []api.SelectedStream{}}
	kept, err := Selections(s.Store)(ctx, connectionID)
	if err != nil {
		return out, faults.Error(err, "read the selection")
	}
	for _, k := range kept {
		if len(k.Resources) > 0 {
			out.Streams = append(out.Streams, api.SelectedStream{Stream: k.Stream, Resources: k.Resources})
		}
	}
	return out, nil
}

// SetSelection is the owner's word on which records are collected. It counts from the
// next run on, which begins each stream anew whose choice changed: its bookmark tells
// how far another choice got.
func (s *Service) SetSelection(ctx context.Context, id string, wanted api.Selection) error {
	scope, err := s.scopeOf(ctx, id, wanted)
	if err != nil {
		return err
	}
	before, err := Selections(s.Store)(ctx, id)
	if err != nil {
		return faults.Error(err, "read the selection")
	}
	now := s.Now().UTC()
	var kept []store.Selected
	for _, c := range scope {
		kept = append(kept, store.Selected{Stream: c.Name, Resources: c.Resources, Since: now})
	}
	for _, b := range before {
		i := slices.IndexFunc(kept, func(k store.Selected) bool { return k.Stream == b.Stream })
		switch {
		case i < 0 && len(b.Resources) > 0:
			kept = append(kept, store.Selected{Stream: b.Stream, Since: now})
		case i < 0:
			kept = append(kept, b)
		case slices.Equal(kept[i].Resources, b.Resources):
			kept[i].Since = b.Since
		}
	}
	body, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the selection: %w", err)
	}
	return faults.Error(s.Store.PutSetting(ctx, selectionSetting(id), body, now), "keep the selection")
}

// Collect asks for a run that fetches single records and nothing else.
func (s *Service) Collect(ctx context.Context, id string, wanted api.Selection) error {
	scope, err := s.scopeOf(ctx, id, wanted)
	if err != nil {
		return err
	}
	if len(scope) == 0 {
		return api.Invalid("streams", "No record is named.", "Name the stream and the keys of its records.")
	}
	r := store.RunRequest{ConnectionID: id, Trigger: store.TriggerManual, Scope: scope, RequestedAt: s.Now()}
	return faults.Error(scheduler.RunNow(ctx, s.Store, r), "ask for the run")
}

// scopeOf checks a selection against what the connection's connector declares.
func (s *Service) scopeOf(ctx context.Context, id string, wanted api.Selection) ([]protocol.StreamScope, error) {
	conn, err := s.find.Active(ctx, id)
	if err != nil {
		return nil, err
	}
	if conn.SourceKind == store.SourceLocalDevice {
		return nil, api.Invalid("connection_id", "A device of yours collects this.", "Choose there what it collects.")
	}
	m, err := s.find.Declared(ctx, conn.ConnectorID)
	if err != nil {
		return nil, err
	}
	return SelectionScope(m, wanted)
}

// SelectionScope is a selection as a run is told it, by stream and key.
func SelectionScope(m *manifest.Manifest, wanted api.Selection) ([]protocol.StreamScope, error) {
	var out []protocol.StreamScope
	for _, c := range wanted.Streams {
		if _, ok := m.Stream(c.Stream); !ok {
			return nil, api.Invalid("streams", "There is no stream "+c.Stream+".", "Its streams are: "+strings.Join(declaredStreams(m), ", ")+".")
		}
		keys := slices.Clone(c.Resources)
		slices.Sort(keys)
		keys = slices.Compact(keys)
		if len(keys) == 0 {
			continue
		}
		if slices.ContainsFunc(keys, func(k string) bool { return strings.TrimSpace(k) == "" }) || len(keys) > mostSelected {
			return nil, api.Invalid("resources", fmt.Sprintf("Of a stream, from 1 to %d records can be chosen by their keys.", mostSelected), "Choose fewer, or the whole stream.")
		}
		if slices.ContainsFunc(out, func(o protocol.StreamScope) bool { return o.Name == c.Stream }) {
			return nil, api.Invalid("streams", "The stream "+c.Stream+" is named twice.", "Name all of its records in one place.")
		}
		out = append(out, protocol.StreamScope{Name: c.Stream, Resources: keys})
	}
	slices.SortFunc(out, func(a, b protocol.StreamScope) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func declaredStreams(m *manifest.Manifest) []string {
	out := make([]string, 0, len(m.Streams))
	for i := range m.Streams {
		out = append(out, m.Streams[i].Name)
	}
	return out
}
