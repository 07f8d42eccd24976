package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// ReadinessCheck is one thing that must hold for the process to do its work.
type ReadinessCheck struct {
	Name  string // public
	Probe func(ctx context.Context) error
}

// Database checks that the store can be read and written.
func Database(store interface{ Check(context.Context) error }) ReadinessCheck {
	return ReadinessCheck{Name: "database", Probe: store.Check}
}

// Scheduler checks that the scheduler of this process reported within the time. The time counts from now on, so that
// a scheduler that never reports is noticed, too.
func Scheduler(reported func() time.Time, within time.Duration) ReadinessCheck {
	began := time.Now()
	return ReadinessCheck{Name: "scheduler", Probe: func(context.Context) error {
		last := reported()
		if last.Before(began) {
			last = began
		}
		if time.Since(last) > within {
			return errors.New("the scheduler has not reported in time")
		}
		return nil
	}}
}

const (
	probeTimeout = 2 * time.Second
	// answerAge is how long an answer is reused: checks write to the database, and any client may ask.
	answerAge = time.Second
)

// readiness answers whether every check passes. Its answer names the checks and
// nothing of what they found; that is in the log, once per change.
type readiness struct {
	checks []ReadinessCheck
	log    *slog.Logger

	mu     sync.Mutex
	made   time.Time
	answer readyAnswer
}

type readyAnswer struct {
	Status string        `json:"status" enum:"ready,not_ready"`
	Checks []checkAnswer `json:"checks"`
}

type checkAnswer struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
}

func (r *readiness) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	answer := r.current(context.WithoutCancel(req.Context()))
	status := http.StatusOK
	if answer.Status != "ready" {
		status = http.StatusServiceUnavailable
	}
	reply.JSON(w, status, answer)
}

// current returns the last answer while it is recent and probes otherwise. One caller probes for all waiting ones.
func (r *readiness) current(ctx context.Context) readyAnswer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.made.IsZero() && time.Since(r.made) < answerAge {
		return r.answer
	}
	before := r.answer.Checks
	r.answer = readyAnswer{Status: "ready", Checks: make([]checkAnswer, len(r.checks))}
	for i, err := range r.probe(ctx) {
		name := r.checks[i].Name
		r.answer.Checks[i] = checkAnswer{Name: name, OK: err == nil}
		wasOK := before == nil || before[i].OK
		switch {
		case err != nil && wasOK:
			r.log.Warn("not ready", "check", name, "error", err)
		case err == nil && !wasOK:
			r.log.Info("ready again", "check", name)
		}
		if err != nil {
			r.answer.Status = "not_ready"
		}
	}
	r.made = time.Now()
	return r.answer
}

// probe makes all checks at once, within the time of one.
func (r *readiness) probe(ctx context.Context) []error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	errs := make([]error, len(r.checks))
	var all sync.WaitGroup
	for i, check := range r.checks {
		all.Go(func() { errs[i] = check.Probe(ctx) })
	}
	all.Wait()
	return errs
}
