package manage

import (
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// choice is what a list of records is of, as the address says it.
type choice struct {
	Connection, Stream string
	Text               string // searched for; filters do not apply then
	Oldest             bool
	Where              map[string]string
	Compare            api.Comparisons
	CountBy            string // what the records are counted by, as a countChoice
	Cursor             string
}

// filtered reports whether the list leaves out records.
func (c choice) filtered() bool { return len(c.Where)+len(c.Compare) > 0 }

// filterMark stands before the name of a field in the address, so that no field can
// be taken for another parameter.
const filterMark = "f."

// compareMarks are the same before a field that is compared, by operator.
var compareMarks = map[string]string{"gt": "gt.", "gte": "gte.", "lt": "lt.", "lte": "lte."}

func readChoice(q url.Values) choice {
	c := choice{
		Connection: q.Get("connection"), Stream: q.Get("stream"), Text: strings.TrimSpace(q.Get("q")),
		Oldest: q.Get("order") == "oldest", Cursor: q.Get("cursor"), Where: map[string]string{},
		Compare: api.Comparisons{}, CountBy: q.Get("count"),
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

// values is the choice as it stands in an address.
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

func address(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// list is the address of the list itself; of nothing chosen, that of the streams to choose from.
func (c choice) list() string {
	q := c.values()
	if len(q) == 0 {
		return streamsAddress
	}
	return address("/records", q)
}

// after is the address of the page that a cursor begins.
func (c choice) after(cursor string) string {
	c.Cursor = cursor
	return c.list()
}

// plain is the choice without search, filters and page.
func (c choice) plain() choice {
	return choice{Connection: c.Connection, Stream: c.Stream, Oldest: c.Oldest}
}

// open is the address of one record beside the list.
func (c choice) open(r api.Record) string {
	return address("/records/"+segment(r.ConnectionID)+"/"+segment(r.Stream)+"/"+segment(r.Key), c.values())
}
