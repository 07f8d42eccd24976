package manifest

import "encoding/json"

// Capabilities is metadata about how a connector behaves.
type Capabilities struct {
	HumanInteraction   []HumanInteraction `json:"human_interaction,omitempty" rule:"unique" doc:"Kinds of help that a run may ask of the owner."`
	RefreshPolicy      *RefreshPolicy     `json:"refresh_policy,omitempty" doc:"Scheduling hints of the reference runtime. Non-normative metadata: not part of the core protocol."`
	PublicListing      *PublicListing     `json:"public_listing,omitempty" doc:"How the connector appears in a public catalogue."`
	Proven             json.RawMessage    `json:"proven,omitempty" doc:"Evidence that the connector works with a live account."`
	Auth               *Auth              `json:"auth,omitempty" doc:"How the provider authorises access, and through which variables that reaches the connector."`
	BrowserSurfaceKind string             `json:"browser_surface_kind,omitempty" doc:"The browser page that the connector works on."`
	RecordIdentity     json.RawMessage    `json:"record_identity,omitempty" doc:"How records of different runs are recognised as the same."`
}

// PublicListing is how a connector appears in a public catalogue.
type PublicListing struct {
	Tier      string `json:"tier,omitempty" doc:"Support tier."`
	Rationale string `json:"rationale,omitempty" doc:"Why this tier."`
	ProofGate string `json:"proof_gate,omitempty" doc:"What would have to be shown for another tier."`
}

// RefreshPolicy contains scheduling hints for the schedule and the owner. The protocol does not depend on them.
// Zero numbers are not declared.
type RefreshPolicy struct {
	RecommendedMode            RefreshMode        `json:"recommended_mode" rule:"required" doc:"Who should start a refresh."`
	Rationale                  string             `json:"rationale" rule:"required" doc:"Why, in words for the owner, including what a refresh asks of them."`
	RecommendedIntervalSeconds int                `json:"recommended_interval_seconds,omitempty" rule:"min=1" doc:"Suggested time between runs; at least the minimum."`
	MinimumIntervalSeconds     int                `json:"minimum_interval_seconds,omitempty" rule:"min=1" doc:"Shortest time between runs that is safe."`
	MaximumStalenessSeconds    int                `json:"maximum_staleness_seconds,omitempty" rule:"min=1" doc:"Age at which data counts as stale. Absent: freshness is unknown."`
	InteractionPosture         InteractionPosture `json:"interaction_posture,omitempty" doc:"What a typical refresh asks of the owner."`
	SessionLifetimeSeconds     int                `json:"session_lifetime_seconds,omitempty" rule:"min=1" doc:"How long a sign-in usually lasts."`
	RateLimitSensitivity       Sensitivity        `json:"rate_limit_sensitivity,omitempty" doc:"How soon the provider throttles."`
	BotDetectionSensitivity    Sensitivity        `json:"bot_detection_sensitivity,omitempty" doc:"How soon the provider suspects a bot."`
	BackgroundSafe             *bool              `json:"background_safe,omitempty" doc:"Whether a run may start without the owner. Absent: not stated."`
	AssistedAfterOwnerAuth     bool               `json:"assisted_after_owner_auth,omitempty" doc:"Whether runs can go on unattended once the owner has signed in. Absent: false."`
	MaxCooldownCycles          int                `json:"max_cooldown_cycles,omitempty" rule:"min=1,max=24" doc:"Cool-downs in a row before the owner is asked."`
	MaxRecoveryAttempts        int                `json:"max_recovery_attempts,omitempty" rule:"min=1,max=20" doc:"Attempts at one gap before it is final."`
}

// ManualOnly reports whether only the owner may start a run: the mode is manual
// or paused, or background_safe is explicitly false. Without a policy it is false.
func (p *RefreshPolicy) ManualOnly() bool {
	if p == nil {
		return false
	}
	ownerNeeded := p.BackgroundSafe != nil && !*p.BackgroundSafe
	return ownerNeeded || p.RecommendedMode == RefreshManual || p.RecommendedMode == RefreshPaused
}
