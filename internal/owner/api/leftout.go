package api

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// LeftOut counts content of files that a source does not collect, of one kind.
type LeftOut struct {
	Kind  string `json:"kind"`
	Count int64  `json:"count"`
	// Known means that Kind is the name of a kind that the source knows. Otherwise Kind is a pattern
	// of file names that this version does not recognize.
	Known bool `json:"known"`
}

// mostLeftOut is how many kinds one sentence names.
const mostLeftOut = 30

// LeftOutWords returns up to two sentences without their end: the known kinds that are left out, and
// the files that are not recognized.
func LeftOutWords(all []LeftOut) []string {
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
