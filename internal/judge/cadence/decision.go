package cadence

import "time"

// Decision is whether a scheduled run may start now.
type Decision struct {
	Due bool `json:"due"`
	// RecoveryOnly says that the run may retry what is missing, and nothing else.
	RecoveryOnly bool   `json:"recovery_only"`
	Why          Reason `json:"why"`
	// At is when the next attempt may start, for one that is due since when; nil
	// when that is not a matter of time.
	At *time.Time `json:"next_attempt_at"`
}

// Reason is why a connection is due or not.
type Reason string

const (
	Due                Reason = "due"
	Running            Reason = "running"
	ConnectionInactive Reason = "connection_inactive" // revoked, or not set up yet
	Unreadable         Reason = "evidence_unreadable"
	OwnerPaused        Reason = "owner_paused"
	NoSchedule         Reason = "no_schedule"
	PolicyIneligible   Reason = "policy_ineligible" // only the owner may start a run
	AttentionOpen      Reason = "attention_open"
	CredentialRejected Reason = "credential_rejected"
	GaveUp             Reason = "gave_up"
	ProviderWait       Reason = "provider_wait" // announced by the provider, or found by the governor
	InBackoff          Reason = "backoff"
	SourcePressure     Reason = "source_pressure"
	NotYet             Reason = "not_yet"
)

// Reasons lists all of them, in the order in which they are looked for.
var Reasons = []Reason{
	Running, ConnectionInactive, Unreadable, OwnerPaused, NoSchedule, PolicyIneligible, AttentionOpen, CredentialRejected,
	GaveUp, ProviderWait, InBackoff, SourcePressure, NotYet, Due,
}
