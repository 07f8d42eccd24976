// Package api defines what an owner can see and do. It contains the types, the client of a server, and the interface
// that the console, the JSON routes and the commands share.
//
// Owner has two implementations: internal/owner/service uses the store of this machine, and Client calls the JSON
// routes of another machine. Both behave alike, so every surface offers the same operations.
package api

import (
	"context"
	"io"

	"github.com/pdpp-go/pdpp/internal/owner/person"
	"github.com/pdpp-go/pdpp/internal/owner/semantic"
	"github.com/pdpp-go/pdpp/internal/owner/webhook"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Owner is everything that an owner can ask for. Every error that an owner can do
// something about is an *Error.
type Owner interface {
	Health
	Gaps
	Bookmarks
	Connecting
	SourceFiles
	Importing
	Uploading
	Devices
	Running
	Records
	Searches
	Deleting
	Keeping
	Grants
	Access
	Settings
	person.Control
	semantic.Control
	webhook.Control
}

// Health is how connections are.
type Health interface {
	// Overview returns all connections that are not revoked, and their summary.
	Overview(ctx context.Context) (view.Overview, error)
	// Connection returns all details of one connection, including a revoked one.
	Connection(ctx context.Context, id string) (Detail, error)
	// Why explains the connection's verdict.
	Why(ctx context.Context, id string) (view.Explanation, error)
	// Pace returns how fast the newest runs collected. runs limits how many it includes.
	Pace(ctx context.Context, id string, runs int) (Pace, error)
	// Schedules returns when each connection collects automatically. It omits revoked connections.
	Schedules(ctx context.Context) ([]ConnectionSchedule, error)
	// Attention lists what the owner is asked to do, with the questions of runs.
	Attention(ctx context.Context, q AttentionQuery) (Attention, error)
}

// Connecting is adding and changing connections.
type Connecting interface {
	// Connectors lists what is installed, by display name.
	Connectors(ctx context.Context) ([]Connector, error)
	// Connect adds a connection, stores its credential and asks for its first run,
	// which is what checks the credential.
	Connect(ctx context.Context, c Connect) (Detail, error)
	Rename(ctx context.Context, id, name string) error
	// SetCredential replaces the credential. The connection confirms itself with one run.
	SetCredential(ctx context.Context, id string, fields map[string]string) error
	// BeginSignIn begins a sign-in at the provider, for a connector with a Consent.
	BeginSignIn(ctx context.Context, id string, w SignInWish) (SignInBegun, error)
	// FinishSignIn brings the answer, or asks whether a code was entered; the connection then
	// confirms itself with one run. Only who began a sign-in finishes it, and once.
	FinishSignIn(ctx context.Context, a SignInAnswer) (SignInDone, error)
	// SetProviderApp keeps how this server is registered at the provider of a connector.
	SetProviderApp(ctx context.Context, connectorID string, app ProviderApp) error
	// RemoveCredential deletes the stored credential; what was collected stays.
	RemoveCredential(ctx context.Context, id string) error
	// SetSchedule makes the connection collect automatically, or changes its interval.
	SetSchedule(ctx context.Context, id string, s Schedule) error
	DeleteSchedule(ctx context.Context, id string) error
	// SetLimits is the owner's word on how fast and how long a run may collect.
	SetLimits(ctx context.Context, id string, l Limits) error
	// SetSelection is the owner's word on which records of a stream are collected;
	// streams that it does not name are collected whole.
	SetSelection(ctx context.Context, id string, s Selection) error
	// Revoke ends a connection: it collects no more, its credential is deleted, its
	// records stay.
	Revoke(ctx context.Context, id string) error
	// Acknowledge does what a verdict's action of the kind asks for, when saying so is
	// all that it takes: attach the schedule again, try what failed once more.
	Acknowledge(ctx context.Context, id, actionKind string) error
}

// Running is single runs.
type Running interface {
	// Run requests a run now. An *Error with code run_already_active names the active run in RunID. An *Error with
	// code provider_wait means that the source must not be queried before Until. In that case nothing starts, and the
	// request is kept until then.
	Run(ctx context.Context, connectionID string) error
	// RunAnyway requests a run now, even if the source asked for a pause. It is a separate operation, for an owner
	// who has read the warning.
	RunAnyway(ctx context.Context, connectionID string) error
	// RunRecovery requests a run that only retries what is missing. With anyway, the run queries the source even if
	// the source asked for a pause.
	RunRecovery(ctx context.Context, connectionID string, anyway bool) error
	// Collect requests a run that fetches only the selected records. Bookmarks stay unchanged.
	Collect(ctx context.Context, connectionID string, s Selection) error
	// Work returns what is in progress: the workers, their runs, and the requests that wait for a worker.
	Work(ctx context.Context) (Work, error)
	// Runs lists runs, the newest first.
	Runs(ctx context.Context, q RunQuery) ([]Run, error)
	RunByID(ctx context.Context, runID string) (Run, error)
	// Timeline returns at most 500 events of a run that follow the event with the number after.
	Timeline(ctx context.Context, runID string, after int64) ([]Event, error)
	Cancel(ctx context.Context, runID string) error
	// Stop ends what a connection is doing: its run under way, and the one that was asked
	// for. An *Error with code no_active_run when there is neither.
	Stop(ctx context.Context, connectionID string) (Stopped, error)
	// Question returns the question that a run waits for. It returns an *Error with code no_pending_interaction if
	// the run waits for none.
	Question(ctx context.Context, runID string) (Question, error)
	Answer(ctx context.Context, runID string, a Answer) error
}

// Records is what has been collected.
type Records interface {
	// Streams lists the streams of a connection; an empty id means all connections.
	Streams(ctx context.Context, connectionID string) ([]Stream, error)
	Records(ctx context.Context, q RecordQuery) (RecordPage, error)
	// Record returns one record with at most 50 earlier versions, the newest first.
	Record(ctx context.Context, connectionID, stream, key string) (Record, []Record, error)
	// Changes lists each key of a stream at its newest change, deletions too, in the order
	// of the changes.
	Changes(ctx context.Context, q ChangeQuery) ([]Record, error)
	Search(ctx context.Context, q SearchQuery) (RecordPage, error)
	// Aggregate sums up the records of a stream, as far as its connector lets readers. An
	// *Error with code read_timeout when that takes longer than five seconds.
	Aggregate(ctx context.Context, q AggregateQuery) (Aggregation, error)
	// Export writes a whole stream: one JSON object per line, or csv.
	Export(ctx context.Context, w io.Writer, q ExportQuery) error
	// CopyFile writes the file of that content, which a record has. An error after the first
	// byte means that it is not whole.
	CopyFile(ctx context.Context, w io.Writer, sha256 string) error
}

// Grants is letting others read.
type Grants interface {
	Grants(ctx context.Context) ([]Grant, error)
	Grant(ctx context.Context, id string) (Grant, error)
	// CreateGrant creates a grant and returns its token. The token cannot be read again.
	CreateGrant(ctx context.Context, g NewGrant) (Grant, string, error)
	RevokeGrant(ctx context.Context, id string) error
	// GrantRequest returns what an app requests.
	GrantRequest(ctx context.Context, id string) (GrantRequest, error)
	// Decide answers an app's request and returns the address to redirect the browser to.
	Decide(ctx context.Context, id string, d Decision) (redirect string, err error)
}

// Settings is the house itself.
type Settings interface {
	// PushTargets lists where pushes go.
	PushTargets(ctx context.Context) ([]PushTarget, error)
	AddPushTarget(ctx context.Context, t NewPushTarget) (PushTarget, error)
	DeletePushTarget(ctx context.Context, id string) error
	// TestPush sends a test to one target, or to every one in use when none is named.
	TestPush(ctx context.Context, target string) ([]PushTest, error)
	// QuietHours is a window as "22:00-07:00 Europe/Berlin"; empty means none.
	QuietHours(ctx context.Context) (string, error)
	SetQuietHours(ctx context.Context, window string) error
	// Audit lists the recorded actions and their actors, the newest first.
	Audit(ctx context.Context, q AuditQuery) (AuditPage, error)
	// SetAuditRetention changes for how many days entries are kept.
	SetAuditRetention(ctx context.Context, days int) error
	// Runtime returns the state of the parts that serve every connection.
	Runtime(ctx context.Context) (Runtime, error)
}

//go:generate go test . -run TestGeneratedMethods -update

// Proxy is an owner that passes every method to one function. The arguments follow the context;
// each result is a pointer.
type Proxy struct {
	Invoke func(ctx context.Context, method string, arguments []any, results ...any) error
}
