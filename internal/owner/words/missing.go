package words

import (
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// incompleteNamed is how many sources a sentence names.
const incompleteNamed = 3

// noMatchBegin begins the sentence about sources that are behind.
const noMatchBegin = "A match may exist that is not here yet: "

// NoMatchCaveat states which sources are behind where a search found nothing; empty if none is.
func NoMatchCaveat(incomplete []api.KeptSource) string {
	if len(incomplete) == 0 {
		return ""
	}
	var named []string
	for _, s := range incomplete[:min(len(incomplete), incompleteNamed)] {
		named = append(named, text.Cut(text.Line(s.Name), 40)+" ("+s.Say+")")
	}
	if more := len(incomplete) - len(named); more > 0 {
		named = append(named, text.Count(int64(more), "other source", "other sources"))
	}
	return noMatchBegin + strings.Join(named, "; ") + "."
}

// SearchHonesty states what a search cannot show: which sources may hold more, and where nothing was found, which
// are complete, so that there is nothing. A connection narrows it to one source.
func SearchHonesty(found bool, all []api.KeptSource, connectionID string) string {
	var whole, behind []api.KeptSource
	for _, s := range all {
		switch {
		case connectionID != "" && s.ConnectionID != connectionID:
		case !s.Complete:
			behind = append(behind, s)
		case s.Records > 0:
			whole = append(whole, s)
		}
	}
	if found {
		if len(behind) == 0 {
			return ""
		}
		return "Some results may be missing: " + strings.TrimPrefix(NoMatchCaveat(behind), noMatchBegin)
	}
	var out []string
	if len(whole) > 0 {
		var named []string
		for _, s := range whole[:min(len(whole), incompleteNamed)] {
			since := ""
			if at, err := time.Parse(time.DateOnly, s.FirstDay); err == nil {
				since = " since " + at.Format("January 2006")
			}
			named = append(named, text.Cut(text.Line(s.Name), 40)+since)
		}
		if more := len(whole) - len(named); more > 0 {
			named = append(named, text.Count(int64(more), "other source", "other sources"))
		}
		out = append(out, "Complete, so there is none: "+text.List(named)+".")
	}
	if caveat := NoMatchCaveat(behind); caveat != "" {
		out = append(out, caveat)
	}
	return strings.Join(out, " ")
}

// mostLeftOut is how many kinds one sentence names.
const mostLeftOut = 30

// LeftOutWords returns up to two sentences without their end: the known kinds that are left out, and
// the files that are not recognized.
func LeftOutWords(all []api.LeftOut) []string {
	var out []string
	for _, known := range []bool{true, false} {
		var names []string
		rest := int64(0)
		for _, k := range all {
			switch {
			case k.Known != known:
			case len(names) < mostLeftOut:
				names = append(names, k.Kind+" ("+text.Number(k.Count)+")")
			default:
				rest++
			}
		}
		if rest > 0 {
			names = append(names, text.Count(rest, "other kind", "other kinds"))
		}
		head := "Left out: "
		if !known {
			head = "Not recognized: "
		}
		if len(names) > 0 {
			out = append(out, head+strings.Join(names, ", "))
		}
	}
	return out
}
