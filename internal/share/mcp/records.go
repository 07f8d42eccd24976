package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
)

// maxRecords is how many records one answer has at most.
const maxRecords = 25

// cutLengths are the lengths to which fields are cut, in characters, until an answer is small enough. Zero leaves out
// every field.
var cutLengths = []int{4000, 1500, 500, 150, 40, 0}

// record is one record as a tool returns it.
type record struct {
	Connection string                     `json:"connection_id"`
	Stream     string                     `json:"stream"`
	ID         string                     `json:"id"`
	Data       map[string]json.RawMessage `json:"data"`
	EmittedAt  string                     `json:"emitted_at"`
	Cut        []cutField                 `json:"cut,omitempty" jsonschema:"longer than shown; read on with get_record"`
	Files      []file                     `json:"files,omitempty"`
}

// cutField is a field that an answer shows only the beginning of, or leaves out.
type cutField struct {
	Field  string `json:"field"`
	Length int    `json:"length" jsonschema:"length of the whole field in characters"`
	Shown  int    `json:"shown"`
}

// file is a file that belongs to a record.
type file struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Field  string `json:"field"`
	MIME   string `json:"mime"`
	Name   string `json:"name,omitempty"`
}

// recordOf returns a record with its fields cut to a length.
func recordOf(r grantview.Record, length int) record {
	out := record{Connection: r.ConnectionID, Stream: r.Stream, ID: r.ID, EmittedAt: r.EmittedAt.Format(time.RFC3339)}
	out.Data, out.Cut = cutData(r.Data, length)
	for _, b := range r.Blobs {
		out.Files = append(out.Files, file(b))
	}
	return out
}

// cutData cuts long texts and leaves out other long values, with their length.
func cutData(data json.RawMessage, length int) (map[string]json.RawMessage, []cutField) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields == nil {
		return map[string]json.RawMessage{}, nil
	}
	var cut []cutField
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		if length > 0 && len(value) <= length {
			continue
		}
		whole, isText := fieldText(value)
		n := utf8.RuneCountInString(whole)
		switch {
		case length > 0 && isText && n <= length:
		case length > 0 && isText:
			begin := string([]rune(whole)[:length])
			fields[name], _ = json.Marshal(begin)
			cut = append(cut, cutField{name, n, length})
		default:
			delete(fields, name)
			cut = append(cut, cutField{name, n, 0})
		}
	}
	return fields, cut
}

// fieldText returns a value as text: a string without its quotes, any other as JSON.
func fieldText(value json.RawMessage) (whole string, isText bool) {
	if bytes.HasPrefix(value, []byte(`"`)) && json.Unmarshal(value, &whole) == nil {
		return whole, true
	}
	return string(value), false
}

// fitted builds an answer with fields that are cut as far as needed for it to be small enough.
func fitted[Out any](build func(length int) Out) Out {
	var out Out
	for _, length := range cutLengths {
		out = build(length)
		if contentSize(out) <= maxContent {
			break
		}
	}
	return out
}

// plural returns a number with its noun.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// shortText cuts a text that is not part of a record.
func shortText(s string, length int) string { return text.Cut(s, length) }
