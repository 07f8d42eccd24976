// Package api is what an owner can see and do, as every surface offers it:
// the types, the interface that the console, the JSON routes and the commands
// share, and the client that speaks to a server.
//
// Two implementations stand behind Owner: internal/owner/service over the store of this
// machine, and Client over the JSON routes of another. A surface cannot tell them
// apart, so that none can do what another cannot.
package api

import (
	"context"
	"io"

	"github.com/pdpp-go/pdpp/internal/view"
)

// Owner is everything that an owner can ask for. Every error that an owner can do
// something about is an *Error.
type Owner interface {
	Health
	Gaps
	Bookmarks
	Connecting
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
}

// Health is how connections are.
type Health interface {
	// Overview gives every connection that is not revoked, and their summary.
	Overview(ctx context.Context) (view.Overview, error)
	// Connection gives all of one connection; also of a revoked one.
	Connection(ctx context.Context, id string) (Detail, error)
	// Why explains the connection's verdict.
	Why(ctx context.Context, id string) (view.Explanation, error)
	// Pace gives how fast the newest runs collected, so many of them.
	Pace(ctx context.Context, id string, runs int) (Pace, error)
	// Schedules tells of every connection that is not revoked when it collects by itself.
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
	// SetSchedule makes the connection collect by itself, or changes its rhythm.
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
	// Run asks for a run now. An *Error with code run_already_active names the run
	// that is under way in RunID. One with code provider_wait tells in Until before
	// when the source is not to be asked: nothing is started, and the run is kept
	// until then.
	Run(ctx context.Context, connectionID string) error
	// RunAnyway asks for a run now, and for the source to be asked although it is to
	// be left alone. It is a step of its own, for an owner who has read that.
	RunAnyway(ctx context.Context, connectionID string) error
	// RunRecovery asks for a run that only tries again what is missing; with anyway the
	// source is asked although it is to be left alone.
	RunRecovery(ctx context.Context, connectionID string, anyway bool) error
	// Collect asks for a run that fetches the named records alone. Bookmarks stay as
	// they are.
	Collect(ctx context.Context, connectionID string, s Selection) error
	// Work tells what goes on: who works, on what, and what waits for a worker.
	Work(ctx context.Context) (Work, error)
	// Runs lists runs, the newest first.
	Runs(ctx context.Context, q RunQuery) ([]Run, error)
	RunByID(ctx context.Context, runID string) (Run, error)
	// Timeline gives the events of a run that follow after; at most 500.
	Timeline(ctx context.Context, runID string, after int64) ([]Event, error)
	Cancel(ctx context.Context, runID string) error
	// Stop ends what a connection is doing: its run under way, and the one that was asked
	// for. An *Error with code no_active_run when there is neither.
	Stop(ctx context.Context, connectionID string) (Stopped, error)
	// Question gives what a run waits for; an *Error with code no_pending_interaction
	// when it waits for nothing.
	Question(ctx context.Context, runID string) (Question, error)
	Answer(ctx context.Context, runID string, a Answer) error
}

// Records is what has been collected.
type Records interface {
	// Streams lists the streams of a connection; an empty id means all connections.
	Streams(ctx context.Context, connectionID string) ([]Stream, error)
	Records(ctx context.Context, q RecordQuery) (RecordPage, error)
	// Record gives one record with its earlier versions, the newest first; at most 50.
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
	// CreateGrant makes a grant and gives its token, which cannot be seen again.
	CreateGrant(ctx context.Context, g NewGrant) (Grant, string, error)
	RevokeGrant(ctx context.Context, id string) error
	// GrantRequest gives what an app asks for.
	GrantRequest(ctx context.Context, id string) (GrantRequest, error)
	// Decide answers an app's request, and gives the address to send the browser to.
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
	// Audit lists what was done, by whom, the newest first.
	Audit(ctx context.Context, q AuditQuery) (AuditPage, error)
	// SetAuditRetention changes for how many days entries are kept.
	SetAuditRetention(ctx context.Context, days int) error
	// Runtime says how the parts that serve every connection are.
	Runtime(ctx context.Context) (Runtime, error)
}
