package export

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// RecordSummary is what a list shows of a record.
type RecordSummary struct {
	Title, Author, Text string
	At                  time.Time // zero when the record has no time
}

// Summary returns what a list shows of the record of a stream.
func (r *Record) Summary(s *api.Stream) RecordSummary {
	out := RecordSummary{Title: singleLine(r.role(s, "title")), Author: singleLine(r.role(s, "author")), Text: r.body(s)}
	out.At, _ = r.at(s)
	if out.Title == "" && out.Text == "" {
		out.Text = string(r.Data)
	}
	return out
}
