package grants

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// Whole is whether everything is here that the source had in a range of time when it was last read.
type Whole string

// Only what runs have accounted for is whole; anything unmeasured is unknown.
const (
	WholeYes     Whole = "yes"
	WholeNo      Whole = "no"
	WholeUnknown Whole = "unknown"
)

// Completeness is how much is here of what a view shows. It has no place for a reason, a
// count or anything that lies outside of the view.
type Completeness struct {
	ConnectionID string
	Stream       string
	// AsOf is when the source was last read, and CapturedAt when a run last succeeded; nil
	// when that is not known.
	AsOf, CapturedAt *time.Time
	Range            Range // what is asked for of the time that the view shows
	Whole            Whole // of the range
	// Covered are the spans of the range of which everything is here, in order; none of
	// them goes beyond AsOf.
	Covered []Range
}

// Reading is what is read of views.
type Reading struct {
	// Asked is the range of time that is asked for of a view; nil means all of it.
	Asked func(v StreamView) Range
	// Searched means that only indexed records are found.
	Searched bool
}

// Completeness returns the completeness of each view. Later reads of the views contain at least what it claims.
func (b *Service) Completeness(ctx context.Context, views []StreamView, r Reading) ([]Completeness, error) {
	var ids []string
	for _, v := range views {
		if !slices.Contains(ids, v.ConnectionID()) {
			ids = append(ids, v.ConnectionID())
		}
	}
	facts, err := b.store.Coverage(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read what is covered: %w", err)
	}
	known := make(streamCoverage, len(facts))
	for i := range facts {
		known[[2]string{facts[i].ConnectionID, facts[i].Stream}] = &facts[i]
	}
	all := make([]Completeness, len(views))
	for i, v := range views {
		asked := v.Window()
		if r.Asked != nil {
			asked = asked.Within(r.Asked(v))
		}
		all[i] = known.completeness(v, asked, r.Searched)
	}
	return all, nil
}

// streamCoverage are the facts of streams, by connection and name.
type streamCoverage map[[2]string]*store.StreamCoverage

func (k streamCoverage) completeness(v StreamView, asked Range, searched bool) Completeness {
	out := Completeness{ConnectionID: v.ConnectionID(), Stream: v.Name(), Range: asked, Whole: WholeUnknown}
	own := k[[2]string{v.ConnectionID(), v.Name()}]
	if own == nil {
		return out
	}
	out.AsOf, out.CapturedAt = lastRead(own), own.CapturedAt
	asOf, ok := k.accounted(v)
	if !ok || !v.answers(own, asked, searched) {
		return out
	}
	out.AsOf = &asOf
	lacks, open := k.lacks(v)
	if open {
		if own.GapOpen && asked == (Range{}) {
			out.Whole = WholeNo
		}
		return out
	}
	out.Covered = asked.Within(Range{Until: &asOf}).Without(lacks)
	out.Whole = WholeYes
	if asked.ends(asOf) || slices.ContainsFunc(lacks, asked.Overlaps) {
		out.Whole = WholeUnknown
	}
	return out
}

// lastRead is when a run began that read the stream and succeeded.
func lastRead(c *store.StreamCoverage) *time.Time {
	for _, m := range []*store.StreamMeasurement{c.Newest, c.Succeeded} {
		if m != nil && m.Status == store.RunSucceeded {
			return &m.StartedAt
		}
	}
	return c.CapturedAt
}

// answers reports whether the stream's coverage applies to the request. It does not for a view of chosen records,
// because gaps of others must stay hidden. Nor does it for a time range or search while the index is incomplete.
func (v StreamView) answers(own *store.StreamCoverage, asked Range, searched bool) bool {
	switch {
	case len(v.stream.Resources) > 0:
		return false
	case asked != (Range{}) && (!own.TimesCurrent || own.TimeField != v.declared.ConsentTimeField):
		return false
	case searched && (!own.Indexed || !slices.Equal(own.SearchFields, v.declared.Query.SearchFields())):
		return false
	}
	return true
}

// accounted returns up to when runs have accounted for the stream and those that it depends on. A run knows what the
// source had when it began, not what came later.
func (k streamCoverage) accounted(v StreamView) (asOf time.Time, ok bool) {
	for i, d := range v.restsOn() {
		c := k[[2]string{v.ConnectionID(), d.Name}]
		if c == nil || c.Undone || !countable(c, d) {
			return asOf, false
		}
		m := sound(c)
		if m == nil {
			return asOf, false
		}
		if i == 0 || m.StartedAt.Before(asOf) {
			asOf = m.StartedAt
		}
	}
	return asOf, v.declared.Name != ""
}

// countable excludes streams with an unknown total: what the owner or a device brings is as complete as they made it,
// and a wrapped program counts nothing.
func countable(c *store.StreamCoverage, d declaredStream) bool {
	return (c.SourceKind == store.SourceAccount || c.SourceKind == store.SourceBrowser) &&
		d.Policy() == manifest.PolicyCollect &&
		!d.AsTold && d.CoverageStrategy != manifest.StrategySnapshotImportReceipt
}

// sound is the newest measurement by which all of the stream was accounted for; nil when
// there is none.
func sound(c *store.StreamCoverage) *store.StreamMeasurement {
	for _, m := range []*store.StreamMeasurement{c.Newest, c.Succeeded} {
		if m == nil || m.Skipped || m.Narrowed || (m.Considered == nil) != (m.Covered == nil) {
			continue
		}
		counted := m.Considered != nil && *m.Covered >= *m.Considered
		short := m.Considered != nil && !counted
		if !short && (m.Status == store.RunSucceeded && (m.Committed || counted) || m.Committed && counted) {
			return m
		}
	}
	return nil
}

// lacks returns the time ranges in which something may be missing. Open means that something is missing at an unknown
// time.
func (k streamCoverage) lacks(v StreamView) (spans []Range, open bool) {
	for i, d := range v.restsOn() {
		c := k[[2]string{v.ConnectionID(), d.Name}]
		// The windows of a list are in the time that it is read by.
		placed := i == 0 && d.ConsentTimeField != "" && d.ConsentTimeField == d.CursorField
		open = open || c.GapOpen
		for _, part := range c.RangeGaps {
			span, detail, ok := gapWindow(part.Locator)
			switch {
			case detail && !part.Own: // the list itself is there
			case ok && placed && !part.Own:
				spans = append(spans, span)
			default:
				open = true
			}
		}
		if len(c.CatchUp) > 0 {
			span, ok := bookmarkWindow(c.CatchUp)
			if open = open || !ok || !placed; ok {
				spans = append(spans, span)
			}
		}
	}
	return spans, open
}

// restsOn returns the stream and those by which it is collected.
func (v StreamView) restsOn() []declaredStream {
	all := []declaredStream{v.declared}
	for i := 0; i < len(all); i++ {
		for _, name := range append(slices.Clone(all[i].ParentStreams), all[i].StateStream) {
			d, ok := v.siblings[name]
			if ok && !slices.ContainsFunc(all, func(o declaredStream) bool { return o.Name == name }) {
				all = append(all, d)
			}
		}
	}
	return all
}
