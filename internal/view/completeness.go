package view

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// Completeness is how much of what exists is kept of a connection.
type Completeness struct {
	// Found is what exists and Missing what of it is not kept; nil where that is not known.
	// GoesOn says that both may be more.
	Found, Missing *int64
	GoesOn         bool
	// Fetched says that later runs fetch what is missing by themselves.
	Fetched bool
	// Whole says that all that exists is here, and Say what is not, in words; empty where
	// what is missing is counted.
	Whole bool
	Say   string
}

// Whole reports whether all that exists of a stream is kept.
func Whole(row *verdict.StreamRow) bool { return row.Coverage == health.Complete }

// Completeness sums up what the streams of a connection are judged to lack, of which so many
// records are kept.
func (c *Connection) Completeness(kept int64) Completeness {
	var out Completeness
	var open *verdict.StreamRow
	var missing int64
	known, refreshDue, asTold := len(c.Verdict.Streams) > 0, false, false
	for i := range c.Verdict.Streams {
		row := &c.Verdict.Streams[i]
		if row.Missing != nil {
			missing += *row.Missing
		}
		out.GoesOn = out.GoesOn || row.Floor
		refreshDue = refreshDue || row.Disposition == health.DispositionOwnerRefreshDue
		asTold = asTold || strings.Contains(row.Statement, evidence.ReportedByConnector)
		settled := row.Disposition == health.DispositionComplete || row.Disposition == health.DispositionOwnerRefreshDue
		known = known && (row.Missing != nil || settled)
		if !settled && open == nil {
			open = row
		}
	}
	if known || missing > 0 {
		found := kept + missing
		out.Missing, out.Found = &missing, &found
	}
	const day = "2 January 2006"
	switch {
	case missing > 0:
		out.Fetched = open != nil && open.Disposition == health.DispositionResumable && open.Total == nil
	case len(c.Verdict.Streams) == 0:
		out.Say = "Not looked yet"
	case open != nil:
		out.Say = strings.TrimSuffix(open.Statement, ".")
	case refreshDue || c.SourceKind == "manual":
		out.Say = "As of the last time that you brought something"
		if c.LastSuccessAt != nil {
			out.Say = "As of " + c.LastSuccessAt.UTC().Format(day)
		}
	case c.Health.Axes.Freshness == health.Stale && c.LastSuccessAt != nil:
		out.Say = "Nothing since " + c.LastSuccessAt.UTC().Format(day)
	default:
		out.Whole, out.Say = true, "Complete"
		if asTold {
			out.Say += ", " + evidence.ReportedByConnector
		}
	}
	return out
}
