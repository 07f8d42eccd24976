package foreign

import (
	"context"
	"fmt"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// conclude reports the result of every stream after the tap has exited with 0.
func (r *tapRelay) conclude(ctx context.Context) error {
	traffic := r.traffic()
	working, _ := r.where.at(r.a.Kind, traffic.Asked)
	claims, own := map[string]streamClaim{}, map[string]Traffic{}
	for _, name := range r.f.Selected() {
		s := r.streams[name]
		own[name] = traffic.at(func(place int64) bool { return working(s, place) })
		e := streamEvidence{kind: r.a.Kind, begun: s.begun, status: s.status, traffic: own[name]}
		claims[name] = e.claim()
		if r.f.Failed(name) {
			claims[name] = claimFailed
		}
		if claims[name] == claimFailed {
			r.f.Fail(name, e.failure())
		}
		if len(traffic.Refused) == 0 {
			if err := r.deletions(ctx, s, claims[name]); err != nil {
				return err
			}
		}
	}
	r.pending = true // an empty stream is confirmed by its cursor
	if err := r.storeRound(ctx, true); err != nil {
		return err
	}
	for _, name := range r.f.Selected() {
		if err := r.say(ctx, r.streams[name], claims[name], own[name]); err != nil {
			return err
		}
	}
	return nil
}

// deletions sends deletions for records that are missing in an activated version. It waits for the end of a run
// without refusals, because an incomplete version would delete existing records.
func (r *tapRelay) deletions(ctx context.Context, s *sourceStream, c streamClaim) error {
	v := s.versions
	if v == nil || !v.Activated || c == claimFailed || c == claimGapped {
		return nil
	}
	if v.Full {
		return r.f.SendProgress(ctx, protocol.Progress{Stream: s.Name,
			Message: fmt.Sprintf("%s: more than %d records, so that no deletion is inferred", s.Name, maxVersionKeys)})
	}
	declared, _ := r.m.Stream(s.Name)
	if declared.Semantics != manifest.MutableState {
		return nil
	}
	for _, key := range v.missingKeys() {
		if err := r.f.Record(ctx, s.Name, connectorkit.Delete(key)); err != nil {
			return err
		}
	}
	v.settle()
	return nil
}

// brought reports whether the stream had a record, in this run or an earlier one.
func (s *sourceStream) brought() bool { return s.sent > 0 || s.last.Brought }

// refusal declares the refusals of a stream. If a stream never brought anything and only got 404 or 410, the account
// does not have it, and no later run will bring it.
func (r *tapRelay) refusal(s *sourceStream, t Traffic) protocol.SkipResult {
	skip := t.skip(s.Name)
	if _, known := r.where.at(r.a.Kind, t.Asked); known && !s.brought() && t.isAbsent() {
		skip.RecoveryHint = &protocol.RecoveryHint{Action: protocol.UnknownRecovery}
	}
	return skip
}

func (r *tapRelay) say(ctx context.Context, s *sourceStream, c streamClaim, t Traffic) error {
	text := s.Name + ": complete, " + manifest.ReportedByConnector
	switch c {
	case claimFailed:
		return nil
	case claimGapped:
		return r.f.Skip(ctx, r.refusal(s, t))
	case claimUnknown:
		text = s.Name + ": the tap ended well, but its traffic could not be seen, so that nobody can tell whether this is " +
			"everything"
		if err := r.f.Unproven(ctx, s.Name); err != nil {
			return err
		}
	}
	if s.wrong > 0 {
		text += fmt.Sprintf("; %d records do not match the tap's own schema and are kept as they came", s.wrong)
	}
	return r.f.SendProgress(ctx, protocol.Progress{Stream: s.Name, Message: text})
}
