package status

import (
	"math"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// mostBeats is how many runs the strip shows.
const mostBeats = 48

// beat is one run in the strip, the oldest on the left.
type beat struct {
	Kind          string // the class of its bar
	X, Y, H, Wide string
}

// The kinds of beats, in the order of the key.
var beatKinds = []struct{ Class, Words, Many string }{
	{"done", "Finished", "finished"},
	{"early", "Stopped early, progress saved", "stopped early"},
	{"fail", "Failed", "failed"},
	{"off", "Cancelled or not started", "cancelled or not started"},
	{"now", "Under way", "under way"},
}

func beatKind(r *api.Run) string {
	switch r.Status {
	case succeeded:
		return "done"
	case "failed", "abandoned":
		if r.RecordsEmitted > 0 {
			return "early"
		}
		return "fail"
	case running:
		return "now"
	default:
		return "off"
	}
}

// The strip in pixels; its width is in percent.
const (
	beatHeight = 26.0
	leastBeat  = 6.0
)

// beats draws runs. A bar is as high as the run brought records, on a scale on which a big
// run does not hide a small one; one that failed with nothing is drawn whole.
func beats(runs []api.Run) []beat {
	var most int64
	for i := range runs {
		most = max(most, runs[i].RecordsEmitted)
	}
	out := make([]beat, len(runs))
	step := 1.0 / mostBeats
	for i := range runs {
		r := &runs[len(runs)-1-i]
		h := leastBeat
		if most > 0 {
			h += (beatHeight - leastBeat) * math.Log1p(float64(max(0, r.RecordsEmitted))) / math.Log1p(float64(most))
		}
		if beatKind(r) == "fail" {
			h = beatHeight
		}
		out[i] = beat{Kind: beatKind(r), X: percent(0.0025 + step*float64(i+mostBeats-len(runs))),
			Wide: percent(step - 0.0058), Y: pixels(1 + beatHeight - h), H: pixels(h)}
	}
	return out
}

func pixels(n float64) string { return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64) }

// beatWords returns a text alternative for the strip, for screen readers.
func beatWords(runs []api.Run) string {
	count := map[string]int{}
	for i := range runs {
		count[beatKind(&runs[i])]++
	}
	var parts []string
	for _, k := range beatKinds {
		if n := count[k.Class]; n > 0 {
			parts = append(parts, text.Number(int64(n))+" "+k.Many)
		}
	}
	return "The last " + text.Count(int64(len(runs)), "run", "runs") + ": " + strings.Join(parts, ", ")
}

// beatKey is the kinds that the strip has.
func beatKey(runs []api.Run) (out []int) {
	for i, k := range beatKinds {
		for j := range runs {
			if beatKind(&runs[j]) == k.Class {
				out = append(out, i)
				break
			}
		}
	}
	return out
}
