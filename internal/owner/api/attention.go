package api

import (
	"encoding/json"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
)

// Attention is what the owner is asked to do.
type Attention struct {
	Items []AttentionItem `json:"attention"`
	// Other are questions of runs that no item is about yet.
	Other []OpenQuestion `json:"other_questions"`
}

// AttentionItem is one thing that the owner is asked to do, with the questions that it is about.
type AttentionItem struct {
	attention.AttentionRecord
	Questions []OpenQuestion `json:"questions"`
}

// OpenQuestion is a question that a run has for the owner.
type OpenQuestion struct {
	RequestID    string          `json:"request_id"`
	RunID        string          `json:"run_id"`
	ConnectionID string          `json:"connection_id"`
	Kind         string          `json:"kind"`
	Message      string          `json:"message"`
	Schema       json.RawMessage `json:"schema,omitempty"`
	Stream       string          `json:"stream,omitempty"`
	// Answerable means that it can be answered anywhere, and not only where the run was started.
	Answerable bool       `json:"answerable"`
	OpenedAt   time.Time  `json:"opened_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
}

// AttentionQuery picks what is open, or with All also what is settled.
type AttentionQuery struct {
	All bool `query:"all"` // also what is settled
}
