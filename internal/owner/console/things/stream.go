// Package things reads the records of a home by what their streams declare: a kind, and the fields that have a role.
// No page that uses it knows a connector by name. The content of records is untrusted text, never markup.
package things

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// Stream is a stream with what it declares of how it is shown.
type Stream struct{ api.Stream }

// Kind is the kind of its things.
func (s *Stream) Kind() manifest.DisplayKind { return manifest.DisplayKind(s.Display.Kind) }

// Role is the field that plays a part; empty when none does.
func (s *Stream) Role(name string) string { return s.Display.Roles[name] }

// ListAddress is the address of all its records.
func (s *Stream) ListAddress() string {
	return "/search?" + url.Values{"connection": {s.ConnectionID}, "stream": {s.Name}}.Encode()
}

// FieldNames are all that play a part, and nothing else of a record is read.
func (s *Stream) FieldNames() []string {
	return slices.Sorted(maps.Values(s.Display.Roles))
}

// Streams are those that there are, by connection and name.
type Streams struct {
	All []Stream
	of  map[[2]string]*Stream
}

// ReadStreams reads the streams of a home.
func ReadStreams(ctx context.Context, owner api.Records) (*Streams, error) {
	all, err := owner.Streams(ctx, "")
	if err != nil {
		return nil, err
	}
	return NewStreams(all), nil
}

// NewStreams orders streams by connection and label.
func NewStreams(all []api.Stream) *Streams {
	slices.SortStableFunc(all, func(a, b api.Stream) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.ConnectionName), strings.ToLower(b.ConnectionName)),
			strings.Compare(a.ConnectionID, b.ConnectionID), strings.Compare(a.Label, b.Label))
	})
	out := &Streams{of: map[[2]string]*Stream{}}
	for _, s := range all {
		out.All = append(out.All, Stream{s})
	}
	for i := range out.All {
		s := &out.All[i]
		out.of[[2]string{s.ConnectionID, s.Name}] = s
	}
	return out
}

// Find returns a stream of a connection by its name; nil if there is none.
func (all *Streams) Find(connection, name string) *Stream { return all.of[[2]string{connection, name}] }

// Folds reports whether many records of the stream on one day are shown as one item. That item
// shows the newest record.
func (s *Stream) Folds() bool { return s.Role("thread") == "" && s.Kind() != manifest.KindMessage }

// Class is the class of the kind of a stream's things.
func (s *Stream) Class() string {
	if kind, is := records.KindOf(&s.Stream); is {
		return kind.Class
	}
	return "k-plan"
}

// Path is a stream as an address names it.
func (s *Stream) Path() string { return ui.Segment(s.ConnectionID) + "/" + ui.Segment(s.Name) }

// Bounds returns the start and end of a day for a stream. Times that are whole days begin in UTC,
// whatever the owner's time zone.
func (s *Stream) Bounds(day time.Time) (from, to time.Time) {
	if s.Display.Days {
		day = time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC)
	}
	return day, day.AddDate(0, 0, 1)
}

// Export returns the export of what a query selects of streams.
func Export(of []*Stream, q api.ExportQuery) (list records.ExportList) {
	for _, s := range of {
		list.Add(&s.Stream, q)
	}
	return list
}

// ExportBetween returns the export of what streams have of the days from one up to another. Zero means all of them.
func ExportBetween(of []*Stream, from, to time.Time) (list records.ExportList) {
	for _, s := range of {
		q := api.ExportQuery{ByTime: true}
		if !from.IsZero() {
			q.Since, _ = s.Bounds(from)
		}
		if !to.IsZero() {
			q.Until, _ = s.Bounds(to)
		}
		list.Add(&s.Stream, q)
	}
	return list
}

// Happens reports whether the timeline shows records of the stream. A conversation appears through
// its messages.
func (s *Stream) Happens() bool {
	return s.Kind() != "" && s.Kind() != manifest.KindConversation && s.Role("time") != "" && s.Records > 0
}

// Held counts the things that a home holds.
func (all *Streams) Held() (n int64) {
	for i := range all.All {
		n += all.All[i].Records
	}
	return n
}

// PartStreams returns the streams with records that are parts of the stream's records.
func (all *Streams) PartStreams(of *Stream) (out []*Stream) {
	for i := range all.All {
		s := &all.All[i]
		if s.ConnectionID == of.ConnectionID && s.Display.Related["part_of"] == of.Name && s.Records > 0 {
			out = append(out, s)
		}
	}
	return out
}

// MonthCounts counts the things of streams by month, such as 2026-07, as counted by days of UTC. First and last are at
// most 1100 days apart.
func MonthCounts(ctx context.Context, owner api.Keeping, of []*Stream, first, last time.Time) (map[string]int64,
	error) {
	counts := map[string]int64{}
	for _, s := range of {
		days, err := owner.Days(ctx, api.DayQuery{ConnectionID: s.ConnectionID, Stream: s.Name,
			From: first.Format(time.DateOnly), To: last.Format(time.DateOnly)})
		if err != nil {
			return nil, err
		}
		for _, d := range days {
			counts[d.Day[:len("2026-07")]] += d.Records
		}
	}
	return counts, nil
}
