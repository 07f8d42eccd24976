package runner

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/protocol"
)

// sliceAccounted reports whether every key of a slice is hydrated, skipped by
// policy, or backed by a durable gap, so that the anchor's cursor may move with
// the slice (invariants 1 and 5). A slice that does not say stays staged. Open
// keys are remembered: what closes the lane must account for them too.
func (s *session) sliceAccounted(ctx context.Context, st *stream, k *protocol.KeyCoverage) (bool, error) {
	if k == nil {
		return false, nil
	}
	open, err := s.unaccounted(ctx, st.details, st.name, k)
	for _, key := range open {
		st.open[key] = true
	}
	return len(open) == 0, err
}

// unaccounted gives the required keys that nothing stands for. A gap counts
// only when it is recorded for one of the detail streams under this parent, or under
// none where none is declared: a key in gap_keys proves nothing by itself.
func (s *session) unaccounted(ctx context.Context, details []string, parent string, k *protocol.KeyCoverage) ([]string, error) {
	done := make(map[string]bool, len(k.HydratedKeys)+len(k.OptionalSkipKeys))
	for _, key := range k.HydratedKeys {
		done[key] = true
	}
	for _, key := range k.OptionalSkipKeys {
		done[key] = true
	}
	var open []string
	for _, key := range k.RequiredKeys {
		if !done[key] && !s.recordedGap(details, parent, key) {
			open = append(open, key)
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	for _, l := range s.standing(details, parent) { // gaps of earlier runs count too
		found, err := s.sink.AccountedKeys(ctx, l.stream, l.parent, open)
		if err != nil {
			return open, s.storageFailed(err)
		}
		open = slices.DeleteFunc(open, func(key string) bool { return found[key] })
	}
	return open, nil
}

func (s *session) recordedGap(details []string, parent, key string) bool {
	return slices.ContainsFunc(s.standing(details, parent), func(l lane) bool { return s.recorded[l][key] })
}

// standing are the lanes whose gaps stand for keys of the parent.
func (s *session) standing(details []string, parent string) (out []lane) {
	for _, d := range details {
		if out = append(out, lane{d, parent}); len(s.streams[d].Decl.ParentStreams) == 0 {
			out = append(out, lane{d, ""})
		}
	}
	return out
}

func (s *session) declareCoverage(m *protocol.DetailCoverage) error {
	st := s.streams[m.Stream]
	if st == nil {
		return s.undeclared(protocol.UndeclaredStream, m.Type(), m.Stream)
	}
	if s.streams[m.StateStream] == nil {
		return s.undeclared(protocol.UndeclaredStream, m.Type(), m.StateStream)
	}
	l := lane{m.Stream, m.StateStream}
	broken := func(sub protocol.Subtype, want string) error {
		return &protocol.Violation{Subtype: sub, MessageType: m.Type(), Stream: m.Stream, Expected: []string{want}}
	}
	switch parents := st.Decl.ParentStreams; {
	case s.coverage[l] != nil:
		return broken(protocol.DuplicateCoverage, "one DETAIL_COVERAGE per stream and state_stream")
	case st.Decl.StateStream != "":
		return broken(protocol.InvalidCoverage, "none: the stream's manifest declares state_stream")
	case len(parents) > 0 && !slices.Contains(parents, m.StateStream):
		return broken(protocol.InvalidCoverage, "state_stream among the declared parent_streams")
	}
	s.coverage[l] = m
	st.considered, st.covered = m.Considered, m.Covered
	s.note("run.detail_coverage_declared", m.Stream, map[string]any{
		"state_stream": m.StateStream, "required": len(m.RequiredKeys), "hydrated": len(m.HydratedKeys),
		"gaps": len(m.GapKeys), "skipped": len(m.OptionalSkipKeys),
	})
	return nil
}

// settleCoverage holds every declared lane against what is durable. An anchor
// with a short lane, or with a staged cursor and a lane that was neither
// declared nor skipped, has its staged cursors withheld, alone (PB-A07).
func (s *session) settleCoverage(ctx context.Context) ([]KnownGap, error) {
	var known []KnownGap
	for _, l := range s.lanes() {
		open, err := s.unaccounted(ctx, []string{l.stream}, l.parent, &s.coverage[l].KeyCoverage)
		if err != nil {
			return known, err
		}
		if len(open) > 0 || s.streams[l.stream].ended {
			known = append(known, s.streams[l.parent].withhold("detail_coverage_incomplete", len(open)))
		}
	}
	for _, st := range s.order {
		if len(st.details) == 0 || len(st.staged) == 0 || st.withheld || st.certified {
			continue
		}
		open, err := s.stillOpen(ctx, st)
		switch {
		case err != nil:
			return known, err
		case len(open) > 0:
			known = append(known, st.withhold("detail_coverage_incomplete", len(open)))
		case s.laneMissing(st):
			known = append(known, st.withhold("detail_coverage_missing", 0))
		}
	}
	return known, nil
}

// stillOpen gives the keys that a slice left open and no lane has closed since.
func (s *session) stillOpen(ctx context.Context, st *stream) ([]string, error) {
	var k protocol.KeyCoverage
	k.RequiredKeys = slices.Sorted(maps.Keys(st.open))
	for _, d := range st.details {
		if c := s.coverage[lane{d, st.name}]; c != nil {
			k.HydratedKeys = append(k.HydratedKeys, c.HydratedKeys...)
			k.OptionalSkipKeys = append(k.OptionalSkipKeys, c.OptionalSkipKeys...)
		}
	}
	return s.unaccounted(ctx, st.details, st.name, &k)
}

func (s *session) laneMissing(st *stream) bool {
	return slices.ContainsFunc(st.details, func(d string) bool {
		return s.coverage[lane{d, st.name}] == nil && s.streams[d].skipped == nil
	})
}

// withhold keeps the stream's staged cursors back and says so.
func (st *stream) withhold(reason string, keys int) KnownGap {
	st.withheld = st.withheld || len(st.staged) > 0
	retry := true
	return KnownGap{
		Kind: protocol.KnownDetailCoverage, Reason: reason, Severity: protocol.SeverityTransient,
		Stream: st.name, Count: int64(keys),
		RecoveryHint: protocol.RecoveryHint{Action: protocol.RetryByRuntime, Retryable: &retry},
	}
}

func (s *session) lanes() []lane {
	out := make([]lane, 0, len(s.coverage))
	for l := range s.coverage {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b lane) int {
		if a.parent != b.parent {
			return strings.Compare(a.parent, b.parent)
		}
		return strings.Compare(a.stream, b.stream)
	})
	return out
}
