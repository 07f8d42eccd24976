package sample

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Salts separate the random streams of unrelated objects.
const (
	saltForToken = iota + 1
	saltChoice
	saltForSeed
	saltForEvent
	saltForNote
	saltThread
	saltMessage
)

var (
	sampleWords = strings.Fields(`lamp ledger orchard kettle harbour moss signal window copper almanac
		fern tide button marble thread cellar lantern gravel pocket willow ink compass barley stair
		Überfahrt señal naïve crème łódka žluťoučký ὕδωρ весна きつね 雨の日 봄바람 שלום مرحبا नदी`)
	oddStrings = []string{
		"🪴", "👩🏽‍🔬", "🇳🇴", "e\u0301tude", "line\u2028separator", "para\u2029graph", `"quoted"`, "it's", `back\slash`,
		"<b>not bold</b> & more", "tab\there", "zero\u200bwidth", "…", "½ cup", "€12,50",
	}
	sampleTags   = []string{"garden", "reise", "maison", "recipes", "仕事", "ideas & drafts", "to-read", "🧵"}
	samplePeople = []string{"Ottilie Brandvold", "Tomasz Wrzos", "Ingunn Føyn", "Anaïs Delcourt", "Kenji Arimoto",
		"Noor el-Ashri"}
	eventKinds    = []string{"note_created", "note_edited", "note_viewed", "note_shared", "search"}
	sampleDevices = []string{"kitchen-tablet", "pocket-phone", "study-laptop", "web"}
)

// mixSeeds folds numbers into one well-spread number (splitmix64 steps).
func mixSeeds(parts ...uint64) uint64 {
	var h uint64
	for _, p := range parts {
		h += p + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

func seededRandom(parts ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(mixSeeds(parts...), parts[0]))
}

func pickString(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func randomSentence(r *rand.Rand, n int) string {
	out := make([]string, 0, n)
	for range n {
		if r.IntN(12) == 0 {
			out = append(out, pickString(r, oddStrings))
		} else {
			out = append(out, pickString(r, sampleWords))
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
		out = append(out, randomSentence(r, 4+r.IntN(10)))
	}
	return strings.Join(out, "\n")
}

// unescapedText is a JSON string with only the mandatory escapes. encoding/json would also escape U+2028, and readers
// that split lines at it would not be tested.
type unescapedText string

func (t unescapedText) MarshalJSON() ([]byte, error) {
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

func numberedID(prefix string, i int) string { return fmt.Sprintf("%s_%08d", prefix, i+1) }

// indexOfID reverses numbered.
func indexOfID(prefix, id string, length int) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(id, prefix+"_"))
	if err != nil || n < 1 || n > length || numberedID(prefix, n-1) != id {
		return 0, false
	}
	return n - 1, true
}
