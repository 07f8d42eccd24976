package verdict

import (
	"slices"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// streamRows returns a row for each stream, including those without a vote.
func streamRows(r *reading, actions []RequiredAction) []StreamRow {
	rows := make([]StreamRow, len(r.in.Streams))
	for i := range r.in.Streams {
		s := &r.in.Streams[i]
		rows[i] = StreamRow{
			StreamID: s.StreamID, Coverage: s.Coverage, Disposition: r.dispositions[i],
			Collected: clampCount(s.Collected, s.Considered), Considered: s.Considered,
			Kept: s.Retained, Found: sumCounts(s.Retained, s.Missing), Missing: s.Missing, Floor: s.MissingIsFloor,
			Statement: sentence(streamStatement(r, i, actions)), ActionRef: actionRef(s, r.dispositions[i], actions),
			Total: s.Total,
		}
		if s.Total != nil && r.dispositions[i] == health.DispositionResumable {
			rows[i].Statement = TotalSentence(s.Total)
		}
	}
	return rows
}

// clampCount limits a count to the count that it is a part of.
func clampCount(collected, considered *int64) *int64 {
	if collected != nil && considered != nil && *collected > *considered {
		return considered
	}
	return collected
}

// sumCounts returns nil unless both are known.
func sumCounts(a, b *int64) *int64 {
	switch {
	case a == nil || b == nil:
		return nil
	case *b == 0:
		return a
	}
	total := *a + *b
	return &total
}

func streamStatement(r *reading, i int, actions []RequiredAction) sentenceID {
	s := &r.in.Streams[i]
	switch r.dispositions[i] {
	case health.DispositionTerminal:
		return absentStatement(s)
	case health.DispositionAwaitingOwner:
		return rowAwaiting
	case health.DispositionResumable:
		if s.NotReached {
			return rowNotReached
		}
		onItsWay := votes(s) && len(actions) > 0 && actions[0].Kind == WaitAction && r.state() != health.Blocked
		if s.Missing == nil && s.Retained != nil && *s.Retained == 0 { // no items were counted
			return choose(onItsWay, rowNothingOnItsWay, rowNothing)
		}
		return choose(onItsWay, rowMissingOnItsWay, rowMissing)
	case health.DispositionComplete, health.DispositionOwnerRefreshDue:
		return settledStatement(s, r.dispositions[i])
	default:
		return choose(r.firstRun(), rowFirstRun, rowUnknown)
	}
}

func absentStatement(s *health.StreamRollup) sentenceID {
	accepted := s.Priority == health.AcceptedAbsence
	switch s.Coverage {
	case health.Unsupported:
		return choose(accepted, rowUnsupportedAccepted, rowUnsupported)
	case health.Unavailable:
		return choose(accepted, rowUnavailableAccepted, rowUnavailable)
	default:
		return choose(accepted, rowAccepted, rowTerminalGap)
	}
}

func settledStatement(s *health.StreamRollup, d health.Disposition) sentenceID {
	accepted := s.Priority == health.AcceptedAbsence
	switch s.Coverage {
	case health.Deferred:
		return choose(accepted, rowAccepted, rowDeferred)
	case health.InventoryOnly:
		return choose(accepted, rowInventoryAccepted, rowInventory)
	default:
		if s.Absent {
			return rowAbsent
		}
		refreshed, complete := rowAsOfRefresh, rowComplete
		if s.SelfReported {
			refreshed, complete = rowAsOfRefreshReported, rowCompleteReported
		}
		return choose(d == health.DispositionOwnerRefreshDue, refreshed, complete)
	}
}

// actionRef returns the index of the first action about the stream, or nil. A terminal stream refers to the code fix
// that it needs, even if another action is more urgent.
func actionRef(s *health.StreamRollup, d health.Disposition, actions []RequiredAction) *int {
	found := -1
	for i := range actions {
		if !slices.Contains(actions[i].Affects, s.StreamID) {
			continue
		}
		if d == health.DispositionTerminal && actions[i].Kind == CodeFix {
			found = i
			break
		}
		if found < 0 {
			found = i
		}
	}
	if found < 0 {
		return nil
	}
	ref := found // declared here so that a row without an action allocates nothing
	return &ref
}
