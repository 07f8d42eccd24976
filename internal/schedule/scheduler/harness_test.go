package scheduler

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/protocol"
)

// orchard is a store with connections and the workers over it. Time is virtual.
type orchard struct {
	t    *testing.T
	calm bool // for days: workers look less often
	st   store.Store
	db   Database
	// play is what a run of a connection does, by connector; missing ones succeed at once.
	play map[string]func(ctx context.Context, o *orchard, req launch.RunRequest) runner.Outcome

	// missing is why each run of a connector leaves a gap; its runs read it, the test
	// sets it before they begin.
	missing map[string][]protocol.Reason
	// announces is the provider wait that each run of a connector receives.
	announces map[string]time.Duration
	// dead makes the processes of runs under way stop renewing their leases.
	dead atomic.Bool

	mu    sync.Mutex
	log   []ran
	under map[string]int // runs under way by connector
	most  map[string]int
}

// plays sets what runs of a connector do from now on; nil lets them succeed at once.
func (o *orchard) plays(connector string, play func(context.Context, *orchard, launch.RunRequest) runner.Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.play[connector] = play
}

// ran is one run as it happened.
type ran struct {
	connection string
	trigger    store.Trigger
	recovery   bool
	spare      bool
	at         time.Time
	status     runner.Status
}

func newOrchard(t *testing.T) *orchard {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := &orchard{t: t, st: st, under: map[string]int{}, most: map[string]int{},
		play: map[string]func(context.Context, *orchard, launch.RunRequest) runner.Outcome{}}
	o.db = Database{SQLite: st.(interface{ Writer() *sql.DB }).Writer()}
	o.must(o.db.Migrate(t.Context()))
	return o
}

func (o *orchard) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

const orchardManifest = `{"protocol_version":"0.1.0","connector_id":"%s","version":"1.0.0","display_name":"Orchard",
"runtime_requirements":{"bindings":{"%s":{"required":true}}},
"capabilities":{"refresh_policy":{"recommended_mode":"automatic","rationale":"It is cheap.",` +
	`"maximum_staleness_seconds":86400}},
"streams":[{"name":"trees","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",` +
	`"properties":{"id":{"type":"string"}}}}]}`

// plant adds a connection with a schedule; an interval of zero means none.
func (o *orchard) plant(id, connector string, every time.Duration) {
	o.t.Helper()
	o.plantWith(id, connector, every, "network")
}

// plantWith is plant for a connector that needs the binding.
func (o *orchard) plantWith(id, connector string, every time.Duration, binding string) {
	o.t.Helper()
	ctx := o.t.Context()
	now := time.Now()
	generation, err := o.st.PutManifest(ctx, connector, fmt.Appendf(nil, orchardManifest, connector, binding), now)
	o.must(err)
	o.must(o.st.CreateConnection(ctx, store.Connection{ID: id, ConnectorID: connector, DisplayName: id,
		Status:     store.ConnectionActive,
		SourceKind: store.SourceAccount, ManifestGeneration: generation, CreatedAt: now, UpdatedAt: now}))
	if every > 0 {
		o.schedule(id, every, true)
	}
}

func (o *orchard) schedule(id string, every time.Duration, enabled bool) {
	o.t.Helper()
	o.must(o.st.PutSchedule(o.t.Context(), store.Schedule{ConnectionID: id, IntervalSeconds: int64(every / time.Second),
		Enabled:   enabled,
		CreatedAt: time.Now(), UpdatedAt: time.Now()}))
}

// bubble is the virtual clock as River wants it.
type bubble struct{}

func (bubble) Now() time.Time { return time.Now() }
func (bubble) NowOrNil() *time.Time {
	now := time.Now()
	return &now
}

// worker starts a scheduler; the test's end stops it.
func (o *orchard) worker(id string, change func(*Config)) *Scheduler {
	o.t.Helper()
	c := Config{clock: bubble{}, Log: slog.New(slog.NewTextHandler(o.t.Output(), nil)), Store: o.st, Database: o.db,
		Runs: o, Worker: store.Worker{ID: id, Host: "orchard", Capabilities: []string{"network"}}}
	if change != nil {
		change(&c)
	}
	if o.calm {
		c.Rhythm = Rhythm{Pass: 20 * time.Second, Beat: time.Minute, Poll: time.Minute}
	}
	s, err := New(c)
	o.must(err)
	o.must(s.Start(o.t.Context()))
	return s
}

// close ends everything before the bubble does.
func (o *orchard) close(workers ...*Scheduler) {
	for _, w := range workers {
		o.must(w.Stop(context.WithoutCancel(o.t.Context())))
	}
	o.must(o.st.Close())
}

var runNo atomic.Int64

// Run plays a run through the store, as the launcher does, without a process.
func (o *orchard) Run(ctx context.Context, req launch.RunRequest) (launch.RunResult, error) {
	conn, err := o.st.Connection(ctx, req.ConnectionID)
	if err != nil {
		return launch.RunResult{}, err
	}
	id := fmt.Sprintf("run_%d_%d", time.Now().UnixNano(), runNo.Add(1))
	lease, err := o.st.StartRun(ctx, store.RunStart{RunID: id, ConnectionID: conn.ID, ConnectorID: conn.ConnectorID,
		Trigger: req.Trigger,
		Holder:  "orchard", TTL: launch.LeaseTTL, RecoveryOnly: req.RecoveryOnly, AskAnyway: req.AskAnyway,
		Streams: []store.StreamSpec{{Name: "trees"}}}, time.Now())
	if err != nil {
		return launch.RunResult{}, err
	}
	began := time.Now()
	o.enter(conn.ConnectorID)
	defer o.leave(conn.ConnectorID)
	req.Started(id)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go o.renew(ctx, lease, stop)
	outcome := runner.Outcome{Status: runner.Succeeded}
	if d := o.announces[conn.ConnectorID]; d > 0 {
		w := evidence.SenderWait{Sender: "api", Until: began.Add(d), Reason: protocol.WaitRetryAfter, At: began}
		if err := o.st.PutWait(ctx, lease, w, began); err != nil {
			return launch.RunResult{}, err
		}
	}
	for _, reason := range o.missing[conn.ConnectorID] {
		gap := slice.Gap{Stream: "trees", RecordKey: string(reason), Reason: reason, Retryable: true,
			Locator: jsontext.Value(`{}`)}
		if _, err := o.st.CommitSlice(ctx, lease, slice.Slice{Gaps: []slice.Gap{gap}}, time.Now()); err != nil {
			return launch.RunResult{}, err
		}
	}
	o.mu.Lock()
	play := o.play[conn.ConnectorID]
	o.mu.Unlock()
	if play != nil {
		outcome = play(ctx, o, req)
	}
	out := store.RunOutcome{Status: store.RunStatus(outcome.Status), Event: slice.Event{Type: "run.ended"}}
	if outcome.Failure != nil {
		out.FailureReason = string(outcome.Failure.Reason)
	}
	if e := outcome.DoneError; e != nil {
		out.ConnectorError = fmt.Appendf(nil, `{"code":%q,"message":"no"}`, e.Code)
	}
	o.mu.Lock()
	o.log = append(o.log, ran{conn.ID, req.Trigger, req.RecoveryOnly, req.SparePressure, began, outcome.Status})
	o.mu.Unlock()
	return launch.RunResult{
			RunID:   id,
			Outcome: outcome,
		}, o.st.FinishRun(
			context.WithoutCancel(ctx),
			lease,
			out,
			time.Now(),
		)
}

// renew keeps the lease as the launcher does, unless the process is dead.
func (o *orchard) renew(ctx context.Context, l store.Lease, stop context.CancelCauseFunc) {
	for !o.dead.Load() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(launch.LeaseTTL / 3):
		}
		if o.dead.Load() {
			return
		}
		if _, err := o.st.RenewLease(context.WithoutCancel(ctx), l, launch.LeaseTTL, time.Now()); err != nil {
			stop(err)
		}
	}
}

func (o *orchard) enter(connector string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.under[connector]++
	o.most[connector] = max(o.most[connector], o.under[connector])
}

func (o *orchard) leave(connector string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.under[connector]--
}

func (o *orchard) mostAtOnce(connector string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.most[connector]
}

func (o *orchard) ran(connection string) (out []ran) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.log {
		if connection == "" || r.connection == connection {
			out = append(out, r)
		}
	}
	return out
}

func (o *orchard) evidence(id string) evidence.Evidence {
	o.t.Helper()
	found, err := o.st.Evidence(o.t.Context(), evidence.Query{ConnectionIDs: []string{id}})
	o.must(err)
	return found[0]
}

// takes is a run of so long that succeeds, unless it is stopped.
func takes(d time.Duration) func(context.Context, *orchard, launch.RunRequest) runner.Outcome {
	return func(ctx context.Context, _ *orchard, req launch.RunRequest) runner.Outcome {
		select {
		case <-time.After(d):
			return runner.Outcome{Status: runner.Succeeded}
		case <-req.Options.Drain:
			return runner.Outcome{Status: runner.Cancelled, Failure: &runner.Failure{Reason: runner.ReasonShutdown}}
		case <-ctx.Done():
			reason := runner.ReasonShutdown
			if errors.Is(context.Cause(ctx), runner.ErrOwnerCancelled) {
				reason = runner.ReasonOwnerCancelled
			}
			return runner.Outcome{Status: runner.Cancelled, Failure: &runner.Failure{Reason: reason}}
		}
	}
}

func fails(code string, retryable bool) func(context.Context, *orchard, launch.RunRequest) runner.Outcome {
	return func(context.Context, *orchard, launch.RunRequest) runner.Outcome {
		return runner.Outcome{Status: runner.Failed, Failure: &runner.Failure{Reason: runner.ReasonConnectorFailed},
			DoneError: &protocol.DoneError{Code: code, Retryable: &retryable}}
	}
}

// breaks is a run that ends without a word of its connector's.
func breaks(reason runner.Reason) func(context.Context, *orchard, launch.RunRequest) runner.Outcome {
	return func(context.Context, *orchard, launch.RunRequest) runner.Outcome {
		return runner.Outcome{Status: runner.Failed, Failure: &runner.Failure{Reason: reason}}
	}
}
