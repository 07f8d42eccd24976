package wire

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// EnvelopeHash is the hash of a commit by which both sides know that they speak of the
// same: of its JavaScript property order, with the facts by stream and each one's statuses once.
func EnvelopeHash(c *TerminalCommit) (string, error) {
	type fact struct {
		Stream           string   `json:"stream"`
		CoverageStatuses []string `json:"coverage_statuses"`
		Scoped           *bool    `json:"scoped,omitzero"`
	}
	facts := make([]fact, len(c.TerminalFacts))
	for i, f := range c.TerminalFacts {
		statuses := slices.Clone(f.CoverageStatuses)
		slices.Sort(statuses)
		facts[i] = fact{f.Stream, slices.Compact(statuses), f.Scoped}
	}
	slices.SortStableFunc(facts, func(a, b fact) int { return compareNames(a.Stream, b.Stream) })
	envelope := struct {
		TerminalCommit
		CollectionBoundary jsontext.Value `json:"collection_boundary,omitzero"`
		TerminalFacts      []fact         `json:"terminal_facts"`
	}{*c, c.CollectionBoundary, facts}
	ordered, err := encodeInPropertyOrder(envelope)
	if err != nil {
		return "", err
	}
	return digest(ordered), nil
}

// compareNames orders names of streams as a script's localeCompare does: marks before
// digits before letters, whatever their case, and the lower case first where nothing else
// differs.
func compareNames(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(rank(a[i]), rank(b[i])); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), -strings.Compare(a, b))
}

func rank(c byte) int {
	switch {
	case c == '_':
		return 0
	case c == '-':
		return 1
	case '0' <= c && c <= '9':
		return 2 + int(c-'0')
	case 'a' <= c && c <= 'z':
		return 20 + int(c-'a')
	case 'A' <= c && c <= 'Z':
		return 20 + int(c-'A')
	default:
		return 100 + int(c)
	}
}
