// Package attention is what the owner is asked to do, as records with a life:
// a required action of a verdict opens one, the evidence that satisfies it moves
// it on, and it is pushed at most once.
//
// It is data and the rules of its life. It decides nothing about health, reads
// no clock and stores nothing.
package attention

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// Record is one action that is asked of the owner.
type Record struct {
	ID           string `json:"attention_id"`
	ConnectionID string `json:"connection_id"`
	// Kind, Contract, Urgency, Affects and Words are the verdict's: what to do, the
	// evidence that shows it done, how soon, for which streams, in which words.
	Kind     string   `json:"kind"`
	Contract string   `json:"satisfied_when"`
	Urgency  string   `json:"urgency"`
	Affects  []string `json:"affects"`
	Words    string   `json:"owner_copy"`
	// Reason is the code of the condition behind it; after a confirmation that
	// failed, the code of that failure.
	Reason string `json:"reason_code"`
	// Occasion tells two actions of the same kind apart, such as two questions.
	// It is empty where there can be only one.
	Occasion string `json:"occasion,omitempty"`

	Lifecycle evidence.Lifecycle `json:"lifecycle"`
	OpenedAt  time.Time          `json:"opened_at"`
	UpdatedAt time.Time          `json:"updated_at"`
	ExpiresAt *time.Time         `json:"expires_at"`
	ClosedAt  *time.Time         `json:"closed_at"`

	// ConfirmAskedAt is when the confirming run was asked for that is under way or
	// was the last; nil before the first. Confirmations counts those that failed.
	ConfirmAskedAt *time.Time `json:"confirm_asked_at"`
	Confirmations  int        `json:"failed_confirmations"`

	Notice   Notice     `json:"notification_state"`
	NoticeAt *time.Time `json:"notification_updated_at"`
	// NoticeWhy is why it was suppressed or failed, in a word.
	NoticeWhy string `json:"notification_reason,omitempty"`

	// Revision is the store's: it rises with every save, and a save of an older
	// revision is refused. Zero is a record that was never saved.
	Revision int64 `json:"revision"`
}

// Notice is what became of the push.
type Notice string

const (
	NoticePending    Notice = "pending"
	NoticeSent       Notice = "sent"
	NoticeFailed     Notice = "failed"
	NoticeSuppressed Notice = "suppressed"
)

// Key is the same for two records that ask for the same thing. Only one record
// of a key is open at a time.
func (r *Record) Key() string {
	return r.ConnectionID + "\x1f" + r.Kind + "\x1f" + r.Contract + "\x1f" + r.Occasion
}

// Open reports whether the owner is still asked, or a confirmation is under way.
func (r *Record) Open() bool { return r.Lifecycle.Waiting() }

// moves are the steps of a life. What is closed stays closed; a confirmation
// that failed asks the owner again.
var moves = map[evidence.Lifecycle][]evidence.Lifecycle{
	evidence.AttentionOpen:         {evidence.AttentionAcknowledged, evidence.AttentionInProgress, evidence.AttentionResolved, evidence.AttentionExpired, evidence.AttentionCancelled, evidence.AttentionSuperseded},
	evidence.AttentionAcknowledged: {evidence.AttentionInProgress, evidence.AttentionResolved, evidence.AttentionExpired, evidence.AttentionCancelled, evidence.AttentionSuperseded},
	evidence.AttentionInProgress:   {evidence.AttentionOpen, evidence.AttentionResolved, evidence.AttentionExpired, evidence.AttentionCancelled, evidence.AttentionSuperseded},
}

// Move takes the record to another point of its life, and reports whether that
// is a step it can take. It changes nothing otherwise.
func (r *Record) Move(to evidence.Lifecycle, now time.Time) bool {
	if !slices.Contains(moves[r.Lifecycle], to) {
		return false
	}
	r.Lifecycle, r.UpdatedAt = to, now
	if !r.Open() {
		r.ClosedAt = &now
	}
	return true
}
