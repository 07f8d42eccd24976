package grants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// GrantedStreams is what a grant covers: each stream of each connection at most once.
type GrantedStreams []Stream

// Stream is a part of one stream of one connection.
type Stream struct {
	ConnectionID string     `json:"connection_id"`
	Stream       string     `json:"name"`
	Fields       []string   `json:"fields,omitempty"`    // empty means all
	Resources    []string   `json:"resources,omitempty"` // keys of records, or values of a field; empty means all
	Since        *time.Time `json:"since,omitempty"`
	Until        *time.Time `json:"until,omitempty"` // not included
	// ResourceField is the field that Resources are values of, as declared when the grant was made; empty means that
	// they are keys.
	ResourceField string `json:"resource_field,omitempty"`
}

// Bounds of a scope: large enough for people, small enough for one statement.
const (
	maxStreams   = 200
	maxFields    = 200
	maxResources = 500
	maxKey       = 1024
)

// part returns the stream's limits for the store.
func (s Stream) part() store.AccessFilter {
	p := store.AccessFilter{ConnectionID: s.ConnectionID, Stream: s.Stream}
	switch {
	case s.ResourceField != "":
		p.AllowedValues = &store.AllowedValues{Field: s.ResourceField, Values: s.Resources}
	case len(s.Resources) > 0:
		p.Keys = s.Resources
	}
	if s.Since != nil {
		p.Since = s.Since.UTC().Format(protocol.StoredTime)
	}
	if s.Until != nil {
		p.Until = s.Until.UTC().Format(protocol.StoredTime)
	}
	return p
}

// normalizeScope checks a scope against the connections and returns it as it is stored: with primary keys among the
// fields and times in the store's precision.
func (b *Service) normalizeScope(ctx context.Context, scope GrantedStreams) (GrantedStreams, error) {
	if len(scope) == 0 {
		return nil, invalid("streams", "A grant needs at least one stream.", "Choose what the client may read.")
	}
	if len(scope) > maxStreams {
		return nil, invalid("streams", fmt.Sprintf("A grant covers at most %d streams.", maxStreams), "Make several grants.")
	}
	settled := make(GrantedStreams, len(scope))
	seen := map[[2]string]bool{}
	for i, s := range scope {
		name := [2]string{s.ConnectionID, s.Stream}
		if seen[name] {
			return nil, invalid("streams", "The stream "+printableName(s.Stream)+" is named twice for one connection.",
				"Name each stream once.")
		}
		seen[name] = true
		var err error
		if settled[i], err = b.settleStream(ctx, s); err != nil {
			return nil, err
		}
	}
	return settled, nil
}

func (b *Service) settleStream(ctx context.Context, s Stream) (Stream, error) {
	d, err := b.declared(ctx, s.ConnectionID, s.Stream)
	if errors.Is(err, store.ErrNotFound) {
		return s, invalid("streams", "There is no stream "+printableName(s.Stream)+" in that connection.",
			"Choose a stream that the connection has.")
	}
	if err != nil {
		return s, err
	}
	if s.Fields, err = d.expandFields(s.Stream, s.Fields); err != nil {
		return s, err
	}
	if s.Resources, err = settleResources(s.Resources); err != nil {
		return s, err
	}
	if s.ResourceField = ""; len(s.Resources) > 0 {
		s.ResourceField = d.ResourceField()
	}
	if s.Since == nil && s.Until == nil {
		return s, nil
	}
	if d.ConsentTimeField == "" {
		return s, invalid("since",
			"The records of "+printableName(s.Stream)+" have no time that a range could be applied to.",
			"Leave the range out, or choose another stream.")
	}
	return s.settleRange()
}

// ViewMark begins the name of a declared view where fields are named.
const ViewMark = "view:"

// expandFields replaces a view by its fields and adds the primary key, which identifies a record.
func (d declaredStream) expandFields(stream string, fields []string) ([]string, error) {
	var named []string
	for _, f := range fields {
		id, isView := strings.CutPrefix(f, ViewMark)
		view := d.View(id)
		switch {
		case !isView:
			named = append(named, f)
		case view == nil:
			return nil, Refused(CodeUnknownField, "fields",
				"The stream "+printableName(stream)+" has no view "+printableName(id)+".",
				"Choose fields, or a view that the stream has.")
		default:
			named = append(named, view.Fields...)
		}
	}
	fields = named
	if len(fields) == 0 {
		return nil, nil
	}
	if len(fields) > maxFields {
		return nil, invalid("fields", fmt.Sprintf("At most %d fields can be chosen.", maxFields),
			"Leave the fields out to grant them all.")
	}
	for _, f := range fields {
		if !slices.Contains(d.fields, f) {
			return nil, Refused(CodeUnknownField, "fields",
				"The records of "+printableName(stream)+" have no field "+printableName(f)+".",
				"Choose fields that the stream has.")
		}
	}
	return sortedSet(append(slices.Clone(fields), d.PrimaryKey...)), nil
}

func settleResources(keys []string) ([]string, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	if len(keys) > maxResources {
		return nil, invalid("resources", fmt.Sprintf("At most %d keys or values can be chosen one by one.", maxResources),
			"Choose fewer, or grant the whole stream.")
	}
	for _, k := range keys {
		if k == "" || len(k) > maxKey {
			return nil, invalid("resources", "A chosen key or value is empty or too long.", "Give it as the records have it.")
		}
	}
	return sortedSet(keys), nil
}

// settleRange rounds inwards, so that no record slips in between two ticks.
func (s Stream) settleRange() (Stream, error) {
	if s.Since != nil {
		at := s.Since.UTC()
		if cut := at.Truncate(time.Microsecond); cut.Before(at) {
			at = cut.Add(time.Microsecond)
		}
		s.Since = &at
	}
	if s.Until != nil {
		at := s.Until.UTC().Truncate(time.Microsecond)
		s.Until = &at
	}
	for _, at := range []*time.Time{s.Since, s.Until} {
		if at != nil && (at.Year() < 1 || at.Year() > 9999) {
			return s, invalid("since", "The time range is outside the calendar.", "Give years between 1 and 9999.")
		}
	}
	if s.Since != nil && s.Until != nil && !s.Since.Before(*s.Until) {
		return s, invalid("until", "The time range ends before it begins.", "Put the end after the beginning.")
	}
	return s, nil
}

func sortedSet(words []string) []string {
	words = slices.Clone(words)
	slices.Sort(words)
	return slices.Compact(words)
}
