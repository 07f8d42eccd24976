package evidence

import (
	"time"

	"github.com/pdpp-go/pdpp/manifest"
)

// Evidence is everything that is known of one connection.
type Evidence struct {
	Connection Connection `json:"connection"`
	// Refresh is the manifest's refresh policy; nil when it declares none.
	Refresh *manifest.RefreshPolicy `json:"refresh"`
	// Streams are the manifest's streams, in its order.
	Streams []Stream `json:"streams"`
	// Records is what the store retains; nil when it was not counted.
	Records *Records `json:"records"`

	// Active is the run under way; nil when there is none.
	Active *ActiveRun `json:"active_run"`
	// RequestedAt is when a run was asked for that has not begun; nil when none waits.
	RequestedAt *time.Time `json:"run_requested_at,omitempty"`
	// LastRun is the newest run that ended and has a say; nil when there is none. One by
	// which a device only delivered says nothing that its heartbeats do not.
	LastRun *Run `json:"last_run"`
	// LastSuccessAt is when the newest succeeded run ended, on any trigger.
	LastSuccessAt *time.Time `json:"last_success_at"`
	// Rate is the pace that the newest run reported last; nil when it reported none.
	Rate *Rate `json:"collection_rate"`

	// Schedule is nil when the connection has none.
	Schedule *Schedule `json:"schedule"`
	// Waits are what the provider is being left alone for, by sender; nil when they
	// could not be read. One that is over stays until another takes its place.
	Waits []Wait `json:"provider_waits"`
	// Backoff is the scheduler's newest decision to wait; nil when it made none.
	Backoff *Backoff `json:"backoff"`
	// Credential is the standing of the stored credential; nil when none is stored.
	Credential *Credential `json:"credential"`
	// Probes are what was found out about what a run needs.
	Probes []Probe `json:"probes"`
	// Attention are the questions put to the owner, open or lately closed.
	Attention []Attention `json:"attention"`
	// Gaps is what is known to be missing item by item; nil when it could not be read.
	Gaps *Gaps `json:"gaps"`
	// Device is what collectors on the owner's machines reported; nil for a
	// connection that no device feeds.
	Device *Device `json:"local_device"`

	// Unreadable names the families that could not be read.
	Unreadable []Family `json:"unreadable,omitempty"`
}

// Family is a group of facts that is read together.
type Family string

const (
	FamilyManifest   Family = "manifest"
	FamilyRecords    Family = "records"
	FamilyRuns       Family = "runs"
	FamilySchedule   Family = "schedule"
	FamilyCredential Family = "credential"
	FamilyProbes     Family = "probes"
	FamilyAttention  Family = "attention"
	FamilyDevice     Family = "local_device"
)

// Families lists all of them. Gaps are not one: they have their own way to be
// absent, because the backlog alone is then unmeasured.
var Families = []Family{
	FamilyManifest, FamilyRecords, FamilyRuns, FamilySchedule, FamilyCredential, FamilyProbes, FamilyAttention, FamilyDevice,
}

// Connection is what the owner configured.
type Connection struct {
	ID          string    `json:"connection_id"`
	ConnectorID string    `json:"connector_id"`
	DisplayName string    `json:"display_name"`
	Status      string    `json:"status"`
	SourceKind  string    `json:"source_kind"`
	CreatedAt   time.Time `json:"created_at"`
}

// The standings of a connection.
const (
	StatusActive  = "active"
	StatusPaused  = "paused"
	StatusRevoked = "revoked"
	StatusDraft   = "draft"
)

// SourceLocalDevice is the source kind of a connection that devices feed.
const SourceLocalDevice = "local_device"

// SourceBrowser is the source kind of a connection whose owner signs in in a browser here.
const SourceBrowser = "browser_collector"

// LocalDevice reports whether collectors on the owner's machines feed the connection.
func (e *Evidence) LocalDevice() bool {
	return e.Device != nil || e.Connection.SourceKind == SourceLocalDevice
}

// Records is what the store retains of a connection.
type Records struct {
	Retained  int64      `json:"retained"`
	ChangedAt *time.Time `json:"changed_at"` // of the newest change
}
