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
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// Runs executes one run to its end: a *launch.Launcher.
type Runs interface {
	Run(ctx context.Context, req launch.Request) (launch.Result, error)
}

// Watcher is shown every connection whose facts may have changed. It gives the
// connections that it wants to see again at a certain time, touched or not.
type Watcher interface {
	Check(ctx context.Context, page []evidence.Evidence, now time.Time) (again map[string]time.Time, err error)
}

// Answers puts questions to the owner, and is told when one was answered.
type Answers interface {
	Prepare(runID, requestID string) (key []byte, forget func(), err error)
	Ask(ctx context.Context, runID string, q protocol.Interaction) (protocol.InteractionResponse, error)
	Deliver(runID, requestID string)
}

// Meter is told what happened, for people who watch numbers.
type Meter interface {
	Passed(checked, enqueued int, took time.Duration)
	Ran(connectorID string, trigger store.Trigger, r launch.Result, took time.Duration)
}

// Config is what a scheduler needs. Store, Database, Runs and Worker.ID must be set.
type Config struct {
	Store    store.Store
	Database Database
	Runs     Runs
	// Worker says who this process is; its capabilities decide which queues it serves.
	Worker store.Worker
	// Slots is how many runs go on at once per capability; 0 means DefaultSlots.
	// PerProvider is how many of them one connector may have; 0 means DefaultPerProvider.
	Slots, PerProvider int
	// BrowserSlots is how many runs with a browser go on at once; 0 means as many as others.
	BrowserSlots int
	// Answers may be nil: then no run can ask the owner.
	Answers Answers
	// Sharing is told, while runs are under way, which of them draw on an allowance together with
	// runs of other processes; nil means that nobody wants to know.
	Sharing func(ctx context.Context, runIDs []string) error
	// Surface is given the channels on which runs show the pages of their browsers; nil means
	// that nobody looks on.
	Surface func(runID string, conn io.ReadWriteCloser)
	// Watchers are shown evidence in every pass; AfterPass is called at its end,
	// with the number of connections that were checked.
	Watchers  []Watcher
	AfterPass func(ctx context.Context, now time.Time, checked int) error
	Meter     Meter
	Options   runner.Options
	// clock replaces the database's for River, where time is virtual.
	clock rivertype.TimeGenerator
	// Rhythm is for those who look on for days; the zero value is right otherwise.
	Rhythm Rhythm
	Log    *slog.Logger
	Now    func() time.Time
}

// How many runs go on at once. A run mostly waits for its provider, so that a
// small machine carries several; half of the places are kept from any one
// provider.
const (
	DefaultSlots       = 8
	DefaultPerProvider = 4
)

// Rhythm is how often a worker does what it does at intervals. Zero means the default.
type Rhythm struct{ Pass, Beat, Poll time.Duration }

// The default rhythm and other times, each with its reason.
const (
	// passEvery is how soon it is noticed that a connection is due, that the owner
	// changed or asked something, or that a run's process died. A pass that finds
	// nothing costs two reads of an index.
	passEvery = time.Second
	// beatEvery is how often a worker says that it lives.
	beatEvery = 10 * time.Second
	// signalEvery is how soon a run hears of a cancellation or an answer. It is
	// asked for only while runs are under way.
	signalEvery = 500 * time.Millisecond
	// drainGrace is how long runs may take to finish their slice when the worker
	// stops: less than the ten seconds after which service managers kill.
	drainGrace = 7 * time.Second
	// pollEvery is how soon a job is seen that another process put into an
	// embedded database, or that was put off; any other is seen at once.
	pollEvery = 5 * time.Second
	// fetchCooldown is the least time between two fetches. Short runs of few slots
	// would wait for River's own.
	fetchCooldown = 20 * time.Millisecond
	// rescueAfter is when River gives a job up whose worker is gone. A run may be
	// long, and the lease tells sooner (trap: River goes by the age alone).
	rescueAfter = 7 * 24 * time.Hour
	// keepJobs is how long finished jobs stay for a look at them; run history is
	// what lasts.
	keepJobs = time.Hour
)

// Scheduler is one worker process.
type Scheduler struct {
	Config
	queue  queue
	slots  slots
	runs   active
	drain  chan struct{} // closed when the worker stops
	asked  chan struct{} // a pass is wanted before its time
	cancel context.CancelFunc
	gone   sync.WaitGroup

	passes      sync.Mutex // one pass at a time
	reclaimedAt time.Time  // by the passes
	beganAt     time.Time  // when the last pass began
	stepped     bool       // the clock was not as expected then

	draining atomic.Bool
	passedAt atomic.Int64
	// browserNeeded is when a connection was last checked that needs a browser.
	browserNeeded atomic.Int64
}

var quiet = slog.New(slog.DiscardHandler)

// New makes a worker over a database whose queue is migrated.
func New(c Config) (*Scheduler, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = quiet
	}
	if c.Slots <= 0 {
		c.Slots = DefaultSlots
	}
	if c.PerProvider <= 0 {
		c.PerProvider = DefaultPerProvider
	}
	c.Rhythm.Pass, c.Rhythm.Beat, c.Rhythm.Poll = cmp.Or(c.Rhythm.Pass, passEvery), cmp.Or(c.Rhythm.Beat, beatEvery), cmp.Or(c.Rhythm.Poll, pollEvery)
	c.Worker.StartedAt = c.Now()
	s := &Scheduler{Config: c, slots: slots{perProvider: c.PerProvider}, drain: make(chan struct{}), asked: make(chan struct{}, 1)}
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
		ID: c.Worker.ID, Queues: queues, Workers: workers, Logger: quiet, PollOnly: c.Database.SQLite != nil,
		JobTimeout: -1, RescueStuckJobsAfter: rescueAfter, FetchPollInterval: c.Rhythm.Poll, FetchCooldown: fetchCooldown,
		CompletedJobRetentionPeriod: keepJobs, CancelledJobRetentionPeriod: keepJobs, DiscardedJobRetentionPeriod: keepJobs,
		Test: river.TestConfig{Time: c.clock},
	})
	if err != nil {
		return nil, fmt.Errorf("make the job queue: %w", err)
	}
	return s, nil
}

// Start begins to work, after one pass: what was due while no worker ran is
// taken up at once. When it fails, the worker is taken off the list again.
func (s *Scheduler) Start(ctx context.Context) error {
	if err := s.register(ctx); err != nil {
		return errors.Join(err, s.leave(context.WithoutCancel(ctx)))
	}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.every(ctx, s.Rhythm.Pass, s.pass)
	s.every(ctx, s.Rhythm.Beat, s.beat)
	s.every(ctx, signalEvery, s.signal)
	s.gone.Go(func() { s.tell("pass", s.pass(ctx)) })
	s.gone.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.asked:
				s.tell("pass", s.pass(ctx))
			}
		}
	})
	return nil
}

// register puts the worker on the list, removes the dead ones and wakes the queue.
func (s *Scheduler) register(ctx context.Context) error {
	if err := s.beat(ctx); err != nil {
		return fmt.Errorf("register the worker: %w", err)
	}
	if err := s.forgetTheDead(ctx); err != nil || s.Database.SQLite != nil {
		return err // an embedded queue is woken by its first job
	}
	return s.queue.wake(ctx)
}

// Nudge has a pass made at once, as somebody waits for what was just asked for.
func (s *Scheduler) Nudge() {
	select {
	case s.asked <- struct{}{}:
	default:
	}
}

// every does something at intervals until the worker is stopped. What fails is
// told and tried again at the next interval.
func (s *Scheduler) every(ctx context.Context, interval time.Duration, do func(context.Context) error) {
	s.gone.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.tell("upkeep", do(ctx))
			}
		}
	})
}

func (s *Scheduler) tell(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		s.Log.Warn("scheduler: "+what+" failed; it is tried again", "error", err)
	}
}

// Stop takes nothing new, lets every run finish its slice, puts what it had to
// stop back into the queue, and leaves. When ctx ends it leaves at once, and the
// leases run out.
func (s *Scheduler) Stop(ctx context.Context) error {
	if s.draining.Swap(true) {
		return nil
	}
	close(s.drain)
	force := time.AfterFunc(drainGrace, func() { s.runs.cancelAll(errDraining) })
	defer force.Stop()
	err := s.queue.end(ctx)
	s.cancel()
	s.gone.Wait()
	return errors.Join(err, s.leave(context.WithoutCancel(ctx)))
}

// errDraining is the cause with which runs are stopped that did not end by themselves.
var errDraining = errors.New("the worker is stopping")

// LastPass is when this process last completed a pass; zero before the first.
func (s *Scheduler) LastPass() time.Time {
	if at := s.passedAt.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}
