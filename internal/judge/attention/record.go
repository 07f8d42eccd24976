// Package attention holds the actions asked of the owner as records with a lifecycle. A verdict's required action
// opens a record, evidence that satisfies it closes it, and the owner is notified at most once.
//
// The package holds data and lifecycle rules. It makes no health decisions, reads no clock and stores nothing.
package attention

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

// AttentionRecord is one action that is asked of the owner.
type AttentionRecord struct {
	ID           string `json:"attention_id"`
	ConnectionID string `json:"connection_id"`
	// Kind, Contract, Urgency, Affects and Words come from the verdict: what to do, the evidence that proves it done,
	// how soon, for which streams, and the text shown.
	Kind     string   `json:"kind"`
	Contract string   `json:"satisfied_when"`
	Urgency  string   `json:"urgency"`
	Affects  []string `json:"affects" nullable:"true"`
	Words    string   `json:"owner_copy"`
	// Reason is the code of the condition behind the record. After a failed confirmation it is the code of that failure.
	Reason string `json:"reason_code"`
	// Occasion distinguishes two actions of the same kind, such as two questions. It is empty where there can be only
	// one.
	Occasion string `json:"occasion,omitempty"`

	Lifecycle evidence.Lifecycle `json:"lifecycle"`
	OpenedAt  time.Time          `json:"opened_at"`
	UpdatedAt time.Time          `json:"updated_at"`
	ExpiresAt *time.Time         `json:"expires_at"`
	ClosedAt  *time.Time         `json:"closed_at"`

	// ConfirmAskedAt is when the current or latest confirming run was requested; nil before the first. Confirmations
	// counts the failed ones.
	ConfirmAskedAt *time.Time `json:"confirm_asked_at"`
	Confirmations  int        `json:"failed_confirmations"`

	Notice   Notice     `json:"notification_state"`
	NoticeAt *time.Time `json:"notification_updated_at"`
	// NoticeWhy is a code for why the notification was suppressed or failed.
	NoticeWhy string `json:"notification_reason,omitempty"`

	// Revision rises with every save; the store rejects a save of an older revision. Zero means never saved.
	Revision int64 `json:"revision"`
}

// Notice is the state of the record's notification.
type Notice string

const (
	NoticePending    Notice = "pending"
	NoticeSent       Notice = "sent"
	NoticeFailed     Notice = "failed"
	NoticeSuppressed Notice = "suppressed"
)

// Key is equal for two records that ask for the same action. At most one record of a key is open.
func (r *AttentionRecord) Key() string {
	return r.ConnectionID + "\x1f" + r.Kind + "\x1f" + r.Contract + "\x1f" + r.Occasion
}

// Open reports whether the record waits for the owner or for a confirmation in progress.
func (r *AttentionRecord) Open() bool { return r.Lifecycle.Waiting() }

// transitions lists the allowed next states. Closed records stay closed; a failed confirmation reopens the record.
var transitions = map[evidence.Lifecycle][]evidence.Lifecycle{
	evidence.AttentionOpen: {evidence.AttentionAcknowledged, evidence.AttentionInProgress,
		evidence.AttentionResolved, evidence.AttentionExpired, evidence.AttentionCancelled, evidence.AttentionSuperseded},
	evidence.AttentionAcknowledged: {evidence.AttentionInProgress, evidence.AttentionResolved, evidence.AttentionExpired,
		evidence.AttentionCancelled, evidence.AttentionSuperseded},
	evidence.AttentionInProgress: {evidence.AttentionOpen, evidence.AttentionResolved, evidence.AttentionExpired,
		evidence.AttentionCancelled, evidence.AttentionSuperseded},
}

// Move changes the lifecycle state if that transition is allowed, and reports whether it did.
func (r *AttentionRecord) Move(to evidence.Lifecycle, now time.Time) bool {
	if !slices.Contains(transitions[r.Lifecycle], to) {
		return false
	}
	r.Lifecycle, r.UpdatedAt = to, now
	if !r.Open() {
		r.ClosedAt = &now
	}
	return true
}
