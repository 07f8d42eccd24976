package verdict

import (
	"slices"

	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// streamRows are the streams as they are, those without a vote included.
func streamRows(r *reading, actions []RequiredAction) []StreamRow {
	rows := make([]StreamRow, len(r.in.Streams))
	for i := range r.in.Streams {
		s := &r.in.Streams[i]
		rows[i] = StreamRow{
			StreamID: s.StreamID, Coverage: s.Coverage, Disposition: r.dispositions[i],
			Collected: clamp(s.Collected, s.Considered), Considered: s.Considered,
			Kept: s.Retained, Found: sum(s.Retained, s.Missing), Missing: s.Missing, Floor: s.MissingIsFloor,
			Statement: say(streamStatement(r, i, actions)), ActionRef: actionRef(s, r.dispositions[i], actions), Total: s.Total,
		}
		if s.Total != nil && r.dispositions[i] == health.DispositionResumable {
			rows[i].Statement = TotalSentence(s.Total)
		}
	}
	return rows
}

// clamp keeps a count from being above the count that it is a part of.
func clamp(collected, considered *int64) *int64 {
	if collected != nil && considered != nil && *collected > *considered {
		return considered
	}
	return collected
}

// sum is nil unless both are known.
func sum(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	total := *a + *b
	return &total
}

func streamStatement(r *reading, i int, actions []RequiredAction) line {
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
		if s.Missing == nil && s.Retained != nil && *s.Retained == 0 { // nobody counted any items
			return either(onItsWay, rowNothingOnItsWay, rowNothing)
		}
		return either(onItsWay, rowMissingOnItsWay, rowMissing)
	case health.DispositionComplete, health.DispositionOwnerRefreshDue:
		return settledStatement(s, r.dispositions[i])
	default:
		return either(r.firstRun(), rowFirstRun, rowUnknown)
	}
}

func absentStatement(s *health.StreamRollup) line {
	accepted := s.Priority == health.AcceptedAbsence
	switch s.Coverage {
	case health.Unsupported:
		return either(accepted, rowUnsupportedAccepted, rowUnsupported)
	case health.Unavailable:
		return either(accepted, rowUnavailableAccepted, rowUnavailable)
	default:
		return either(accepted, rowAccepted, rowTerminalGap)
	}
}

func settledStatement(s *health.StreamRollup, d health.Disposition) line {
	accepted := s.Priority == health.AcceptedAbsence
	switch s.Coverage {
	case health.Deferred:
		return either(accepted, rowAccepted, rowDeferred)
	case health.InventoryOnly:
		return either(accepted, rowInventoryAccepted, rowInventory)
	default:
		if s.Absent {
			return rowAbsent
		}
		refreshed, complete := rowAsOfRefresh, rowComplete
		if s.AsTold {
			refreshed, complete = rowAsOfRefreshAsTold, rowCompleteAsTold
		}
		return either(d == health.DispositionOwnerRefreshDue, refreshed, complete)
	}
}

// actionRef points at the first action about the stream. What is missing for
// good points at the fix that it needs, whatever else is more urgent.
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
	ref := found // a row without an action costs no memory
	return &ref
}
