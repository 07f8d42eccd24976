package service

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
)

// Revoke ends a connection. From the first step on no worker takes it up; doing it
// again completes what was interrupted.
func (s *Service) Revoke(ctx context.Context, id string) error {
	conn, err := s.find.Connection(ctx, id)
	if err != nil {
		return err
	}
	if conn.Status != store.ConnectionRevoked {
		conn.Status, conn.UpdatedAt = store.ConnectionRevoked, s.Now()
		if err := s.Store.UpdateConnection(ctx, conn); err != nil {
			return faults.Error(err, "end the connection")
		}
	}
	if _, err := scheduler.Cancel(ctx, s.Store, id, s.Now()); err != nil && !errors.Is(err, store.ErrNotFound) {
		return faults.Error(err, "stop its run")
	}
	if err := s.Store.DeleteCredential(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return faults.Error(err, "delete its credential")
	}
	if err := s.Store.DropBrowserProfiles(ctx, id); err != nil {
		return faults.Error(err, "delete its browser profile")
	}
	if err := s.Store.DeleteSchedule(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return faults.Error(err, "delete its schedule")
	}
	return s.withdraw(ctx, id)
}

// saveTries is how often a record is read again that somebody else saved meanwhile.
const saveTries = 5

// withdraw closes what the owner is still asked about an ended connection.
func (s *Service) withdraw(ctx context.Context, id string) error {
	return s.changeAttention(ctx, id, func(r *attention.Record) bool { return r.Move(evidence.AttentionCancelled, s.Now()) })
}

// changeAttention applies a change to the open records of a connection, and reads
// them again when somebody else saved one meanwhile.
func (s *Service) changeAttention(ctx context.Context, id string, change func(*attention.Record) bool) error {
	var err error
	for range saveTries {
		var open, changed []attention.Record
		open, err = s.Store.Attention(ctx, store.AttentionQuery{ConnectionIDs: []string{id}})
		if err != nil {
			return faults.Error(err, "read what was asked")
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
	return faults.Error(err, "save what was asked")
}
