// Package output formats what commands print: tables, JSON, times, durations and text that is safe for a terminal.
// It reads nothing and knows no command.
package output

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Printf writes to a stream of the program. It ignores errors: a closed standard output ends the program.
func Printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// utcTimeMarshaler writes every time as RFC 3339 in UTC.
var utcTimeMarshaler = json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error {
	return enc.WriteToken(jsontext.String(t.UTC().Format(time.RFC3339Nano)))
}))

// WriteJSON writes one value on one line. A value that cannot be encoded is a defect, and is written as an error.
func WriteJSON(w io.Writer, v any) {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), utcTimeMarshaler)
	if err != nil {
		b, _ = json.Marshal(map[string]any{"error": &usererr.Error{Code: "failed",
			Message: redact.New().Line(err.Error(), 500)}})
	}
	_, _ = w.Write(append(escapeControlCharacters(b), '\n'))
}

// Table writes aligned columns. The first row is the heading.
type Table struct{ w *tabwriter.Writer }

// NewTable starts a table with its heading.
func NewTable(w io.Writer, heading ...string) *Table {
	t := &Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.Row(heading...)
	return t
}

func (t *Table) Row(cells ...string) {
	for i, c := range cells {
		cells[i] = SingleLine(c)
	}
	_, _ = io.WriteString(t.w, strings.Join(cells, "\t")+"\n")
}

func (t *Table) Flush() { _ = t.w.Flush() }

// SingleLine replaces line breaks and control characters with spaces.
func SingleLine(s string) string {
	return strings.Map(func(r rune) rune {
		if text.Obeyed(r) {
			return ' '
		}
		return r
	}, s)
}

// WrapText breaks text between words. Later lines start with the indent.
func WrapText(s string, width int, indent string) string {
	var out strings.Builder
	used := 0
	for _, word := range strings.Fields(s) {
		length := utf8.RuneCountInString(word)
		switch {
		case used == 0:
		case used+1+length > width:
			out.WriteString("\n" + indent)
			used = 0
		default:
			out.WriteByte(' ')
			used++
		}
		out.WriteString(word)
		used += length
	}
	return out.String()
}

// FormatTime returns a time for people, in local time.
func FormatTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// FormatOptionalTime is FormatTime with "-" for nil.
func FormatOptionalTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return FormatTime(*t)
}

// FormatDuration returns a rounded duration.
func FormatDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// DashIfEmpty returns "-" for an empty text.
func DashIfEmpty(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// IndentJSON returns indented JSON. The order of members is kept.
func IndentJSON(v jsontext.Value) string {
	pretty := v.Clone()
	if err := pretty.Indent(jsontext.WithIndent("  ")); err != nil {
		return SingleLine(string(v))
	}
	return string(escapeControlCharacters(pretty))
}

// TimeOrNone is FormatTime with "none" for nil.
func TimeOrNone(t *time.Time) string {
	if t == nil {
		return "none"
	}
	return FormatTime(*t)
}

// MeasuredCount returns a count, or NotMeasured for nil.
func MeasuredCount(n *int64) string {
	if n == nil {
		return NotMeasured
	}
	return text.Number(*n)
}

// NotMeasured is printed instead of a number that no run has measured.
const NotMeasured = "not measured"

// FormatAgo returns how long ago a time was.
func FormatAgo(now, then time.Time) string { return FormatDuration(max(0, now.Sub(then))) + " ago" }
