package mcp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
)

// Coverage is how complete one stream is, in the words that a grant may know.
type Coverage struct {
	Connection string           `json:"connection_id"`
	Source     string           `json:"source,omitempty" jsonschema:"name of the source"`
	Stream     string           `json:"stream"`
	AsOf       *time.Time       `json:"as_of,omitempty" jsonschema:"when the source was last read"`
	Freshness  string           `json:"freshness" jsonschema:"current, stale or unknown"`
	Complete   string           `json:"complete" jsonschema:"yes, no or unknown: whether all of it is held, as of then"`
	Covered    []grantview.Span `json:"covered,omitempty" jsonschema:"spans of time of which everything is held"`
}

// coverageOf returns the completeness of an answer of /v1 in the form of a tool's answer.
func coverageOf(measured []grantview.Completeness) []Coverage {
	out := make([]Coverage, len(measured))
	for i, c := range measured {
		out[i] = Coverage{Connection: c.ConnectionID, Source: c.ConnectorName, Stream: c.Stream, AsOf: c.AsOf,
			Freshness: string(c.Freshness), Complete: string(c.Whole)}
		bounded := slices.ContainsFunc(c.Covered, func(s grantview.Span) bool { return s.From != nil })
		if bounded && len(c.Covered) <= mostSpans {
			out[i].Covered = c.Covered
		}
	}
	return out
}

const (
	// mostSpans and mostStreams bound what one answer names; the completeness tool pages through everything.
	mostSpans   = 5
	mostStreams = 40
	// mostNamed bounds how many streams a sentence names for each state.
	mostNamed = 6
)

// shortened returns the entries that an answer has room for, those that are not complete first.
func shortened(all []Coverage) []Coverage {
	if len(all) <= mostStreams {
		return all
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Coverage) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	return all[:mostStreams]
}

func rankOf(c Coverage) int { return slices.Index([]string{"no", "unknown", "yes"}, c.Complete) }

// sentenceOf returns the coverage as one sentence. Streams of one source in the same state are named together.
func sentenceOf(all []Coverage) string {
	if len(all) == 0 {
		return ""
	}
	type group struct {
		source, state string
		streams       []string
	}
	var groups []*group
	several := sourcesOf(all)
	for _, c := range all {
		source := cmp.Or(c.Source, "a source")
		if len(several[source]) > 1 {
			source += " " + c.Connection
		}
		state := stateOf(c)
		i := slices.IndexFunc(groups, func(g *group) bool { return g.source == source && g.state == state })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{source: source, state: state})
		}
		groups[i].streams = append(groups[i].streams, c.Stream)
	}
	parts := make([]string, 0, len(groups))
	for i, g := range groups {
		if i == 2*mostNamed {
			parts = append(parts, strconv.Itoa(len(groups)-i)+" more are in the coverage")
			break
		}
		names := g.streams
		if len(names) > mostNamed {
			names = append(slices.Clone(names[:mostNamed]), strconv.Itoa(len(g.streams)-mostNamed)+" more")
		}
		parts = append(parts, g.source+" ("+strings.Join(names, ", ")+") "+g.state)
	}
	return upperFirst(strings.Join(parts, "; ")) + "."
}

// sourcesOf returns the connections of each source that is named.
func sourcesOf(all []Coverage) map[string]map[string]bool {
	by := map[string]map[string]bool{}
	for _, c := range all {
		source := cmp.Or(c.Source, "a source")
		if by[source] == nil {
			by[source] = map[string]bool{}
		}
		by[source][c.Connection] = true
	}
	return by
}

// stateOf returns a predicate: "is complete up to 3 March 2026".
func stateOf(c Coverage) string {
	until := ""
	if c.AsOf != nil {
		until = " up to " + day(*c.AsOf)
	}
	behind := ""
	if c.Freshness == string(grantview.FreshnessStale) && c.AsOf != nil {
		behind = " and is behind since " + day(*c.AsOf)
		until = ""
	}
	spans := spansOf(c)
	switch {
	case c.Complete == string(grantview.WholeYes) && spans != "":
		return "is complete " + spans + behind
	case c.Complete == string(grantview.WholeYes):
		return "is complete" + until + behind
	case c.Complete == string(grantview.WholeNo) && spans != "":
		return "is complete " + spans + " and lacks something outside of that" + behind
	case c.Complete == string(grantview.WholeNo):
		return "lacks something" + behind
	case spans != "":
		return "is complete " + spans + ", and it is not known whether it is outside of that" + behind
	}
	return "is not known to be complete" + behind
}

// spansOf returns the spans of time that are held whole: "from 1 November 2025 to 3 March 2026".
func spansOf(c Coverage) string {
	parts := make([]string, 0, len(c.Covered))
	for _, s := range c.Covered {
		switch {
		case s.From != nil && s.To != nil && c.AsOf != nil && !s.To.Before(*c.AsOf):
			parts = append(parts, "since "+day(*s.From))
		case s.From != nil && s.To != nil:
			parts = append(parts, "from "+day(*s.From)+" to "+day(*s.To))
		case s.From != nil:
			parts = append(parts, "since "+day(*s.From))
		case s.To != nil:
			parts = append(parts, "up to "+day(*s.To))
		}
	}
	return strings.Join(parts, " and ")
}

func day(at time.Time) string { return at.UTC().Format("2 January 2006") }

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
