package records

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// recordKey names one record.
type recordKey struct{ connection, stream, key string }

// Opened is one record next to its list.
type Opened struct {
	api.Record
	Title   string
	Values  []value
	JSON    string
	History []step
	On      time.Time // the record is shown as it was then; zero means as it is now
	Before  bool      // nothing was here then
}

// besideKey returns the record that the address names, if any. If the address is invalid, it writes an error page and
// ok is false.
func (p *pages) besideKey(w http.ResponseWriter, r *http.Request) (k recordKey, named, ok bool) {
	if r.PathValue("key") == "" {
		return k, false, true
	}
	if k.connection, ok = p.PathSegment(w, r, "connection", ui.Section(r)); !ok {
		return k, false, false
	}
	if k.stream, ok = p.PathSegment(w, r, "stream", ui.Section(r)); !ok {
		return k, false, false
	}
	k.key, ok = p.PathSegment(w, r, "key", ui.Section(r))
	return k, ok, ok
}

// Open reads a record to show next to a list.
func Open(ctx context.Context, owner api.Records, connection, stream, key string) (*Opened, error) {
	return OpenOn(ctx, owner, connection, stream, key, time.Time{})
}

// OpenOn reads a record as it was known at a time; zero means now. Of a record with very many versions it shows the
// oldest that is read.
func OpenOn(ctx context.Context, owner api.Records, connection, stream, key string, on time.Time) (*Opened, error) {
	record, earlier, err := owner.Record(ctx, connection, stream, key)
	if err != nil {
		return nil, err
	}
	o := &Opened{Record: record, History: history(record, earlier), On: on}
	shown := record
	if record.Deleted {
		for _, e := range earlier {
			if !e.Deleted {
				shown = e // the last copy
				break
			}
		}
	}
	if !on.IsZero() {
		o.Files = nil
		versions := append([]api.Record{record}, earlier...)
		at := slices.IndexFunc(versions, func(v api.Record) bool { return !v.ChangedAt.After(on) })
		if at < 0 && len(earlier) >= versionsKept {
			at = len(versions) - 1
			o.On = versions[at].ChangedAt
		}
		if o.Before = at < 0; o.Before {
			shown.Data = nil
		} else {
			shown = versions[at]
		}
		o.Deleted = shown.Deleted && !o.Before
	}
	o.Values, o.JSON = members(shown.Data), indented(shown.Data)
	if len(shown.Data) == 0 || shown.Deleted {
		shown = record // its name
	}
	o.Title, _ = Summarize(shown, nil, nil)
	return o, nil
}

// readOn reads the time that an address asks for: a moment, or a day as its end.
func readOn(value string, zone *time.Location) time.Time {
	if day, err := time.ParseInLocation(time.DateOnly, value, zone); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Microsecond)
	}
	at, _ := api.ParseMoment(value) // nonsense means now
	return at
}

// kept reports whether there is content to show. A record that the owner deleted has none.
func (o *Opened) kept() bool { return o.JSON != "" }

// fileAddress returns the address of a file of a record.
func fileAddress(r api.Record, f api.File) string {
	return "/thing/" + ui.StreamSegments(r.ConnectionID, r.Stream) + "/" + ui.Segment(r.Key) + "/files/" +
		ui.Segment(f.SHA256)
}

// fileTitle returns the name of a file, or a placeholder.
func fileTitle(f api.File) string {
	if f.Name == "" {
		return "File without a name"
	}
	return text.Cut(text.Line(f.Name), ui.LongestTitle)
}

// mostColumns is how many fields a list shows beside the title.
const mostColumns = 2

// titleFields are tried in this order if no searchable field has a value.
var titleFields = []string{"title", "name", "subject", "full_name", "display_name", "summary", "label", "description",
	"text", "body", "content", "login", "email"}

// columns returns the fields that a list shows: those that can be filtered.
func columns(s *api.Stream) []string {
	return s.Filter[:min(len(s.Filter), mostColumns)]
}

// Summarize returns the title of a record and the values of the columns. The stream may be nil.
func Summarize(r api.Record, s *api.Stream, columns []string) (title string, cells []string) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(r.Data, &fields) // other values have no fields
	line := func(name string, most int) string { return text.Cut(text.Line(readable("", fields[name]).Text), most) }
	names := titleFields
	if s != nil {
		names = append(append([]string{}, s.Search...), titleFields...)
	}
	for _, name := range names {
		if title = line(name, ui.LongestTitle); title != "" {
			break
		}
	}
	if title == "" {
		title = text.Cut(text.Line(r.Key), ui.LongestTitle)
	}
	if title == "" {
		title = "(a record without a name)"
	}
	for _, name := range columns {
		cells = append(cells, line(name, ui.LongestCell))
	}
	return title, cells
}
