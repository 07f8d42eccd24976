package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Runs executes one run to its end: a *launch.Launcher.
type Runs interface {
	Run(ctx context.Context, req launch.RunRequest) (launch.RunResult, error)
}

// Watcher receives every connection with facts that may have changed. It returns when to check connections again,
// even if nothing changes them.
type Watcher interface {
	Check(ctx context.Context, page []evidence.Evidence, now time.Time) (again map[string]time.Time, err error)
}

// Answers asks the owner questions and is notified of answers.
type Answers interface {
	Prepare(runID, requestID string) (key []byte, forget func(), err error)
	Ask(ctx context.Context, runID string, q protocol.Interaction) (protocol.InteractionResponse, error)
	Deliver(runID, requestID string)
}

// Meter records measurements.
type Meter interface {
	Passed(checked, enqueued int, took time.Duration)
	Ran(connectorID string, trigger store.Trigger, r launch.RunResult, took time.Duration)
}

// Config configures a scheduler. Store, Database, Runs and Worker.ID are required.
type Config struct {
	Store    store.Store
	Database Database
	Runs     Runs
	// Worker describes this process; its capabilities decide which queues it serves.
	Worker store.Worker
	// Slots is the number of concurrent runs per capability; 0 means DefaultSlots. PerProvider is the number per
	// connector; 0 means DefaultPerProvider.
	Slots, PerProvider int
	// BrowserSlots is the number of concurrent runs with a browser; 0 means Slots.
	BrowserSlots int
	// Answers may be nil: then runs cannot ask the owner.
	Answers Answers
	// Sharing is called during runs with those that share an allowance with runs of other processes. It may be nil.
	Sharing func(ctx context.Context, runIDs []string) error
	// Surface receives the channels on which runs show their browser pages. It may be nil.
	Surface func(runID string, conn io.ReadWriteCloser)
	// Watchers receive evidence in every pass. AfterPass is called at its end with the number of checked connections.
	Watchers  []Watcher
	AfterPass func(ctx context.Context, now time.Time, checked int) error
	Meter     Meter
	Options   runner.Options
	// clock replaces the database's clock for River in tests with virtual time.
	clock rivertype.TimeGenerator
	// Rhythm sets intervals for long simulations; the zero value uses the defaults.
	Rhythm Rhythm
	Log    *slog.Logger
	Now    func() time.Time
}

// Numbers of concurrent runs. A run mostly waits for its provider, so a small machine can execute several. One
// provider gets at most half of the slots.
const (
	DefaultSlots       = 8
	DefaultPerProvider = 4
)

// Rhythm is the interval of each periodic task. Zero means the default.
type Rhythm struct{ Pass, Beat, Poll time.Duration }

// Default intervals and other times.
const (
	// passEvery is how soon the scheduler notices due connections, changes and requests by the owner, and dead runs. A
	// pass that finds nothing costs two index reads.
	passEvery = time.Second
	// beatEvery is the interval of a worker's heartbeats.
	beatEvery = 10 * time.Second
	// signalEvery is how soon a run receives a cancellation or an answer. It is polled only during runs.
	signalEvery = 500 * time.Millisecond
	// drainGrace is how long runs may take to finish their slice when the worker stops. It is less than the ten
	// seconds after which service managers kill.
	drainGrace = 7 * time.Second
	// passGrace is how long a stopping worker waits for its current pass. With drainGrace it stays below ten seconds.
	passGrace = 2 * time.Second
	// pollEvery is how soon a job is noticed that another process inserted into an embedded database, or that was
	// snoozed. Other jobs are noticed at once.
	pollEvery = 5 * time.Second
	// fetchCooldown is the minimum time between two fetches. River's default would delay short runs with few slots.
	fetchCooldown = 20 * time.Millisecond
	// rescueAfter is when River abandons a job of a dead worker. River uses only the job's age, and runs may be
	// long; the lease detects a dead worker sooner.
	rescueAfter = 7 * 24 * time.Hour
	// keepJobs is how long finished jobs are kept for diagnosis. The run history is permanent.
	keepJobs = time.Hour
)

// Scheduler is one worker process.
type Scheduler struct {
	Config
	queue  queue
	slots  slots
	runs   activeRuns
	drain  chan struct{} // closed when the worker stops
	asked  chan struct{} // requests an immediate pass
	cancel context.CancelFunc
	gone   sync.WaitGroup

	passing     chan struct{} // holds one element during a pass
	reclaimedAt time.Time     // used only by passes
	beganAt     time.Time     // when the last pass began
	stepped     bool          // the clock had stepped then

	draining atomic.Bool
	passedAt atomic.Int64
	// browserNeeded is when a connection that needs a browser was last checked.
	browserNeeded atomic.Int64
}

var discardLog = slog.New(slog.DiscardHandler)

// New returns a worker for a database with a migrated queue.
func New(c Config) (*Scheduler, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = discardLog
	}
	if c.Slots <= 0 {
		c.Slots = DefaultSlots
	}
	if c.PerProvider <= 0 {
		c.PerProvider = DefaultPerProvider
	}
	c.Rhythm.Pass, c.Rhythm.Beat, c.Rhythm.Poll = cmp.Or(c.Rhythm.Pass, passEvery), cmp.Or(c.Rhythm.Beat, beatEvery),
		cmp.Or(c.Rhythm.Poll, pollEvery)
	c.Worker.StartedAt = c.Now()
	s := &Scheduler{Config: c, slots: slots{perProvider: c.PerProvider}, drain: make(chan struct{}),
		asked: make(chan struct{}, 1), passing: make(chan struct{}, 1)}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{Scheduler: s})
	queues := map[string]river.QueueConfig{}
	s.Worker.Slots = 0
	for _, name := range Capabilities {
		if slices.Contains(c.Worker.Capabilities, string(name)) {
			places := c.Slots
			if name == Browser && c.BrowserSlots > 0 {
				places = c.BrowserSlots
			}
			queues[string(name)] = river.QueueConfig{MaxWorkers: places}
			s.Worker.Slots += places
		}
	}
	if len(queues) == 0 {
		return nil, errors.New("the worker has no capability: it could run nothing")
	}
	s.queue.database, s.queue.now = c.Database, c.Now
	var err error
	s.queue.client, err = c.Database.client(&river.Config{
		ID: c.Worker.ID, Queues: queues, Workers: workers, Logger: discardLog, PollOnly: c.Database.SQLite != nil,
		JobTimeout: -1, RescueStuckJobsAfter: rescueAfter, FetchPollInterval: c.Rhythm.Poll, FetchCooldown: fetchCooldown,
		CompletedJobRetentionPeriod: keepJobs, CancelledJobRetentionPeriod: keepJobs, DiscardedJobRetentionPeriod: keepJobs,
		Test: river.TestConfig{Time: c.clock},
	})
	if err != nil {
		return nil, fmt.Errorf("make the job queue: %w", err)
	}
	return s, nil
}

// Start starts the worker with one pass, so that runs that became due without a worker start at once. If it fails,
// the worker is removed from the list.
func (s *Scheduler) Start(ctx context.Context) error {
	if err := s.register(ctx); err != nil {
		return errors.Join(err, s.leave(context.WithoutCancel(ctx)))
	}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.every(ctx, s.Rhythm.Pass, s.pass)
	s.every(ctx, s.Rhythm.Beat, s.beat)
	s.every(ctx, signalEvery, s.signal)
	s.gone.Go(func() { s.logFailure("pass", s.pass(ctx)) })
	s.gone.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.asked:
				s.logFailure("pass", s.pass(ctx))
			}
		}
	})
	return nil
}

// register adds the worker to the list, removes dead ones and starts the queue.
func (s *Scheduler) register(ctx context.Context) error {
	if err := s.beat(ctx); err != nil {
		return fmt.Errorf("register the worker: %w", err)
	}
	if err := s.forgetDeadWorkers(ctx); err != nil || s.Database.SQLite != nil {
		return err // the first job starts an embedded queue
	}
	return s.queue.wake(ctx)
}

// Nudge starts a pass at once for a new request.
func (s *Scheduler) Nudge() {
	select {
	case s.asked <- struct{}{}:
	default:
	}
}

// every calls do at intervals until the worker stops. Failures are logged and retried at the next interval.
func (s *Scheduler) every(ctx context.Context, interval time.Duration, do func(context.Context) error) {
	s.gone.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.logFailure("upkeep", do(ctx))
			}
		}
	})
}

func (s *Scheduler) logFailure(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.Log.Warn("scheduler: "+what+" failed; it is retried", "error", err)
	}
}

// Stop accepts no new jobs, lets every run finish its slice, requeues the runs that it had to stop, and leaves. When
// ctx ends it leaves at once, and the leases expire.
func (s *Scheduler) Stop(ctx context.Context) error {
	if s.draining.Swap(true) {
		return nil
	}
	s.awaitPass(ctx)
	close(s.drain)
	force := time.AfterFunc(drainGrace, func() { s.runs.cancelAll(errDraining) })
	defer force.Stop()
	err := s.queue.end(ctx)
	s.cancel()
	s.gone.Wait()
	return errors.Join(err, s.leave(context.WithoutCancel(ctx)))
}

// awaitPass waits until the current pass has ended. An interrupted pass would hide the connections that it claimed from
// the next worker, and one that saw the stopped runs would queue them here.
func (s *Scheduler) awaitPass(ctx context.Context) {
	limit := time.NewTimer(passGrace)
	defer limit.Stop()
	select {
	case s.passing <- struct{}{}: // and no other begins
	case <-limit.C:
	case <-ctx.Done():
	}
}

// errDraining is the cause for cancelling runs that did not end within drainGrace.
var errDraining = errors.New("the worker is stopping")

// LastPass returns when this process last completed a pass; zero before the first.
func (s *Scheduler) LastPass() time.Time {
	if at := s.passedAt.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}
