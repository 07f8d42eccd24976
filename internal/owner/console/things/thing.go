package things

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// Thing is a record with the fields of its stream's roles.
type Thing struct {
	api.Record
	In     *Stream
	values map[string]json.RawMessage
}

// Thing returns a record of the stream as a thing.
func (s *Stream) Thing(r api.Record) Thing {
	t := Thing{Record: r, In: s}
	_ = json.Unmarshal(r.Data, &t.values) // what is no object has no fields
	return t
}

// Text returns the value of a role's field as text. It returns "" for missing values and for
// values that are not text.
func (t *Thing) Text(role string) string {
	raw := t.values[t.In.Role(role)]
	switch {
	case len(raw) == 0 || string(raw) == "null" || raw[0] == '{':
		return ""
	case raw[0] == '"':
		var s string
		_ = json.Unmarshal(raw, &s)
		return s
	case raw[0] == '[':
		var list []string
		_ = json.Unmarshal(raw, &list)
		return strings.Join(list, ", ")
	}
	return string(raw)
}

// Line is the same in one line that is not longer than most.
func (t *Thing) Line(role string, most int) string { return text.Cut(text.Line(t.Text(role)), most) }

// Number returns the value of a role's field, divided by the scale of the stream.
func (t *Thing) Number(role string) (float64, bool) {
	n, err := strconv.ParseFloat(t.Text(role), 64)
	return n / float64(max(1, t.In.Display.Scale)), err == nil
}

// The Longest title and the Longest note that pages show of a thing.
const (
	LongestTitle = 140
	LongestNote  = 160
)

// Title is what a record is called, or how its text begins.
func (t *Thing) Title() string {
	for _, role := range []string{"title", "text", "link"} {
		if line := strings.TrimSpace(t.Line(role, LongestTitle)); line != "" {
			return line
		}
	}
	return ""
}

// Address is that of the record beside the list of its stream.
func (t *Thing) Address() string {
	return "/thing/" + ui.Segment(t.ConnectionID) + "/" + ui.Segment(t.Stream) + "/" + ui.Segment(t.Key)
}

// Path is a record as an address names it that opens it beside a list.
func (t *Thing) Path() string { return t.ID().Path() }

// When is the time of a record in the zone of a page; days stay the days that they are.
func (t *Thing) When(now time.Time) time.Time {
	if t.At == nil {
		return time.Time{}
	}
	if t.In.Display.Days {
		return time.Date(t.At.Year(), t.At.Month(), t.At.Day(), 0, 0, 0, 0, now.Location())
	}
	return t.At.In(now.Location())
}

func (t *Thing) ID() ID { return ID{t.ConnectionID, t.Stream, t.Key} }

// ID names a record.
type ID struct{ Connection, Stream, Key string }

// Path is the record as addresses name it.
func (id ID) Path() string {
	return strings.Join([]string{ui.Segment(id.Connection), ui.Segment(id.Stream), ui.Segment(id.Key)}, "/")
}

// Coordinates are those of a record, where they are on the earth.
func (t *Thing) Coordinates() (lat, long float64, ok bool) {
	lat, err1 := strconv.ParseFloat(t.Text("latitude"), 64)
	long, err2 := strconv.ParseFloat(t.Text("longitude"), 64)
	return lat, long, err1 == nil && err2 == nil && math.Abs(lat) <= 90 && math.Abs(long) <= 180
}

// ReadingAddress is where a record is read.
func (t *Thing) ReadingAddress() string {
	return "/reading/" + t.Path()
}
