package github

import (
	"math/rand/v2"
	"strings"
)

// Salts separate the random streams of unrelated objects.
const (
	saltForToken = iota + 1
	saltForText
)

var (
	sampleWords = strings.Fields(`anchor beacon copper drift ember fallow gantry harbour inlet juniper kiln lattice mortar
		nettle orchard pewter quarry ripple sextant timber umber valve willow yarrow zephyr Brücke señal łódka весна 雨`)
	oddStrings      = []string{"🪴", "e\u0301tude", "line\u2028break", `"quoted"`, `back\slash`, "<b>&amp;</b>", "½"}
	sampleLanguages = []string{"Go", "Rust", "Zig", "Python", ""}
	sampleLabels    = []string{"bug", "docs", "good first issue", "perf"}
	samplePeople    = []string{"marit-dalen", "tomasz-wrzos", "noor-ashri", "kenji-arimoto"}
	eventKinds      = []string{"PushEvent", "IssuesEvent", "WatchEvent", "PullRequestEvent", "CreateEvent",
		"IssueCommentEvent", "PullRequestReviewCommentEvent",
		"PullRequestReviewEvent", "ReleaseEvent", "DiscussionEvent", "ForkEvent", "MemberEvent", "GollumEvent"}
)

const (
	ownUserLogin      = "ottilie-b"
	ownUserID         = 5081
	organizationLogin = "northwind-tools"
	organizationID    = 21955855
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

// textRandom returns the random source of one object's text; equal parts have equal text.
func (g *GitHub) textRandom(parts ...int64) *rand.Rand {
	h := mixSeeds(g.cfg.Seed, saltForText)
	for _, p := range parts {
		h = mixSeeds(h, uint64(p))
	}
	return rand.New(rand.NewPCG(h, g.cfg.Seed))
}

func pickString(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func randomSentence(r *rand.Rand, n int) string {
	out := make([]string, 0, n)
	for range n {
		if r.IntN(9) == 0 {
			out = append(out, pickString(r, oddStrings))
		} else {
			out = append(out, pickString(r, sampleWords))
		}
	}
	return strings.Join(out, " ")
}
