package evidence

import (
	"time"

	"github.com/pdpp-go/pdpp/manifest"
)

// Evidence is everything that is known about one connection.
type Evidence struct {
	Connection Connection `json:"connection"`
	// Refresh is the manifest's refresh policy; nil when it declares none.
	Refresh *manifest.RefreshPolicy `json:"refresh"`
	// Streams are the manifest's streams, in manifest order.
	Streams []Stream `json:"streams"`
	// Records counts the stored records; nil when they were not counted.
	Records *Records `json:"records"`

	// Active is the current run; nil when there is none.
	Active *ActiveRun `json:"active_run"`
	// RequestedAt is when a run was requested that has not started; nil when none is requested.
	RequestedAt *time.Time `json:"run_requested_at,omitempty"`
	// LastRun is the newest finished run with evidence about the connection; nil when there is none. Runs by which a
	// device only delivered are left out, because heartbeats report the same.
	LastRun *Run `json:"last_run"`
	// LastSuccessAt is when the newest succeeded run ended, on any trigger.
	LastSuccessAt *time.Time `json:"last_success_at"`
	// Rate is the pace that the newest run reported last; nil when it reported none.
	Rate *Rate `json:"collection_rate"`

	// Schedule is nil when the connection has none.
	Schedule *Schedule `json:"schedule"`
	// Waits are the times before which the provider must not be asked, by sender; nil when they could not be read. An
	// expired wait stays until another replaces it.
	Waits []SenderWait `json:"provider_waits"`
	// Backoff is the scheduler's newest decision to wait; nil when it made none.
	Backoff *Backoff `json:"backoff"`
	// Credential is the status of the stored credential; nil when none is stored.
	Credential *Credential `json:"credential"`
	// Probes are the results of checks of what a run needs.
	Probes []Probe `json:"probes"`
	// Attention are the questions to the owner that are open or were closed recently.
	Attention []Attention `json:"attention"`
	// Gaps are the items that are known to be missing; nil when they could not be read.
	Gaps *Gaps `json:"gaps"`
	// Device holds the reports of the owner's collectors; nil for a connection that no device feeds.
	Device *Device `json:"local_device"`

	// Unreadable lists the families that could not be read.
	Unreadable []Family `json:"unreadable,omitempty"`
}

// Family is a group of facts that is read in one query.
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

// Families lists all families. Gaps are not a family: if they cannot be read, only the backlog is unmeasured, and
// Evidence.Gaps is nil.
var Families = []Family{
	FamilyManifest, FamilyRecords, FamilyRuns, FamilySchedule, FamilyCredential, FamilyProbes, FamilyAttention,
	FamilyDevice,
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

// The states of a connection.
const (
	StatusActive  = "active"
	StatusPaused  = "paused"
	StatusRevoked = "revoked"
	StatusDraft   = "draft"
)

// SourceLocalDevice is the source kind of a connection that devices feed.
const SourceLocalDevice = "local_device"

// SourceBrowser is the source kind of a connection to which the owner signs in with a browser on this server.
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
