package manage

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// recordKey names one record.
type recordKey struct{ connection, stream, key string }

// Opened is one record beside its list.
type Opened struct {
	api.Record
	Title   string
	Values  []value
	JSON    string
	History []step
}

// besideKey reads which record the address names, if it names one. When the address
// was not made here it answers, and ok is false.
func (p *pages) besideKey(w http.ResponseWriter, r *http.Request) (k recordKey, named, ok bool) {
	if r.PathValue("key") == "" {
		return k, false, true
	}
	if k.connection, ok = p.segmentOf(w, r, "connection", "records"); !ok {
		return k, false, false
	}
	if k.stream, ok = p.segmentOf(w, r, "stream", "records"); !ok {
		return k, false, false
	}
	k.key, ok = p.segmentOf(w, r, "key", "records")
	return k, ok, ok
}

// Open reads a record to be shown beside a list.
func Open(ctx context.Context, owner api.Records, connection, stream, key string) (*Opened, error) {
	record, earlier, err := owner.Record(ctx, connection, stream, key)
	if err != nil {
		return nil, err
	}
	o := &Opened{Record: record, History: history(record, earlier)}
	shown := record
	if record.Deleted {
		for _, e := range earlier {
			if !e.Deleted {
				shown = e // the last copy
				break
			}
		}
	}
	o.Title, _ = summarize(shown, nil, nil)
	o.Values, o.JSON = members(shown.Data), indented(shown.Data)
	return o, nil
}

// kept reports whether there is content to show: of a record that the owner deleted there is none.
func (o *Opened) kept() bool { return o.JSON != "" }

// fileAddress is where a file of a record is.
func fileAddress(r api.Record, f api.File) string {
	return "/records/" + pair(r.ConnectionID, r.Stream) + "/" + segment(r.Key) + "/files/" + segment(f.SHA256)
}

// fileTitle is what a file is called, or that it has no name.
func fileTitle(f api.File) string {
	if f.Name == "" {
		return "File without a name"
	}
	return text.Cut(text.Line(f.Name), longestTitle)
}

const (
	longestTitle = 140
	longestCell  = 40
	mostColumns  = 2
)

// titleFields are looked for, in this order, where a manifest names no searched field
// that holds something.
var titleFields = []string{"title", "name", "subject", "full_name", "display_name", "summary", "label", "description", "text", "body", "content", "login", "email"}

// columns are the fields that stand beside a title: those that one can filter by.
func columns(s *api.Stream) []string {
	return s.Filter[:min(len(s.Filter), mostColumns)]
}

// summarize gives a record one line: what it is called, and the columns' values. The
// stream is nil when nothing is known of it.
func summarize(r api.Record, s *api.Stream, columns []string) (title string, cells []string) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(r.Data, &fields) // what is no object has no fields
	line := func(name string, most int) string { return text.Cut(text.Line(readable("", fields[name]).Text), most) }
	names := titleFields
	if s != nil {
		names = append(append([]string{}, s.Search...), titleFields...)
	}
	for _, name := range names {
		if title = line(name, longestTitle); title != "" {
			break
		}
	}
	if title == "" {
		title = text.Cut(text.Line(r.Key), longestTitle)
	}
	if title == "" {
		title = "(a record without a name)"
	}
	for _, name := range columns {
		cells = append(cells, line(name, longestCell))
	}
	return title, cells
}
