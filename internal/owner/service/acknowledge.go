package service

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// mostRetried limits how many gaps one request of the owner makes eligible for retry. A run processes gaps in pages;
// the remaining gaps become eligible later.
const mostRetried = 10_000

// Acknowledge does what an action of the kind asks for, where saying so is enough.
func (s *Service) Acknowledge(ctx context.Context, id, actionKind string) error {
	conn, err := s.find.ActiveConnection(ctx, id)
	if err != nil {
		return err
	}
	switch verdict.ActionKind(actionKind) {
	case verdict.ReattachSchedule:
		return s.reattachConnection(ctx, conn)
	case verdict.RefreshNow:
		return s.Run(ctx, id)
	case verdict.RetryGap, verdict.Backfill:
		if err := s.retryGaps(ctx, id); err != nil {
			return err
		}
		return s.Run(ctx, id)
	default:
		return api.Invalid("action_kind", "This asks for more than a yes.",
			"Do what the connection's page asks for; it is noticed when you have.")
	}
}

// reattachConnection accepts the offer to switch the schedule on again. The worker that made the
// offer does it and confirms it with one run; where no offer was made yet it is
// done here.
func (s *Service) reattachConnection(ctx context.Context, conn store.Connection) error {
	offered := false
	err := s.changeAttention(ctx, conn.ID, func(r *attention.AttentionRecord) bool {
		if r.Kind != string(verdict.ReattachSchedule) {
			return false
		}
		offered = true
		return r.Move(evidence.AttentionAcknowledged, s.Now())
	})
	if err != nil {
		return err
	}
	if !offered {
		if err := s.resumeSchedule(ctx, conn); err != nil {
			return err
		}
	}
	return faults.OwnerError(s.Store.MarkChanged(ctx, conn.ID), "ask for a look")
}

func (s *Service) resumeSchedule(ctx context.Context, conn store.Connection) error {
	if conn.Status == store.ConnectionPaused {
		conn.Status, conn.UpdatedAt = store.ConnectionActive, s.Now()
		if err := s.Store.UpdateConnection(ctx, conn); err != nil {
			return faults.OwnerError(err, "put the connection in use again")
		}
	}
	kept, err := s.Store.Schedule(ctx, conn.ID)
	if errors.Is(err, store.ErrNotFound) {
		return api.Invalid("action_kind", "The connection has no schedule to switch on.", "Set how often it should collect.")
	}
	if err != nil {
		return faults.OwnerError(err, "read the schedule")
	}
	if kept.Enabled {
		return nil
	}
	kept.Enabled, kept.UpdatedAt = true, s.Now()
	if err := s.Store.PutSchedule(ctx, kept); err != nil {
		return faults.OwnerError(err, "switch the schedule on")
	}
	return s.requestManualRun(ctx, conn.ID)
}

// retryGaps makes what waits for a later try eligible at once. What the owner ignored
// and what no run can collect stays as it is.
func (s *Service) retryGaps(ctx context.Context, id string) error {
	now := s.Now()
	gaps, err := s.Store.ListGaps(ctx, store.GapQuery{ConnectionID: id, Status: protocol.GapPending, Limit: mostRetried})
	if err != nil {
		return faults.OwnerError(err, "list what is missing")
	}
	for _, g := range gaps {
		if g.NotBefore == nil || !g.NotBefore.After(now) || g.IgnoredWhy != "" {
			continue
		}
		if _, err := s.Store.RetryGap(ctx, g.ID, now); err != nil && !errors.Is(err, store.ErrNotFound) {
			return faults.OwnerError(err, "try a gap again")
		}
	}
	return nil
}
