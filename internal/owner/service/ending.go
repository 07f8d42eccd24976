package service

import (
	"context"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Revoke ends a connection. From the first step on no worker takes it up; doing it
// again completes what was interrupted. A draft is deleted.
func (s *Service) Revoke(ctx context.Context, id string) error {
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return err
	}
	if conn.Status == store.ConnectionDraft {
		return faults.OwnerError(s.Store.DiscardDrafts(ctx, id, time.Time{}), "delete the unfinished connection")
	}
	if conn.Status != store.ConnectionRevoked {
		conn.Status, conn.UpdatedAt = store.ConnectionRevoked, s.Now()
		if err := s.Store.UpdateConnection(ctx, conn); err != nil {
			return faults.OwnerError(err, "end the connection")
		}
	}
	if _, err := scheduler.Cancel(ctx, s.Store, id, s.Now()); err != nil && !errors.Is(err, store.ErrNotFound) {
		return faults.OwnerError(err, "stop its run")
	}
	if err := s.Store.DeleteCredential(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return faults.OwnerError(err, "delete its credential")
	}
	if err := s.Store.DropBrowserProfiles(ctx, id); err != nil {
		return faults.OwnerError(err, "delete its browser profile")
	}
	if err := s.Store.DeleteSchedule(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return faults.OwnerError(err, "delete its schedule")
	}
	return s.withdrawAttention(ctx, id)
}

// saveTries is how often a save is retried after another process saved the same record.
const saveTries = 5

// withdrawAttention closes what the owner is still asked about an ended connection.
func (s *Service) withdrawAttention(ctx context.Context, id string) error {
	return s.changeAttention(ctx, id,
		func(r *attention.AttentionRecord) bool { return r.Move(evidence.AttentionCancelled, s.Now()) })
}

// changeAttention applies a change to the open attention records of a connection. It reads them again if another
// process saved one in the meantime.
func (s *Service) changeAttention(ctx context.Context, id string, change func(*attention.AttentionRecord) bool) error {
	var err error
	for range saveTries {
		var open, changed []attention.AttentionRecord
		open, err = s.Store.Attention(ctx, store.AttentionQuery{ConnectionIDs: []string{id}})
		if err != nil {
			return faults.OwnerError(err, "read what was asked")
		}
		for i := range open {
			if change(&open[i]) {
				changed = append(changed, open[i])
			}
		}
		if len(changed) == 0 {
			return nil
		}
		if err = s.Store.SaveAttention(ctx, changed, nil); !errors.Is(err, store.ErrStale) {
			break
		}
	}
	return faults.OwnerError(err, "save what was asked")
}
