// Package interaction carries answers from the owner to the run that asked.
//
// The two may be in different processes with the database between them. The run creates a key pair per question and
// holds the private key in memory; the owner's surface seals the answer to the public key. The database and its
// backups reveal only that there is an answer. Answers are never logged, and no error contains any part of one.
package interaction

import (
	"context"
	"crypto/hpke"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Store is what questions and answers pass through.
type Store interface {
	OpenInteractions(ctx context.Context, connectionID string) ([]store.Interaction, error)
	AnswerInteraction(ctx context.Context, runID, requestID string, sealed []byte, now time.Time) error
	SealedAnswer(ctx context.Context, runID, requestID string) ([]byte, error)
}

// Mailbox is where the runs of this process wait for their answers. Both fields
// must be set. Its methods are safe for concurrent use.
type Mailbox struct {
	Store Store
	Now   func() time.Time

	mu      sync.Mutex
	waiting map[questionID]*slot
}

// questionID names a question.
type questionID struct{ runID, requestID string }

// slot is a question that waits.
type slot struct {
	key      hpke.PrivateKey
	answered chan struct{} // holds one: the answer may be there
}

// Prepare creates the key of a question. Store it in the question's row before the question is visible. The caller
// must call forget when the question is over, whether it was asked or not.
func (m *Mailbox) Prepare(runID, requestID string) (key []byte, forget func(), err error) {
	private, err := suite.GenerateKey()
	if err != nil {
		return nil, nil, fmt.Errorf("make the key of a question: %w", err)
	}
	at, s := questionID{runID, requestID}, &slot{private, make(chan struct{}, 1)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == nil {
		m.waiting = map[questionID]*slot{}
	}
	m.waiting[at] = s
	return private.PublicKey().Bytes(), func() { m.forget(at, s) }, nil
}

func (m *Mailbox) forget(at questionID, s *slot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting[at] == s {
		delete(m.waiting, at)
	}
}

func (m *Mailbox) at(at questionID) *slot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting[at]
}

var (
	errNotPrepared = errors.New("the question has no key")
	errUnreadable  = errors.New("the answer was not sealed to this question")
)

// withdrawTime bounds the last look at the store when a question ends unanswered.
const withdrawTime = 5 * time.Second

// Ask waits for the answer to a prepared question with an open row, or until ctx ends. If both happen at once, the one
// that reached the store first counts for both sides.
func (m *Mailbox) Ask(ctx context.Context, runID string, q protocol.Interaction) (protocol.InteractionResponse, error) {
	at := questionID{runID, q.RequestID}
	s := m.at(at)
	if s == nil {
		return protocol.InteractionResponse{}, errNotPrepared
	}
	for {
		select {
		case <-s.answered:
			sealed, err := m.Store.SealedAnswer(ctx, runID, q.RequestID)
			if err == nil {
				return open(s.key, at, sealed)
			}
			// The notification came too early, or the store could not be read. It is repeated while the answer waits.
		case <-ctx.Done():
			return m.withdraw(ctx, s, at)
		}
	}
}

// withdraw ends the wait. It takes the place of the answer, so that no later answer is accepted. An answer that came
// first counts.
func (m *Mailbox) withdraw(ctx context.Context, s *slot, at questionID) (protocol.InteractionResponse, error) {
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	err := m.Store.AnswerInteraction(look, at.runID, at.requestID, withdrawn, m.Now())
	if err == nil {
		return protocol.InteractionResponse{}, ctx.Err()
	}
	sealed, err := m.Store.SealedAnswer(look, at.runID, at.requestID)
	if err != nil {
		return protocol.InteractionResponse{}, ctx.Err()
	}
	return open(s.key, at, sealed)
}

// Deliver notifies the question that its answer may exist. It may be called any number of times. It does nothing for
// questions of other processes.
func (m *Mailbox) Deliver(runID, requestID string) {
	s := m.at(questionID{runID, requestID})
	if s == nil {
		return
	}
	select {
	case s.answered <- struct{}{}:
	default:
	}
}
