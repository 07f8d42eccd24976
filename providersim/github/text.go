package github

import (
	"math/rand/v2"
	"strings"
)

// Salts keep the random streams of unrelated things apart.
const (
	saltToken = iota + 1
	saltChoice
	saltText
)

var (
	words = strings.Fields(`anchor beacon copper drift ember fallow gantry harbour inlet juniper kiln lattice mortar
		nettle orchard pewter quarry ripple sextant timber umber valve willow yarrow zephyr Brücke señal łódka весна 雨`)
	oddments  = []string{"🪴", "e\u0301tude", "line\u2028break", `"quoted"`, `back\slash`, "<b>&amp;</b>", "½"}
	languages = []string{"Go", "Rust", "Zig", "Python", ""}
	labels    = []string{"bug", "docs", "good first issue", "perf"}
	people    = []string{"marit-dalen", "tomasz-wrzos", "noor-ashri", "kenji-arimoto"}
	eventKind = []string{"PushEvent", "IssuesEvent", "WatchEvent", "PullRequestEvent", "CreateEvent",
		"IssueCommentEvent", "PullRequestReviewCommentEvent",
		"PullRequestReviewEvent", "ReleaseEvent", "DiscussionEvent", "ForkEvent", "MemberEvent", "GollumEvent"}
)

const (
	ownLogin = "ottilie-b"
	ownID    = 5081
	orgLogin = "northwind-tools"
	orgID    = 21955855
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

// written is the random source of one thing's text; equal parts, equal text.
func (g *GitHub) written(parts ...int64) *rand.Rand {
	h := mix(g.cfg.Seed, saltText)
	for _, p := range parts {
		h = mix(h, uint64(p))
	}
	return rand.New(rand.NewPCG(h, g.cfg.Seed))
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func sentence(r *rand.Rand, n int) string {
	out := make([]string, 0, n)
	for range n {
		if r.IntN(9) == 0 {
			out = append(out, pick(r, oddments))
		} else {
			out = append(out, pick(r, words))
		}
	}
	return strings.Join(out, " ")
}
