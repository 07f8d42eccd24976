package view

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// Completeness is how much of the existing data of a connection is stored.
type Completeness struct {
	// Found counts what exists and Missing what of it is not stored; nil if unknown. GoesOn means that both are lower
	// bounds.
	Found, Missing *int64
	GoesOn         bool
	// Fetched means that later runs fetch what is missing without the owner.
	Fetched bool
	// Whole means that all existing data is stored. Say describes in words what is missing; it is empty if Missing
	// counts it.
	Whole bool
	Say   string
}

// IsWhole reports whether all existing data of a stream is stored.
func IsWhole(row *verdict.StreamRow) bool { return row.Coverage == health.Complete }

// CanBeFetched reports whether something of a stream is missing that a later run can fetch.
func CanBeFetched(row *verdict.StreamRow) bool {
	return row.Disposition == health.DispositionResumable || row.Disposition == health.DispositionAwaitingOwner
}

// IsNotOffered reports whether no run can fetch what is missing of a stream.
func IsNotOffered(row *verdict.StreamRow) bool { return row.Disposition == health.DispositionTerminal }

// Completeness summarizes what the streams of a connection lack. Kept is the number of stored records.
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
		out.Say = "Not checked yet"
	case open != nil:
		out.Say = strings.TrimSuffix(open.Statement, ".")
	case refreshDue || c.SourceKind == "manual":
		out.Say = "As of your last import"
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
