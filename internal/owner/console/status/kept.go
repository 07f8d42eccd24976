package status

import (
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// notKnown is the text for a value that was not counted.
const notKnown = "not known"

// keptOf is how much of a stream is kept.
func keptOf(r *verdict.StreamRow) string {
	if r.Kept == nil {
		return notKnown
	}
	return text.Number(*r.Kept)
}

func foundOf(r *verdict.StreamRow) string {
	if r.Found == nil {
		return notKnown
	}
	return words.CountAtLeast(*r.Found, r.Floor)
}

func missingOf(r *verdict.StreamRow) string {
	if r.Missing == nil {
		return notKnown
	}
	return words.CountAtLeast(*r.Missing, r.Floor && *r.Missing > 0)
}

func lacks(r *verdict.StreamRow) bool { return r.Missing != nil && *r.Missing > 0 }

// heldWords sum up the streams; empty where not all of them are counted.
func heldWords(rows []verdict.StreamRow) string {
	var kept, found int64
	floor := false
	for i := range rows {
		r := &rows[i]
		if r.Kept == nil || r.Found == nil {
			return ""
		}
		kept, found, floor = kept+*r.Kept, found+*r.Found, floor || r.Floor
	}
	if len(rows) == 0 {
		return ""
	}
	return text.Number(kept) + " of " + words.CountAtLeast(found, floor) + " found"
}
