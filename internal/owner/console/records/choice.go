package records

import (
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// choice is the selection of a list of records, as the address encodes it.
type choice struct {
	Connection, Stream string
	Text               string // searched for; filters do not apply then
	Kind               string // that a search of all streams is narrowed to, as the name of a ThingKind
	By                 string // how all streams are searched: words if empty, or both
	Oldest             bool
	Where              map[string]string
	Compare            api.Comparisons
	CountBy            string // what the records are counted by, as a countChoice
	Cursor             string
}

// filtered reports whether the list leaves out records.
func (c choice) filtered() bool { return len(c.Where)+len(c.Compare) > 0 }

// filterMark precedes the name of a field in the address, so that a field is never read as another parameter.
const filterMark = "f."

// compareMarks precede the name of a compared field, by operator.
var compareMarks = map[string]string{"gt": "gt.", "gte": "gte.", "lt": "lt.", "lte": "lte."}

func readChoice(q url.Values) choice {
	c := choice{
		Connection: q.Get("connection"), Stream: q.Get("stream"), Text: strings.TrimSpace(q.Get("q")),
		Oldest: q.Get("order") == "oldest", Cursor: q.Get("cursor"), Where: map[string]string{},
		Compare: api.Comparisons{}, CountBy: q.Get("count"), Kind: q.Get("kind"),
	}
	if q.Get("by") == byBoth {
		c.By = byBoth
	}
	for name, values := range q {
		if field, is := strings.CutPrefix(name, filterMark); is && values[0] != "" {
			c.Where[field] = values[0]
		}
		for operator, mark := range compareMarks {
			if field, is := strings.CutPrefix(name, mark); is && values[0] != "" {
				c.Compare[api.Comparison{Field: field, Operator: operator}] = values[0]
			}
		}
	}
	return c
}

// values returns the query of an address.
func (c choice) values() url.Values {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("connection", c.Connection)
	set("stream", c.Stream)
	set("q", c.Text)
	set("kind", c.Kind)
	set("by", c.By)
	if c.Oldest {
		q.Set("order", "oldest")
	}
	for field, value := range c.Where {
		set(filterMark+field, value)
	}
	for by, value := range c.Compare {
		set(compareMarks[by.Operator]+by.Field, value)
	}
	set("count", c.CountBy)
	set("cursor", c.Cursor)
	return q
}

// list returns the address of the list, or of the list of streams if nothing is chosen.
func (c choice) list() string {
	q := c.values()
	if len(q) == 0 {
		return streamsAddress
	}
	return ui.QueryAddress(api.SearchPage, q)
}

// after returns the address of the page that begins at a cursor.
func (c choice) after(cursor string) string {
	c.Cursor = cursor
	return c.list()
}

// plain returns the choice without search, filters and page.
func (c choice) plain() choice {
	return choice{Connection: c.Connection, Stream: c.Stream, Oldest: c.Oldest}
}

// open returns the address of one record next to the list.
func (c choice) open(r api.Record) string {
	return ui.QueryAddress("/thing/"+ui.Segment(r.ConnectionID)+"/"+ui.Segment(r.Stream)+"/"+ui.Segment(r.Key),
		c.values())
}

// RecordAddress returns the address of one record beside the list of its stream.
func RecordAddress(r api.Record) string {
	return choice{Connection: r.ConnectionID, Stream: r.Stream}.open(r)
}
