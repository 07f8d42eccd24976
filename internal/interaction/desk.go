// Package interaction holds the open questions to the owner. A run registers a
// question and waits; an owner surface lists what is open and answers it.
//
// Answers pass from the surface to the waiting run in memory only. They are
// not kept, logged or returned by anything else.
package interaction

import (
	"context"
	"errors"
	"slices"
	"sync"

	"pdpp/protocol"
)

// Errors that answering can meet.
var (
	ErrNotOpen       = errors.New("no_pending_interaction")
	ErrInvalidStatus = errors.New("invalid_status")
)

// Desk is where questions wait. The zero value is ready to use.
type Desk struct {
	mu   sync.Mutex
	open []*question
}

type question struct {
	Question
	answer chan protocol.InteractionResponse
}

// Question is an open question of a run.
type Question struct {
	RunID string
	protocol.Interaction
}

// Ask registers the question and waits for its answer, or until ctx ends: then
// the question is withdrawn and ctx's error returned.
func (d *Desk) Ask(ctx context.Context, runID string, i protocol.Interaction) (protocol.InteractionResponse, error) {
	q := &question{Question{runID, i}, make(chan protocol.InteractionResponse, 1)}
	d.mu.Lock()
	d.open = append(d.open, q)
	d.mu.Unlock()
	select {
	case r := <-q.answer:
		return r, nil
	case <-ctx.Done():
	}
	if d.withdraw(q) {
		return protocol.InteractionResponse{}, ctx.Err()
	}
	return <-q.answer, nil // the answer won the race: it counts
}

// Open lists the questions that wait, oldest first; an empty run id means all.
func (d *Desk) Open(runID string) []Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Question
	for _, q := range d.open {
		if runID == "" || q.RunID == runID {
			out = append(out, q.Question)
		}
	}
	return out
}

// Answer ends a question, once. Status is success or cancelled.
func (d *Desk) Answer(runID string, r protocol.InteractionResponse) error {
	if r.Status != protocol.ResponseSuccess && r.Status != protocol.ResponseCancelled {
		return ErrInvalidStatus
	}
	d.mu.Lock()
	i := slices.IndexFunc(d.open, func(q *question) bool { return q.RunID == runID && q.RequestID == r.RequestID })
	var q *question
	if i >= 0 {
		q = d.open[i]
		d.open = slices.Delete(d.open, i, i+1)
	}
	d.mu.Unlock()
	if q == nil {
		return ErrNotOpen
	}
	q.answer <- r
	return nil
}

// withdraw takes the question off the desk; false when it was answered already.
func (d *Desk) withdraw(q *question) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.open, q)
	if i < 0 {
		return false
	}
	d.open = slices.Delete(d.open, i, i+1)
	return true
}
