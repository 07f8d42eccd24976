package reading

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// timedCursor is the kind of a cursor through a stream in the order of time.
const timedCursor = "owner_timed"

const (
	// mostTimed is the largest page in the order of time: of a busy day only a few fields are read.
	mostTimed = 1000
	// mostTimedBytes ends a page early.
	mostTimedBytes = 4 << 20
)

// recordsByTime returns a page of one stream, ordered by the stream's declared time.
func (c *Collection) recordsByTime(ctx context.Context, q api.RecordQuery, declared *manifest.Stream) (api.RecordPage,
	error) {
	ask := store.ByTimeQuery{
		AccessFilter: store.AccessFilter{ConnectionID: q.ConnectionID, Stream: q.Stream, Fields: q.Fields}, From: q.Since,
		To: q.Until, NewestFirst: !q.Oldest,
		Limit: usualPage, MaxBytes: mostTimedBytes,
	}
	if q.Limit > 0 {
		ask.Limit = min(q.Limit, mostTimed)
	}
	var roles manifest.DisplayRoles
	if declared != nil {
		roles = declared.Roles()
	}
	if ask.Field = roles.Time; ask.Field == "" {
		return api.RecordPage{}, errNoTime()
	}
	var err error
	if ask.Where, err = streamFilters(declared, q.Where); err != nil {
		return api.RecordPage{}, err
	}
	if len(q.Compare) > 0 || q.Changes || q.Keys != nil {
		return api.RecordPage{}, api.Invalid("by", "A list by time has only the bounds since and until.",
			"Leave out comparisons, keys and changes.")
	}
	within, err := roleFilters(roles, q.Thread, q.Author, q.Address)
	if err != nil {
		return api.RecordPage{}, err
	}
	ask.Where = append(ask.Where, within...)
	box, err := c.pageCursors(ctx)
	if err != nil {
		return api.RecordPage{}, err
	}
	place := []string{q.ConnectionID, q.Stream, ask.Field, strconv.FormatBool(q.Oldest),
		q.Since.UTC().Format(time.RFC3339Nano), q.Until.UTC().Format(time.RFC3339Nano)}
	for _, w := range ask.Where {
		place = append(place, w.Field, w.Value)
	}
	bound := grants.Context(place...)
	if q.Cursor != "" {
		ask.After = new(store.TimePosition)
		if err := box.Open(timedCursor, bound, q.Cursor, ask.After); err != nil {
			return api.RecordPage{}, faults.OwnerError(err, "open the cursor")
		}
	}
	return c.timedPage(ctx, q, ask, func(m store.TimePosition) string { return box.Seal(timedCursor, bound, m) })
}

// errNoTime refuses a list by time of a stream without one.
func errNoTime() error {
	return api.Invalid("by", "The stream does not declare when its records happened.",
		"List it by its changes: leave out by=time.")
}

// roleFilters returns the filters for records of one conversation or by one author.
func roleFilters(roles manifest.DisplayRoles, thread, author, address string) (where []store.FieldValue, err error) {
	for _, by := range []struct{ parameter, value, field, refusal string }{
		{"thread", thread, roles.Thread, "The records of this stream belong to no conversation."},
		{"author", author, roles.Author, "The records of this stream have no author."},
		{"address", address, roles.Address, "The records of this stream have no address of an author."},
	} {
		if by.value == "" {
			continue
		}
		if by.field == "" {
			return nil, api.Invalid(by.parameter, by.refusal, "Leave it out.")
		}
		where = append(where, store.FieldValue{Field: by.field, Value: by.value})
	}
	return where, nil
}

func (c *Collection) timedPage(ctx context.Context, q api.RecordQuery, ask store.ByTimeQuery,
	seal func(store.TimePosition) string) (api.RecordPage, error) {
	ask.Limit++ // one extra record shows that there is a next page
	found, err := c.store.RecordsByTime(ctx, ask)
	if err != nil {
		return api.RecordPage{}, faults.OwnerError(err, "read the records")
	}
	out := api.RecordPage{Records: []api.Record{}}
	bytes := 0
	for i := range found {
		bytes += len(found[i].Data)
		if i == ask.Limit-1 || bytes >= ask.MaxBytes && i > 0 {
			out.Next = seal(found[i-1].TimePosition())
			break
		}
		r := showRecord(&found[i].StoredRecord)
		r.At = &found[i].At
		out.Records = append(out.Records, r)
	}
	if out.Next == "" && bytes >= ask.MaxBytes {
		out.Next = seal(found[len(found)-1].TimePosition())
	}
	if q.Total {
		n, err := c.store.CountByTime(ctx, ask, api.MostCounted)
		if err != nil {
			return api.RecordPage{}, faults.OwnerError(err, "count the records")
		}
		out.Total = &n
	}
	return out, nil
}

// streamDisplay returns how a stream is displayed; m is the manifest of its connector.
func streamDisplay(m *manifest.Manifest, s *manifest.Stream) api.Display {
	out := api.Display{Roles: map[string]string{}, Related: map[string]string{}, Scale: 1}
	if s == nil {
		return out
	}
	out.Kind = string(s.Shown())
	roles := s.Roles()
	roles.Each(func(role, field string) {
		out.Roles[role] = field
		// A stream's own key refers to another record only if its role is part_of.
		if to := m.Related(s, field); to != nil &&
			(role == "part_of" || !slices.Equal([]string(s.PrimaryKey), []string{field})) {
			out.Related[role] = to.Name
		}
	})
	if s.Display != nil {
		out.Unit, out.Scale = s.Display.Unit, max(1, s.Display.Scale)
	}
	out.Days = s.ValueKinds()[roles.Time] == manifest.ValueDate
	return out
}
