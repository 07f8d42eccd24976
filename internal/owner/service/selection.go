package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// mostSelected bounds the records of a stream that are chosen one by one.
const mostSelected = 500

// SelectionStore keeps what an owner chose of a connection, and what they deleted of it.
type SelectionStore interface {
	LimitSettings
	Deletions(ctx context.Context, connectionID string) ([]store.Deletion, error)
}

// Selections returns how a launcher reads what the owner chose of a connection.
func Selections(st SelectionStore) func(ctx context.Context, connectionID string) (store.Selection, error) {
	return func(ctx context.Context, connectionID string) (store.Selection, error) {
		var kept store.Selection
		body, err := st.Setting(ctx, store.SelectionSetting+connectionID)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return kept, err
		default:
			if kept, err = store.ParseSelection(body); err != nil {
				return kept, fmt.Errorf("decode the selection: %w", err)
			}
		}
		deletions, err := st.Deletions(ctx, connectionID)
		if err != nil {
			return kept, err
		}
		for _, d := range deletions {
			if d.BlocksStream() {
				kept.Deleted = append(kept.Deleted, d.Stream)
			}
		}
		return kept, nil
	}
}

// selectionOf returns the selection of a connection.
func (s *Service) selectionOf(ctx context.Context, connectionID string) (api.Selection, error) {
	out := api.Selection{Streams: []api.SelectedStream{}}
	kept, err := Selections(s.Store)(ctx, connectionID)
	if err != nil {
		return out, faults.OwnerError(err, "read the selection")
	}
	out.Profile = kept.Profile
	for _, k := range kept.Streams {
		if len(k.Resources) > 0 || k.View != "" {
			out.Streams = append(out.Streams, api.SelectedStream{Stream: k.Stream, View: k.View, Resources: k.Resources})
		}
	}
	return out, nil
}

// notCollected lists the streams of a connection that are left out because the owner deleted them.
func (s *Service) notCollected(ctx context.Context, connectionID string) ([]api.NotCollected, error) {
	deletions, err := s.Store.Deletions(ctx, connectionID)
	if err != nil {
		return nil, faults.OwnerError(err, "list the deletions")
	}
	out := []api.NotCollected{}
	for _, d := range deletions {
		if d.BlocksStream() {
			out = append(out, api.NotCollected{Stream: d.Stream, DeletionID: d.ID, State: string(d.State)})
		}
	}
	return out, nil
}

// SetSelection is the owner's word on what is collected. It counts from the next run on.
func (s *Service) SetSelection(ctx context.Context, id string, wanted api.Selection) error {
	m, err := s.selectableManifest(ctx, id)
	if err != nil {
		return err
	}
	before, err := Selections(s.Store)(ctx, id)
	if err != nil {
		return faults.OwnerError(err, "read the selection")
	}
	chosen, err := validateSelection(m, wanted, before.Deleted)
	if err != nil {
		return err
	}
	return s.keepSelection(ctx, id, m, chosen)
}

// validateSelection checks a selection against what a connector declares and the owner has not deleted.
func validateSelection(m *manifest.Manifest, wanted api.Selection, deleted []string) (store.Selection, error) {
	chosen := store.Selection{Profile: wanted.Profile}
	for _, c := range wanted.Streams {
		if c.View != "" {
			chosen.Streams = append(chosen.Streams, store.StreamSelection{Stream: c.Stream, View: c.View})
		}
	}
	scope, err := SelectionScope(m, wanted)
	if err != nil {
		return chosen, err
	}
	for _, c := range scope {
		if i := slices.IndexFunc(chosen.Streams, func(k store.StreamSelection) bool { return k.Stream == c.Name }); i >= 0 {
			chosen.Streams[i].Resources = c.Resources
			continue
		}
		chosen.Streams = append(chosen.Streams, store.StreamSelection{Stream: c.Name, Resources: c.Resources})
	}
	named := make([]protocol.StreamScope, len(chosen.Streams))
	for i, c := range chosen.Streams {
		named[i].Name = c.Stream
	}
	for _, scope := range [][]protocol.StreamScope{nil, named} { // the whole, and that nothing of it is left out again
		if _, err := m.Choose(scope, chosen.Profile, chosen.Views(), deleted); err != nil {
			return chosen, notDeclared(err)
		}
	}
	slices.SortFunc(chosen.Streams, func(a, b store.StreamSelection) int { return cmp.Compare(a.Stream, b.Stream) })
	return chosen, nil
}

// notDeclared is the refusal of a choice that the connector does not declare.
func notDeclared(err error) error {
	var choice *manifest.ChoiceError
	if !errors.As(err, &choice) {
		return err
	}
	next := "Leave it out."
	if len(choice.Have) > 0 {
		next = "Choose one of " + strings.Join(choice.Have, ", ") + ", or leave it out."
	}
	return api.Invalid(choice.Param, text.Upper(choice.Why)+".", next)
}

// keepSelection stores a selection. The next run restarts every stream with a changed selection, because the stream's
// bookmark belongs to the previous selection.
func (s *Service) keepSelection(ctx context.Context, id string, m *manifest.Manifest, chosen store.Selection) error {
	before, err := Selections(s.Store)(ctx, id)
	if err != nil {
		return faults.OwnerError(err, "read the selection")
	}
	now, was, is := s.Now().UTC(), selectionParts(m, before), selectionParts(m, chosen)
	for i := range m.Streams {
		name := m.Streams[i].Name
		since := time.Time{}
		if j := slices.IndexFunc(before.Streams, func(b store.StreamSelection) bool { return b.Stream == name }); j >= 0 {
			since = before.Streams[j].Since
		}
		if was[name] != is[name] {
			since = now
		}
		j := slices.IndexFunc(chosen.Streams, func(c store.StreamSelection) bool { return c.Stream == name })
		switch {
		case j >= 0:
			chosen.Streams[j].Since = since
		case !since.IsZero():
			chosen.Streams = append(chosen.Streams, store.StreamSelection{Stream: name, Since: since})
		}
	}
	body, err := json.Marshal(chosen)
	if err != nil {
		return fmt.Errorf("encode the selection: %w", err)
	}
	return faults.OwnerError(s.Store.PutSetting(ctx, store.SelectionSetting+id, body, now), "keep the selection")
}

// selectionParts returns one comparable text per stream that identifies the collected part. Streams that are not
// selected, or no longer declared by the connector, have no entry.
func selectionParts(m *manifest.Manifest, s store.Selection) map[string]string {
	parts := map[string]string{}
	scope, err := m.Choose(nil, s.Profile, s.Views(), nil)
	if err != nil {
		return parts
	}
	for _, c := range scope {
		i := slices.IndexFunc(s.Streams, func(k store.StreamSelection) bool { return k.Stream == c.Name })
		if i >= 0 {
			c.Resources = s.Streams[i].Resources
		}
		parts[c.Name] = fmt.Sprintf("%q %q", c.Fields, c.Resources)
	}
	return parts
}

// Collect asks for a run that fetches single records and nothing else.
func (s *Service) Collect(ctx context.Context, id string, wanted api.Selection) error {
	m, err := s.selectableManifest(ctx, id)
	if err != nil {
		return err
	}
	scope, err := SelectionScope(m, wanted)
	if err != nil {
		return err
	}
	if len(scope) == 0 {
		return api.Invalid("streams", "No record is named.", "Name the stream and the keys of its records.")
	}
	chosen, err := Selections(s.Store)(ctx, id)
	if err != nil {
		return faults.OwnerError(err, "read the selection")
	}
	if _, err := m.Choose(scope, chosen.Profile, chosen.Views(), chosen.Deleted); err != nil {
		return notDeclared(err)
	}
	r := store.RunRequest{ConnectionID: id, Trigger: store.TriggerManual, Scope: scope, RequestedAt: s.Now()}
	return faults.OwnerError(s.runNow(ctx, r), "ask for the run")
}

// selectableManifest returns the manifest of a connection's connector. It rejects a connection that a device
// collects.
func (s *Service) selectableManifest(ctx context.Context, id string) (*manifest.Manifest, error) {
	conn, err := s.find.ActiveConnection(ctx, id)
	if err != nil {
		return nil, err
	}
	if conn.SourceKind == store.SourceLocalDevice {
		return nil, api.Invalid("connection_id", "One of your devices collects this.",
			"Choose on that device what it collects.")
	}
	return s.find.DeclaredManifest(ctx, conn.ConnectorID)
}

// SelectionScope converts a selection to the scope of a run, by stream and key.
func SelectionScope(m *manifest.Manifest, wanted api.Selection) ([]protocol.StreamScope, error) {
	var out []protocol.StreamScope
	for i, c := range wanted.Streams {
		if slices.ContainsFunc(wanted.Streams[:i], func(o api.SelectedStream) bool { return o.Stream == c.Stream }) {
			return nil, api.Invalid("streams", "The stream "+c.Stream+" is named twice.", "Say all of it in one place.")
		}
		if _, ok := m.Stream(c.Stream); !ok {
			return nil, api.Invalid("streams", "There is no stream "+c.Stream+".",
				"Its streams are: "+strings.Join(declaredStreams(m), ", ")+".")
		}
		keys := slices.Clone(c.Resources)
		slices.Sort(keys)
		keys = slices.Compact(keys)
		if len(keys) == 0 {
			continue
		}
		if slices.ContainsFunc(keys, func(k string) bool { return strings.TrimSpace(k) == "" }) || len(keys) > mostSelected {
			return nil, api.Invalid("resources", fmt.Sprintf("Of a stream, from 1 to %d keys or values can be chosen.",
				mostSelected), "Choose fewer, or the whole stream.")
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
