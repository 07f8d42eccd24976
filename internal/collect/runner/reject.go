package runner

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// Bounds of what is rejected alone: more of it is not a slip, and what else the stream
// holds is not to be trusted.
const (
	maxRejected   = 100 // of one stream
	rejectedShare = 10  // more than one in so many
	fewRejected   = 10  // fewer say nothing of the share before the stream is over
)

// reject leaves a record out and declares it missing under its key.
func (s *session) reject(st *stream, key string, v *protocol.Violation) error {
	s.rejected++
	reason := protocol.Reason(v.Subtype)
	if st.rejected == nil {
		st.rejected, st.refused = map[protocol.Reason]int64{}, map[string]protocol.Reason{}
	}
	st.rejected[reason]++
	s.leaveOut(st, reason)
	n := st.rejections()
	if n > maxRejected || n >= fewRejected && n*rejectedShare > st.sent {
		s.endStream(st)
		return nil
	}
	if st.otherKeys.shared > maxRejected {
		return nil // counted, without a row of its own
	}
	st.refused[key] = reason
	parent, _ := s.parentOf(st, &protocol.DetailGap{Stream: st.name}) // none where several are possible
	said, err := json.Marshal(map[string]any{"class": reason, "message": s.violated(v).Message}, json.Deterministic(true))
	if err != nil {
		return err
	}
	s.cur.addGap(slice.Gap{Stream: st.name, ParentStream: parent, RecordKey: key, Reason: reason, Retryable: true, LastError: sanitize(s.redactor.Load(), said)}, st.slice)
	st.gaps++
	s.gapCount++
	s.bound()
	return nil
}

// rejections counts records that concern the stream as a whole. Items that share a key do not:
// each of the others is as it should be.
func (st *stream) rejections() (n int64) {
	for _, count := range st.rejected {
		n += count
	}
	return n - st.otherKeys.shared
}

// leaveOut notes that something of the stream is missing until its connector is fixed.
func (s *session) leaveOut(st *stream, reason protocol.Reason) {
	st.lasts = standing
	st.skipped = &SkippedFact{Reason: string(reason), RecoveryAction: protocol.RetryOnConnectorUpgrade}
}

// endStream takes nothing more of a stream. Its cursor waits, and so do those of its
// parents: what they list is not stored any more.
func (s *session) endStream(st *stream) {
	st.ended = true
	s.leaveOut(st, protocol.ReasonTooManyRejected)
	s.note("run.stream_skipped", st.name, map[string]any{"reason": protocol.ReasonTooManyRejected, "recovery_action": protocol.RetryOnConnectorUpgrade})
	for _, name := range append([]string{st.name, st.Decl.StateStream}, st.Decl.ParentStreams...) {
		if waits := s.streams[name]; waits != nil {
			waits.withheld = true
		}
	}
}

// judgeRejected ends the streams of which too much was rejected, small ones too.
func (s *session) judgeRejected() {
	for _, st := range s.order {
		if !st.ended && st.rejections()*rejectedShare > st.sent {
			s.endStream(st)
		}
	}
}

// knownRejected tells what was rejected, by stream and rule.
func (s *session) knownRejected() (out []KnownGap) {
	hint := protocol.RecoveryHint{Action: protocol.RetryOnConnectorUpgrade}
	for _, st := range s.order {
		for _, reason := range slices.Sorted(maps.Keys(st.rejected)) {
			out = append(out, KnownGap{Kind: protocol.KnownDetailGap, Reason: string(reason), Severity: protocol.SeverityRecoverable, Stream: st.name,
				Count: st.rejected[reason], Message: protocol.OwnerCopy(reason, ""), RecoveryHint: hint})
		}
		if st.ended {
			out = append(out, KnownGap{Kind: protocol.KnownSkipResult, Reason: string(protocol.ReasonTooManyRejected), Severity: protocol.SeverityActionable, Stream: st.name,
				Message: protocol.OwnerCopy(protocol.ReasonTooManyRejected, ""), RecoveryHint: hint})
		}
	}
	return out
}
