package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// printf writes to a stream of the program. Standard output that has gone away
// ends the program by itself; there is nobody left to tell.
func printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

// utcTimes writes every time as RFC 3339 in UTC, whatever zone a store gave it.
var utcTimes = json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, t time.Time) error {
	return enc.WriteToken(jsontext.String(t.UTC().Format(time.RFC3339Nano)))
}))

// writeJSON writes one value on one line. Values are this program's own, so
// that a failure is a defect, which the caller's reader notices.
func writeJSON(w io.Writer, v any) {
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), utcTimes)
	if err != nil {
		b, _ = json.Marshal(map[string]any{"error": &Error{Code: "failed", Message: safe(err.Error())}})
	}
	_, _ = w.Write(append(escaped(b), '\n'))
}

// table writes aligned columns; the first row is the heading.
type table struct{ w *tabwriter.Writer }

func (a *app) table(heading ...string) *table {
	t := &table{tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)}
	t.row(heading...)
	return t
}

func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = oneLine(c)
	}
	_, _ = io.WriteString(t.w, strings.Join(cells, "\t")+"\n")
}

func (t *table) flush() { _ = t.w.Flush() }

// oneLine keeps a cell from breaking the table, and a terminal from obeying it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if text.Obeyed(r) {
			return ' '
		}
		return r
	}, s)
}

// wrapped breaks text between words; later lines begin with the indent.
func wrapped(s string, width int, indent string) string {
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

// when is a moment for people, in local time.
func when(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func whenever(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return when(*t)
}

// duration is a span for people.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// indented is JSON for people; the order of members stays.
func indented(v jsontext.Value) string {
	pretty := v.Clone()
	if err := pretty.Indent(jsontext.WithIndent("  ")); err != nil {
		return oneLine(string(v))
	}
	return string(escaped(pretty))
}
