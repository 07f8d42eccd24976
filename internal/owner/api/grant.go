package api

import (
	"time"

	"github.com/pdpp-go/pdpp/internal/view"
)

// Grant lets a client read a part of the records.
type Grant struct {
	ID         string        `json:"grant_id"`
	ClientID   string        `json:"client_id"`
	ClientName string        `json:"client_name"`
	Purpose    string        `json:"purpose"`
	Mode       string        `json:"access_mode" enum:"single_use,continuous"`
	Streams    []GrantStream `json:"streams"`
	Status     string        `json:"status" enum:"active,expired,revoked,consumed"`
	CreatedAt  time.Time     `json:"created_at"`
	ExpiresAt  *time.Time    `json:"expires_at"`
	RevokedAt  *time.Time    `json:"revoked_at"`
	LastUsedAt *time.Time    `json:"last_used_at"`
	Uses       int64         `json:"uses"`
	Records    int64         `json:"records"` // that were read, each as often as it was
	Usage      []GrantUsage  `json:"usage"`   // by stream; only of a single grant
}

// GrantStream is a part of one stream of one connection.
type GrantStream struct {
	ConnectionID string     `json:"connection_id"`
	Stream       string     `json:"name"`
	Fields       []string   `json:"fields,omitempty"`    // empty means all
	Resources    []string   `json:"resources,omitempty"` // keys, or values of ResourceField; empty means all
	Since        *time.Time `json:"since,omitempty"`
	Until        *time.Time `json:"until,omitempty"`
	// ResourceField is the field that the resources are values of, as the connector declares it. Empty means that the
	// resources are keys. Requests cannot set it.
	ResourceField string `json:"resource_field,omitempty"`
}

// GrantProfile is a selection of streams of a connection that its connector declares.
type GrantProfile struct {
	ConnectionID string `json:"connection_id"`
	Profile      string `json:"profile"`
}

// GrantUsage counts reads.
type GrantUsage struct {
	Stream     string    `json:"stream"`
	Reads      int64     `json:"reads"`
	Records    int64     `json:"records"`
	LastUsedAt time.Time `json:"last_used_at"`
}

// NewGrant asks for a grant.
type NewGrant struct {
	ClientName string        `json:"client_name"`
	Purpose    string        `json:"purpose" required:"false"`
	Mode       string        `json:"access_mode" enum:"single_use,continuous" required:"false"`
	Streams    []GrantStream `json:"streams" nullable:"true"`
	// Profiles name more streams, as connectors declare them now.
	Profiles []GrantProfile `json:"profiles,omitempty"`
	GrantEnd
}

const UsualGrantDays = 90 // how many days a grant lasts by default, on every surface

// GrantEnd is when a grant ends. Neither means after UsualGrantDays, or of a request after the
// time that it was shown with.
type GrantEnd struct {
	ExpiresAt    *time.Time `json:"expires_at,omitempty" nullable:"request"` // after 90 days by default
	NeverExpires bool       `json:"never_expires,omitempty"`                 // until the owner takes it back
}

// Decision is the owner's answer to an app.
type Decision struct {
	Approve bool `json:"approve"`
	// Streams is what the owner chose. If it is empty, a request that names its streams is granted as it is.
	Streams []GrantStream `json:"streams,omitempty"`
	GrantEnd
}

// GrantRequest is what an app asks for, before the owner has answered.
type GrantRequest struct {
	ID         string `json:"request_id"`
	ClientID   string `json:"client_id"`
	ClientName string `json:"client_name"`
	// ReturnsTo is the host that the browser goes back to.
	ReturnsTo string `json:"returns_to"`
	// OwnerChooses means that the app named no streams: Streams lists what can be chosen, and only what the decision
	// names is granted.
	OwnerChooses bool          `json:"owner_chooses"`
	Purpose      string        `json:"purpose"`
	Mode         string        `json:"access_mode" enum:"single_use,continuous"`
	Streams      []GrantStream `json:"streams"`
	// Missing names what else was asked for, and is not here to be granted.
	Missing   []string   `json:"not_available"`
	ExpiresAt *time.Time `json:"expires_at"` // of the grant that it would become
}

// PushTarget is where pushes go. Kind is web_push, webhook or ntfy.
type PushTarget struct {
	ID            string     `json:"target_id"`
	Kind          string     `json:"kind" enum:"web_push,webhook,ntfy"`
	Label         string     `json:"label"`
	Host          string     `json:"host"`
	CreatedAt     time.Time  `json:"created_at"`
	LastSuccessAt *time.Time `json:"last_success_at"`
	LastFailure   string     `json:"last_failure,omitempty"`
	RetiredAt     *time.Time `json:"retired_at"`
}

// PushTest is how the test of a target went. Error is nil when it took it.
type PushTest struct {
	Target string       `json:"target_id"`
	Label  string       `json:"label"` // or where it goes, without one
	Error  *PushFailure `json:"error"`
}

// PushFailure explains why a target did not accept a test, and what to do about it.
type PushFailure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Next    string `json:"next_step"`
}

// NewPushTarget adds one. P256DH and Auth are a browser's keys.
type NewPushTarget struct {
	Kind     string `json:"kind"`
	Label    string `json:"label" required:"false"`
	Endpoint string `json:"endpoint"`
	P256DH   string `json:"p256dh,omitempty"`
	Auth     string `json:"auth,omitempty"`
	Secret   string `json:"secret,omitempty"`
}

// Runtime is how the parts that serve every connection are.
type Runtime struct {
	Indicator *view.RuntimeIndicator `json:"runtime_indicator"` // nil while all of them are well
	Backup    string                 `json:"backup,omitempty"`  // a sentence; empty: none was made on a schedule
	Version   string                 `json:"version"`
	Database  string                 `json:"database"` // sqlite or postgres
	Home      string                 `json:"home"`
	VAPIDKey  string                 `json:"web_push_public_key"`
	Workers   []Worker               `json:"workers"`
	StartedAt time.Time              `json:"started_at"`
}
