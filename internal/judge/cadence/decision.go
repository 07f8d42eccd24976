package cadence

import "time"

// Decision is whether a scheduled run may start now, and why.
type Decision struct {
	Due bool `json:"due"`
	// RecoveryOnly means that the run may only retry gaps.
	RecoveryOnly bool   `json:"recovery_only"`
	Why          Reason `json:"why"`
	// At is when the next attempt may start, or since when a due run has been due. It is nil when no passage of time
	// makes the run due.
	At *time.Time `json:"next_attempt_at"`
}

// Reason is why a connection is due or not.
type Reason string

const (
	Due                Reason = "due"
	Running            Reason = "running"
	ConnectionInactive Reason = "connection_inactive" // revoked or not set up
	Unreadable         Reason = "evidence_unreadable"
	OwnerPaused        Reason = "owner_paused"
	NoSchedule         Reason = "no_schedule"
	PolicyIneligible   Reason = "policy_ineligible" // only the owner may start a run
	AttentionOpen      Reason = "attention_open"
	CredentialRejected Reason = "credential_rejected"
	GaveUp             Reason = "gave_up"
	ProviderWait       Reason = "provider_wait" // announced by the provider or found by the governor
	InBackoff          Reason = "backoff"
	SourcePressure     Reason = "source_pressure"
	NotYet             Reason = "not_yet"
)

// Reasons lists all reasons in the order in which the rules are tried.
var Reasons = []Reason{
	Running, ConnectionInactive, Unreadable, OwnerPaused, NoSchedule, PolicyIneligible, AttentionOpen, CredentialRejected,
	GaveUp, ProviderWait, InBackoff, SourcePressure, NotYet, Due,
}
