package export

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Record is a record with what a reader needs to understand it.
type Record struct {
	api.Record
	// Text is the record's text from another stream, such as the body of a message.
	Text string
	// Thread is the title of its conversation.
	Thread string

	members map[string]jsontext.Value
	decoded bool // into members
}

// fields returns the members of the record's data.
func (r *Record) fields() map[string]jsontext.Value {
	if !r.decoded {
		r.decoded = true
		// The store holds nothing but valid JSON; a tombstone has no members.
		_ = json.Unmarshal(r.Data, &r.members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	}
	return r.members
}

// text returns a field as text: a text by its content, null as nothing, the rest as JSON.
func (r *Record) text(field string) string {
	if field == "" {
		return ""
	}
	return valueText(r.fields()[field])
}

// role returns the text of the field that has a role in the stream.
func (r *Record) role(s *api.Stream, role string) string { return r.text(s.Display.Roles[role]) }

// list returns the texts of a field that is a list.
func (r *Record) list(field string) (all []string) {
	var items []jsontext.Value
	if json.Unmarshal(r.fields()[field], &items) != nil {
		return nil
	}
	for _, item := range items {
		all = append(all, valueText(item))
	}
	return all
}

// objects decodes a field that is a list of objects.
func objects[T any](r *Record, field string) (all []T) {
	if json.Unmarshal(r.fields()[field], &all, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	return all
}

// body returns the text that a reader wants.
func (r *Record) body(s *api.Stream) string {
	if text := r.role(s, "text"); text != "" {
		return text
	}
	return r.Text
}

// at returns when the record happened.
func (r *Record) at(s *api.Stream) (time.Time, bool) {
	return parseTime(r.fields()[s.Display.Roles["time"]])
}

// valueText returns a value as text.
func valueText(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		text, _ := jsontext.AppendUnquote(nil, v) // what is no UTF-8 is replaced
		return string(text)
	case 'n', 0:
		return ""
	}
	compact := v.Clone()
	_ = compact.Compact()
	return string(compact)
}

// parseTime reads an instant, a date, or a number of seconds.
func parseTime(v jsontext.Value) (time.Time, bool) {
	switch v.Kind() {
	case '"':
		return api.ParseMoment(valueText(v))
	case '0':
		seconds, err := strconv.ParseFloat(string(v), 64)
		return time.UnixMicro(int64(seconds * 1e6)).UTC(), err == nil && seconds > -1e11 && seconds < 1e11
	}
	return time.Time{}, false
}

// rest returns the members that have no column, as JSON; empty when there are none.
func rest(members map[string]jsontext.Value) (string, error) {
	if len(members) == 0 {
		return "", nil
	}
	all, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return "", fmt.Errorf("write the fields without a column: %w", err)
	}
	return string(all), nil
}

// columns returns the fields of the streams, each once.
func columns(streams []api.Stream) (names []string) {
	for i := range streams {
		for _, name := range streams[i].Fields {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
