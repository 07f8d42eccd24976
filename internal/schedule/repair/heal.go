package repair

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
)

// Heal is the result of checking one connection, as shown to clients.
type Heal struct {
	Object       string     `json:"object"` // connection_self_heal
	ConnectionID string     `json:"connection_id"`
	Status       HealStatus `json:"status"`
	// Satisfied are the completed actions that no run has confirmed yet.
	Satisfied []SatisfiedAction `json:"satisfied_actions"`
	// Confirming is the requested confirming run that has not ended.
	Confirming *Confirming `json:"confirming_run,omitempty"`
	// TerminalStatus is how the confirming run ended that this check evaluated.
	TerminalStatus string `json:"terminal_status,omitempty"`
	// ErrorCode is why it is blocked, and NotBefore when to check again.
	ErrorCode Hold       `json:"error_code,omitempty"`
	NotBefore *time.Time `json:"not_before,omitempty"`
}

// HealStatus is what happens with the satisfied actions.
type HealStatus string

const (
	NoSatisfiedAction HealStatus = "no_satisfied_action"
	ActiveRunExists   HealStatus = "active_run_exists"
	Started           HealStatus = "started"
	Blocked           HealStatus = "blocked"
)

// SatisfiedAction is an action that the evidence shows as done.
type SatisfiedAction struct {
	AttentionID string `json:"attention_id"`
	Kind        string `json:"kind"`
	Contract    string `json:"satisfied_when"`
}

// Confirming is a requested confirming run.
type Confirming struct {
	ConnectionID string    `json:"connection_id"`
	AskedAt      time.Time `json:"asked_at"`
}

const healObject = "connection_self_heal"

func newHeal(id string, p *Plan, now time.Time) Heal {
	h := Heal{
		Object: healObject, ConnectionID: id, Status: NoSatisfiedAction, Satisfied: []SatisfiedAction{},
		TerminalStatus: string(p.Settled), NotBefore: p.NotBefore,
	}
	for i := range p.Satisfied {
		h.Satisfied = append(h.Satisfied, satisfiedAction(&p.Satisfied[i]))
	}
	asked := p.Confirming
	switch {
	case p.Run:
		h.Status, asked = Started, &now
	case p.Hold == HoldRunActive || p.Hold == HoldConfirming:
		h.Status = ActiveRunExists
	case p.Hold != "":
		h.Status, h.ErrorCode = Blocked, p.Hold
	}
	if asked != nil {
		h.Confirming = &Confirming{ConnectionID: id, AskedAt: *asked}
	}
	return h
}

func satisfiedAction(r *attention.AttentionRecord) SatisfiedAction {
	return SatisfiedAction{AttentionID: r.ID, Kind: r.Kind, Contract: r.Contract}
}
