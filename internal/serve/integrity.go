package serve

import (
	"context"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	// verifyEvery is how long a check of the whole database counts.
	verifyEvery = 7 * 24 * time.Hour
	// verifyLook is how often it is looked whether a check is due.
	verifyLook = time.Hour
	// verifyWithin bounds one check, which reads the whole file.
	verifyWithin = 30 * time.Minute
)

// verifies is a database that finds damage in itself.
type verifies interface {
	VerifyIntegrity(ctx context.Context) (checked bool, err error)
}

// verifyDatabase checks the whole database about once a week, while no run is active, for as long as the process
// runs. A damaged one is checked again after each start.
func (s *process) verifyDatabase(ctx context.Context) {
	database, ok := s.Store.(verifies)
	for due := s.damageKnown(ctx); ok; due = false {
		if due || s.verificationDue(ctx) {
			s.verifyOnce(ctx, database)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(verifyLook):
		}
	}
}

// integrity returns what the last check reported, if there was one.
func (s *process) integrity(ctx context.Context) (last evidence.Component, known bool, err error) {
	rt, err := s.Store.Runtime(ctx)
	for _, c := range rt.Components {
		if c.Name == store.ComponentDatabase {
			return c, true, nil
		}
	}
	return last, false, err
}

func (s *process) damageKnown(ctx context.Context) bool {
	last, known, err := s.integrity(ctx)
	return err == nil && known && last.Status == evidence.ProbeFailed
}

func (s *process) verificationDue(ctx context.Context) bool {
	last, known, err := s.integrity(ctx)
	if err != nil || known && s.Now().Sub(last.At) < verifyEvery {
		return false
	}
	active, err := s.Store.ListRuns(ctx, store.RunQuery{Status: store.RunRunning, Limit: 1})
	return err == nil && len(active) == 0
}

// verifyOnce checks the database and reports the result. A check that takes too long reports nothing.
func (s *process) verifyOnce(ctx context.Context, database verifies) {
	limited, cancel := context.WithTimeout(ctx, verifyWithin)
	defer cancel()
	var damage *store.FaultError
	checked, err := database.VerifyIntegrity(limited)
	c := evidence.Component{Name: store.ComponentDatabase, Status: evidence.ProbeOK, At: s.Now()}
	switch {
	case ctx.Err() != nil || err == nil && !checked:
		return
	case limited.Err() != nil:
		s.Log.WarnContext(ctx, "the check of the whole database took too long and was ended; "+
			"pdpp doctor makes one without a limit", "limit", verifyWithin)
		return
	case errors.As(err, &damage) && damage.Fault == store.FaultCorrupt:
		c.Status, c.Reason = evidence.ProbeFailed, "database_damaged"
		s.Log.ErrorContext(ctx, "the database is damaged; restore the newest backup", "error", err)
	case err != nil:
		s.Log.WarnContext(ctx, "the whole database could not be checked; it is tried again", "error", err)
		return
	}
	if err := s.Store.PutComponent(ctx, c); err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "the result of the check of the database could not be stored", "error", err)
	}
}
