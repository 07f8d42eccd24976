package api

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/view"
)

// Detail is all of one connection.
type Detail struct {
	view.Connection
	Indicator *view.RuntimeIndicator `json:"runtime_indicator"`
	// Steps is why the verdict is what it is.
	Steps []view.Step `json:"steps"`
	// Connector is what the connector declares; nil when it is not installed any more.
	Connector  *Connector  `json:"connector"`
	Credential *Credential `json:"credential"` // nil when none is stored
	Limits     Limits      `json:"limits"`
	Selection  Selection   `json:"selection"`
	// NotCollected are the streams that no run asks for, because the owner deleted them.
	NotCollected []NotCollected `json:"not_collected"`
	Plan         *Plan          `json:"schedule_plan"` // nil without a schedule
	ActiveRun    *Run           `json:"active_run"`
	RecentRuns   []Run          `json:"recent_runs"` // the newest first, at most ten
	CreatedAt    time.Time      `json:"created_at"`
	Kept         *KeptSource    `json:"kept"` // nil for an ended source without records
}

// Connector is something that can be connected.
type Connector struct {
	ID          string          `json:"connector_id"` // as it is named when connecting
	DisplayName string          `json:"display_name"`
	Version     string          `json:"version"`
	Streams     []StreamLabel   `json:"streams"`
	Profiles    []ProfileLabel  `json:"profiles,omitempty"`
	Form        *CredentialForm `json:"credential_form"` // nil when nothing is asked for
	Refresh     RefreshPolicy   `json:"refresh_policy"`
	// Steps lists what the owner does to connect the source, where the form does not explain it. FirstRun is how long
	// the first run takes, and OutOfReach what cannot be collected. Both are empty where the connector declares
	// nothing.
	Steps      []string `json:"steps,omitempty"`
	FirstRun   string   `json:"first_run,omitempty"`    // how long the first run takes, by its manifest
	OutOfReach []string `json:"out_of_reach,omitempty"` // what it cannot collect, by its manifest
	// Device means that it collects on a device of the owner's, not here. OnDevices means
	// that it reads files, which are here or on a device: the owner chooses.
	Device    bool `json:"local_device"`
	OnDevices bool `json:"on_devices"` // it reads files, on the server or on a device
	// SignsIn means that the owner signs in at the source, in a browser on the server's machine, and enters no
	// credential.
	SignsIn bool `json:"signs_in"`
	// Consent is how the owner signs in at the provider; nil for one that does not ask for that.
	Consent *Consent `json:"consent"`
	// Files describes the files that the owner may import; nil for a connector that imports none.
	Files *FileImport `json:"file_import"`
	// Foreign is what one that is not built in gets when it runs; nil for a built-in one.
	Foreign *Foreign `json:"foreign"`
	// SourceFile means that it is declared by a source file, and is no program.
	SourceFile bool `json:"source_file"`
	// Problem is why it cannot be connected, each fault with its fix; empty for one that can.
	Problem string `json:"problem,omitempty"`
	// Lacks is what keeps it from running here, with the fix: its interpreter, a browser, an app
	// at the provider. It is empty where nothing does.
	Lacks string `json:"lacks,omitempty"`
}

// Choosable reports whether a part of it can be chosen by name.
func (c *Connector) Choosable() bool {
	return len(c.Profiles) > 0 || slices.ContainsFunc(c.Streams, func(s StreamLabel) bool { return len(s.Views) > 0 })
}

// Foreign is what a connector that is not built in gets. The owner confirms it as it is by
// connecting it for the first time.
type Foreign struct {
	Executable string   `json:"executable_sha256"`
	Variables  []string `json:"variables"`
	Paths      []string `json:"paths"` // the variables that name the paths it reads, and the folders of adapter.json
	// Endpoints get the app's secret and the tokens of a sign-in. Hosts are those that its browser visits,
	// or that it reaches through its proxy.
	Endpoints []string `json:"endpoints"`
	Hosts     []string `json:"hosts"`
	// Network is what it reaches over the network, and why not less.
	Network string `json:"network"`
	// Starts is what it is started by, in order: its interpreter and its program. Scripts are
	// further files that the digest covers.
	Starts  []string `json:"starts"`
	Scripts []string `json:"scripts"`
	// Confirmed means that it may run as it is now; Changed that the owner confirmed it as
	// something else.
	Confirmed bool `json:"confirmed"`
	Changed   bool `json:"changed"`
}

// StreamLabel is a stream in the owner's words.
type StreamLabel struct {
	Name        string   `json:"name"`
	Label       string   `json:"label"`
	Description string   `json:"description,omitempty"`
	Fields      []string `json:"fields"` // top-level ones of its schema
	Search      []string `json:"search_fields"`
	Filter      []string `json:"filter_fields"`
	// TimeField is what a time range is applied to; empty when none can be.
	TimeField string `json:"time_field,omitempty"`
	// Views are selections of its fields that can be chosen by name.
	Views []ViewLabel `json:"views,omitempty"`
	// ResourceField is the field by which single resources are chosen. Empty means that records are chosen by their
	// keys.
	ResourceField string            `json:"resource_field,omitempty"`
	Kind          string            `json:"kind,omitempty"`  // how its records are shown, as in Display
	Roles         map[string]string `json:"roles,omitempty"` // as in Display
}

// ViewLabel is a selection of a stream's fields in the owner's words.
type ViewLabel struct {
	ID     string   `json:"view"`
	Label  string   `json:"label"`
	Fields []string `json:"fields"`
}

// ProfileLabel is a selection of a connector's streams in the owner's words.
type ProfileLabel struct {
	ID      string          `json:"profile"`
	Label   string          `json:"label"`
	Streams []ProfileStream `json:"streams"`
}

// ProfileStream is a stream of a profile; an empty view means every field.
type ProfileStream struct {
	Stream string `json:"stream"`
	View   string `json:"view,omitempty"` // empty means every field
}

// CredentialForm is what a connector asks for.
type CredentialForm struct {
	Kind        string            `json:"kind"`
	Label       string            `json:"label"`
	Description string            `json:"description,omitempty"`
	Submit      string            `json:"submit_label"`
	Fields      []CredentialField `json:"fields"`
}

// CredentialField is one input. Type is text, password, email, url, number or textarea.
type CredentialField struct {
	Name        string `json:"name"`
	Label       string `json:"label"`
	Type        string `json:"type" enum:"text,password,email,url,number,textarea"`
	Help        string `json:"help,omitempty"`
	Placeholder string `json:"placeholder,omitempty"`
	Required    bool   `json:"required"`
	Secret      bool   `json:"secret"`
}

// RefreshPolicy is how often the connector recommends collecting, and why. Seconds are zero when the connector
// declares none.
type RefreshPolicy struct {
	Mode               string `json:"recommended_mode"` // automatic, manual, paused
	Rationale          string `json:"rationale"`
	RecommendedSeconds int64  `json:"recommended_interval_seconds"`
	MinimumSeconds     int64  `json:"minimum_interval_seconds"`
	StaleSeconds       int64  `json:"maximum_staleness_seconds"`
}

// Credential is what is known of a stored secret, never the secret.
type Credential struct {
	Kind string `json:"kind"`
	// Fingerprint is equal for equal values under the same key. It reveals nothing else.
	Fingerprint string     `json:"fingerprint"`
	Status      string     `json:"status"`
	CapturedAt  time.Time  `json:"captured_at"`
	RejectedAt  *time.Time `json:"rejected_at"`
	// RejectionReason summarizes why the source rejected the credential.
	RejectionReason string `json:"rejection_reason,omitempty"`
}

// Connect adds a connection.
type Connect struct {
	ConnectorID string            `json:"connector_id"`
	DisplayName string            `json:"display_name" required:"false"`           // empty means the connector's
	Fields      map[string]string `json:"fields" nullable:"true" required:"false"` // by name of the form's fields
	// Schedule is nil for what the connector recommends; an interval of zero means none.
	Schedule *Schedule `json:"schedule" required:"false"`
	// Selection is what is collected; nil means everything.
	Selection *Selection `json:"selection,omitempty" nullable:"request"`
	// AwaitFile delays the first run until a file is imported.
	AwaitFile bool `json:"await_file,omitempty"`
}

// Schedule is a rhythm.
type Schedule struct {
	IntervalSeconds int64 `json:"interval_seconds"`
	JitterSeconds   int64 `json:"jitter_seconds" required:"false"`
	Enabled         bool  `json:"enabled" required:"false"`
}

// setDefaults enables a schedule without the member enabled.
func (s *Schedule) setDefaults() { s.Enabled = true }

// Plan is a schedule and what comes of it.
type Plan struct {
	Schedule
	// NextAt is when it is due next; nil when that is not known or it is paused.
	NextAt *time.Time `json:"next_at"`
	// Waiting explains in a sentence why the connection is not due yet, if the reason is not its schedule.
	Waiting string `json:"waiting,omitempty"`
}

// ConnectionSchedule is when a connection collects automatically, and why not earlier.
type ConnectionSchedule struct {
	ConnectionID string    `json:"connection_id"`
	ConnectorID  string    `json:"connector_id"`
	DisplayName  string    `json:"display_name"`
	Schedule     *Schedule `json:"schedule"` // nil when it has none
	// EverySeconds is the rhythm that counts: never below what the connector calls safe.
	EverySeconds int64 `json:"every_seconds"`
	Due          bool  `json:"due"`
	// RecoveryOnly means that a run may only try again what is missing.
	RecoveryOnly bool       `json:"recovery_only"`
	Why          string     `json:"why"` // why it is due or not, as a code
	NextAt       *time.Time `json:"next_attempt_at"`
	Failures     int        `json:"consecutive_failures"`
}

// Limits is the owner's word for a connection. Zero means the connector's own.
type Limits struct {
	// CeilingPerMinute is the most requests in a minute, ever.
	CeilingPerMinute float64 `json:"ceiling_per_minute" required:"false"`
	// MaxSeconds and MaxDetails bound the detail lane of one run, from its first detail on;
	// MaxWholeSeconds bounds the whole run, lists included. What is left over is work for
	// the next one.
	MaxSeconds      int64 `json:"max_run_seconds" required:"false"`
	MaxWholeSeconds int64 `json:"max_whole_run_seconds,omitempty"`
	MaxDetails      int64 `json:"max_detail_fetches" required:"false"`
	// Supports names the members above that this connector understands, by JSON name.
	Supports []string `json:"supports" required:"false" nullable:"request"`
}

// Selection is what is collected of a connection. Without a profile it is every stream, and
// of a stream that is not named every record with every field.
type Selection struct {
	// Profile is one that the connector declares: a selection of streams.
	Profile string           `json:"profile,omitempty"`
	Streams []SelectedStream `json:"streams" nullable:"true"`
}

// NotCollected is a stream that the owner deleted, with the deletion that keeps it out and its state. While it can be
// undone, undoing it brings the stream back; after that the owner lets runs collect it again.
type NotCollected struct {
	Stream     string `json:"stream"`
	DeletionID string `json:"deletion_id"`
	State      string `json:"state"` // the state of the deletion
}

// SelectedStream is a part of one stream. It selects the fields of a view, records by their keys, or records by values
// of the resource field.
type SelectedStream struct {
	Stream string `json:"stream"`
	// only the fields of this view; empty means every field
	View string `json:"view,omitempty"`
	// keys of records, or values of the stream's resource_field
	Resources []string `json:"resources" nullable:"true"`
}

// LongestName bounds what an owner may call something, in characters.
const LongestName = 120

// IsName reports whether an owner may call something that.
func IsName(name string) bool {
	return name != "" && utf8.RuneCountInString(name) <= LongestName && utf8.ValidString(name)
}

// CanBeUndone reports whether undoing the deletion brings the stream back.
func (n NotCollected) CanBeUndone() bool { return n.State == "hiding" || n.State == "hidden" }

// LeftOut counts content of files that a source does not collect, of one kind.
type LeftOut struct {
	Kind  string `json:"kind"` // a kind that the source knows, or a pattern of file names
	Count int64  `json:"count"`
	// Known means that Kind is a kind that the source knows. Otherwise it is a pattern of file names.
	Known bool `json:"known"`
}
