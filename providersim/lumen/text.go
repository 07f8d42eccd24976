package lumen

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Salts keep the random streams of unrelated things apart.
const (
	saltToken = iota + 1
	saltChoice
	saltSeed
	saltEvent
	saltNote
	saltThread
	saltMessage
)

var (
	words = strings.Fields(`lamp ledger orchard kettle harbour moss signal window copper almanac
		fern tide button marble thread cellar lantern gravel pocket willow ink compass barley stair
		Überfahrt señal naïve crème łódka žluťoučký ὕδωρ весна きつね 雨の日 봄바람 שלום مرحبا नदी`)
	oddments = []string{
		"🪴", "👩🏽‍🔬", "🇳🇴", "e\u0301tude", "line\u2028separator", "para\u2029graph", `"quoted"`, "it's", `back\slash`,
		"<b>not bold</b> & more", "tab\there", "zero\u200bwidth", "…", "½ cup", "€12,50",
	}
	tags    = []string{"garden", "reise", "maison", "recipes", "仕事", "ideas & drafts", "to-read", "🧵"}
	people  = []string{"Ottilie Brandvold", "Tomasz Wrzos", "Ingunn Føyn", "Anaïs Delcourt", "Kenji Arimoto", "Noor el-Ashri"}
	kinds   = []string{"note_created", "note_edited", "note_viewed", "note_shared", "search"}
	devices = []string{"kitchen-tablet", "pocket-phone", "study-laptop", "web"}
)

// mix folds numbers into one well-spread number (splitmix64 steps).
func mix(parts ...uint64) uint64 {
	var h uint64
	for _, p := range parts {
		h += p + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

func random(parts ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mix(parts...), parts[0]))
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func sentence(r *rand.Rand, n int) string {
	out := make([]string, 0, n)
	for range n {
		if r.IntN(12) == 0 {
			out = append(out, pick(r, oddments))
		} else {
			out = append(out, pick(r, words))
		}
	}
	return strings.Join(out, " ")
}

// paragraphs returns a body of a few lines, and one time in rarity a long one.
func paragraphs(r *rand.Rand, rarity int) string {
	lines := 1 + r.IntN(4)
	if r.IntN(rarity) == 0 {
		lines = 200 + r.IntN(400)
	}
	out := make([]string, 0, lines)
	for range lines {
		out = append(out, sentence(r, 4+r.IntN(10)))
	}
	return strings.Join(out, "\n")
}

// text is a JSON string that leaves every character outside of the mandatory
// escapes as it is. encoding/json alone would escape U+2028, and readers that
// split lines at it would go untested.
type text string

func (t text) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, len(t)+2)
	out = append(out, '"')
	for _, c := range string(t) {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', byte(c))
		case c < 0x20:
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = append(out, string(c)...)
		}
	}
	return append(out, '"'), nil
}

func numbered(prefix string, i int) string { return fmt.Sprintf("%s_%08d", prefix, i+1) }

// indexOf reverses numbered.
func indexOf(prefix, id string, length int) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(id, prefix+"_"))
	if err != nil || n < 1 || n > length || numbered(prefix, n-1) != id {
		return 0, false
	}
	return n - 1, true
}
