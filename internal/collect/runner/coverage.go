package runner

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/protocol"
)

// lane is a detail stream under one of its parents. It accounts for the keys of the parent's cursor.
type lane struct{ stream, parent string }

// laneCoverage compares the keys that lists require with the details that were fetched or have a gap.
type laneCoverage struct {
	sink     Sink
	streams  *streamSet
	declared map[lane]*protocol.DetailCoverage
	recorded map[lane]map[string]bool // keys of gaps that this run reported
}

func newLaneCoverage(sink Sink, streams *streamSet) laneCoverage {
	return laneCoverage{sink: sink, streams: streams, declared: map[lane]*protocol.DetailCoverage{},
		recorded: map[lane]map[string]bool{}}
}

// recordGap remembers that a gap exists for the key.
func (c *laneCoverage) recordGap(l lane, key string) {
	if c.recorded[l] == nil {
		c.recorded[l] = map[string]bool{}
	}
	c.recorded[l][key] = true
}

// sliceAccounted reports whether every key of a slice is fetched, skipped by policy, or covered by a stored gap, so
// that the parent's cursor may move with the slice (invariants 1 and 5). A slice without keys stays staged. Open keys
// are remembered: the lane's final coverage must account for them.
func (c *laneCoverage) sliceAccounted(ctx context.Context, st *stream, k *protocol.KeyCoverage) (bool, error) {
	if k == nil {
		return false, nil
	}
	open, err := c.unaccounted(ctx, st.details, st.name, k)
	for _, key := range open {
		st.open[key] = true
	}
	return len(open) == 0, err
}

// unaccounted returns the required keys that are neither fetched, skipped nor covered by a gap. A gap counts only
// when it is recorded for one of the detail streams under this parent, or without a parent where the stream declares
// none. A key in gap_keys proves nothing.
func (c *laneCoverage) unaccounted(ctx context.Context, details []string, parent string, k *protocol.KeyCoverage) (
	[]string, error) {
	done := make(map[string]bool, len(k.HydratedKeys)+len(k.OptionalSkipKeys))
	for _, key := range k.HydratedKeys {
		done[key] = true
	}
	for _, key := range k.OptionalSkipKeys {
		done[key] = true
	}
	lanes := c.gapLanes(details, parent)
	var open []string
	for _, key := range k.RequiredKeys {
		if !done[key] && !slices.ContainsFunc(lanes, func(l lane) bool { return c.recorded[l][key] }) {
			open = append(open, key)
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	for _, l := range lanes { // gaps of earlier runs count too
		found, err := c.sink.AccountedKeys(ctx, l.stream, l.parent, open)
		if err != nil {
			return open, err
		}
		open = slices.DeleteFunc(open, func(key string) bool { return found[key] })
	}
	return open, nil
}

// gapLanes returns the lanes with gaps that account for keys of the parent.
func (c *laneCoverage) gapLanes(details []string, parent string) (out []lane) {
	for _, d := range details {
		if out = append(out, lane{d, parent}); len(c.streams.byName[d].Decl.ParentStreams) == 0 {
			out = append(out, lane{d, ""})
		}
	}
	return out
}

func (s *session) onCoverage(m *protocol.DetailCoverage) error {
	st, err := s.streamNamed(m, m.Stream)
	if err != nil {
		return err
	}
	if _, err := s.streamNamed(m, m.StateStream); err != nil {
		return err
	}
	l := lane{m.Stream, m.StateStream}
	invalid := func(sub protocol.Subtype, want string) error {
		return &protocol.Violation{Subtype: sub, MessageType: m.Type(), Stream: m.Stream, Expected: []string{want}}
	}
	switch parents := st.Decl.ParentStreams; {
	case s.coverage.declared[l] != nil:
		return invalid(protocol.DuplicateCoverage, "one DETAIL_COVERAGE per stream and state_stream")
	case st.Decl.StateStream != "":
		return invalid(protocol.InvalidCoverage, "none: the stream's manifest declares state_stream")
	case len(parents) > 0 && !slices.Contains(parents, m.StateStream):
		return invalid(protocol.InvalidCoverage, "state_stream among the declared parent_streams")
	}
	s.coverage.declared[l] = m
	st.considered, st.covered = m.Considered, m.Covered
	s.timeline.note("run.detail_coverage_declared", m.Stream, map[string]any{
		"state_stream": m.StateStream, "required": len(m.RequiredKeys), "hydrated": len(m.HydratedKeys),
		"gaps": len(m.GapKeys), "skipped": len(m.OptionalSkipKeys),
	})
	return nil
}

// checkLanes compares every declared lane with what is stored. It withholds the staged cursors of a parent with an
// incomplete lane, or with a lane that was neither declared nor skipped. Other cursors are not affected (PB-A07).
func (c *laneCoverage) checkLanes(ctx context.Context) ([]KnownGap, error) {
	var known []KnownGap
	for _, l := range c.declaredLanes() {
		open, err := c.unaccounted(ctx, []string{l.stream}, l.parent, &c.declared[l].KeyCoverage)
		if err != nil {
			return known, err
		}
		if len(open) > 0 || c.streams.byName[l.stream].ended {
			known = append(known, c.streams.byName[l.parent].withhold("detail_coverage_incomplete", len(open)))
		}
	}
	for _, st := range c.streams.order {
		if len(st.details) == 0 || len(st.staged) == 0 || st.withheld || st.certified {
			continue
		}
		open, err := c.stillOpen(ctx, st)
		switch {
		case err != nil:
			return known, err
		case len(open) > 0:
			known = append(known, st.withhold("detail_coverage_incomplete", len(open)))
		case c.laneMissing(st):
			known = append(known, st.withhold("detail_coverage_missing", 0))
		}
	}
	return known, nil
}

// stillOpen returns the open keys of the stream's slices that no lane has accounted for since.
func (c *laneCoverage) stillOpen(ctx context.Context, st *stream) ([]string, error) {
	var k protocol.KeyCoverage
	k.RequiredKeys = slices.Sorted(maps.Keys(st.open))
	for _, d := range st.details {
		if declared := c.declared[lane{d, st.name}]; declared != nil {
			k.HydratedKeys = append(k.HydratedKeys, declared.HydratedKeys...)
			k.OptionalSkipKeys = append(k.OptionalSkipKeys, declared.OptionalSkipKeys...)
		}
	}
	return c.unaccounted(ctx, st.details, st.name, &k)
}

// laneMissing reports whether a detail stream has neither declared its coverage nor been skipped.
func (c *laneCoverage) laneMissing(st *stream) bool {
	return slices.ContainsFunc(st.details, func(d string) bool {
		return c.declared[lane{d, st.name}] == nil && c.streams.byName[d].skipped == nil
	})
}

func (c *laneCoverage) declaredLanes() []lane {
	return slices.SortedFunc(maps.Keys(c.declared), func(a, b lane) int {
		return cmp.Or(cmp.Compare(a.parent, b.parent), cmp.Compare(a.stream, b.stream))
	})
}

// withhold keeps the stream's staged cursors from being committed and returns the known gap that reports it.
func (st *stream) withhold(reason string, keys int) KnownGap {
	st.withheld = st.withheld || len(st.staged) > 0
	retry := true
	return KnownGap{
		Kind: protocol.KnownDetailCoverage, Reason: reason, Severity: protocol.SeverityTransient,
		Stream: st.name, Count: int64(keys),
		RecoveryHint: protocol.RecoveryHint{Action: protocol.RetryByRuntime, Retryable: &retry},
	}
}
