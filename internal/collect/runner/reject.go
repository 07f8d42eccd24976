package runner

import (
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// Bounds of the records that are rejected one by one. Beyond them the whole stream is not trusted.
const (
	maxRejected   = 100 // of one stream
	rejectedShare = 10  // more than one in ten
	fewRejected   = 10  // the share is not judged below this number until the stream is over
)

// rejectRecord leaves an invalid record out and declares it missing under its key.
func (s *session) rejectRecord(st *stream, key string, v *protocol.Violation) error {
	s.counters.rejected++
	reason := protocol.Reason(v.Subtype)
	if st.rejected == nil {
		st.rejected = map[protocol.Reason]int64{}
	}
	st.rejected[reason]++
	st.setSkipped(reason)
	n := st.rejections()
	if n > maxRejected || n >= fewRejected && n*rejectedShare > st.sent {
		s.endStream(st)
		return nil
	}
	if st.otherKeys.shared > maxRejected {
		return nil // counted, but without a gap of its own
	}
	st.setRejected(key, reason)
	s.addGap(st, slice.Gap{Stream: st.name, ParentStream: s.streams.onlyParent(st), RecordKey: key, Reason: reason,
		Retryable: true, LastError: s.secrets.sanitizeObject(map[string]any{
			"class": reason, "message": s.secrets.violationFailure(v).Message})})
	s.commits.limitMemory()
	return nil
}

// setRejected remembers that the record of this key was stored incompletely or not at all.
func (st *stream) setRejected(key string, reason protocol.Reason) {
	if st.rejectedBy == nil {
		st.rejectedBy = map[string]protocol.Reason{}
	}
	st.rejectedBy[key] = reason
}

// rejections counts the rejected records that put the whole stream in doubt. Items that share a key do not: the
// other items of the stream are valid.
func (st *stream) rejections() (n int64) {
	for _, count := range st.rejected {
		n += count
	}
	return n - st.otherKeys.shared
}

// setSkipped reports the stream as incomplete until its connector is fixed.
func (st *stream) setSkipped(reason protocol.Reason) {
	st.permanence = permanentSkip
	st.skipped = &SkippedFact{Reason: string(reason), RecoveryAction: protocol.RetryOnConnectorUpgrade}
}

// endStream accepts no more records of a stream. It withholds the cursors of the stream and of its parents, because
// the items that they list are no longer stored.
func (s *session) endStream(st *stream) {
	st.ended = true
	st.setSkipped(protocol.ReasonTooManyRejected)
	s.timeline.note("run.stream_skipped", st.name, map[string]any{
		"reason": protocol.ReasonTooManyRejected, "recovery_action": protocol.RetryOnConnectorUpgrade})
	for _, name := range st.withParents() {
		if other := s.streams.byName[name]; other != nil {
			other.withheld = true
		}
	}
}

// endRejectedStreams ends every stream with too large a share of rejected records, small streams included.
func (s *session) endRejectedStreams() {
	for _, st := range s.streams.order {
		if !st.ended && st.rejections()*rejectedShare > st.sent {
			s.endStream(st)
		}
	}
}

// knownRejected returns the rejected records by stream and reason.
func (s *streamSet) knownRejected() (out []KnownGap) {
	hint := protocol.RecoveryHint{Action: protocol.RetryOnConnectorUpgrade}
	for _, st := range s.order {
		for _, reason := range slices.Sorted(maps.Keys(st.rejected)) {
			out = append(out, KnownGap{Kind: protocol.KnownDetailGap, Reason: string(reason),
				Severity: protocol.SeverityRecoverable, Stream: st.name, Count: st.rejected[reason],
				Message: protocol.OwnerCopy(reason, ""), RecoveryHint: hint})
		}
		if st.ended {
			out = append(out, KnownGap{Kind: protocol.KnownSkipResult, Reason: string(protocol.ReasonTooManyRejected),
				Severity: protocol.SeverityActionable, Stream: st.name,
				Message: protocol.OwnerCopy(protocol.ReasonTooManyRejected, ""), RecoveryHint: hint})
		}
	}
	return out
}
