package ratesim

import (
	"math/rand/v2"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// StartTime is the wall clock at the beginning of every run.
var StartTime = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// ShortRun is how many things most runs fetch at most.
const ShortRun = 200

// Options describe one run.
type Options struct {
	Provider Provider
	Seed     uint64
	// Governor decides when to send. It is the caller's, who may look at it.
	Governor *governor.Governor
	// Peer paces instead of the governor, within Ceiling, unless it is nil. The governor then only retries refused
	// requests.
	Peer    PeerPacer
	Ceiling time.Duration
	// Requests is how many things there are to fetch.
	Requests int
	// Workers is how many requests may be under way at once; zero means one. A governor
	// that finds out their number lets fewer of them work.
	Workers int
	// Withdraw is the share of admitted requests that the caller abandons before they leave; they are requested again.
	Withdraw float64
	// Until ends a run that is not done by then; zero means a year.
	Until time.Duration
	// Sample is how often the interval is noted; zero means never.
	Sample time.Duration
	// Watch receives every event, unless it is nil.
	Watch func(RunEvent)
}

// RunResult is how a run went.
type RunResult struct {
	Done                                   bool // everything was fetched
	Sends, Successes, Rejections           int
	Refusals, Failures, Denials, Withdrawn int
	Elapsed                                time.Duration
	First                                  time.Duration // when the first ShortRun things were fetched
	Samples                                []Sample
	Learned                                *governor.Learned
}

// Sample is the pace at a time, and what the provider allows then.
type Sample struct {
	At, Interval time.Duration
	Limit        float64 // requests per second
}

type run struct {
	Options
	RunResult
	world   *runningProvider
	now     time.Duration
	workers []fetchWorker
	order   int
	fresh   int // things that no worker has begun
	fetched int
	left    time.Duration // when the last request left, if one did
	sampled time.Duration
	whims   *rand.Rand    // which requests are withdrawn
	skew    time.Duration // by how much its clock is ahead
}

// Run simulates a client that fetches everything through its governor.
func Run(o Options) RunResult {
	if o.Until == 0 {
		o.Until = 365 * 24 * time.Hour
	}
	r := &run{
		Options: o, world: newRunningProvider(o.Provider, o.Seed), fresh: o.Requests,
		workers: make([]fetchWorker, max(1, o.Workers)), whims: rand.New(rand.NewPCG(o.Seed, 3)),
	}
	for i := range r.workers {
		r.workers[i].stage = stageRests
	}
	for i := range r.workers {
		r.startItem(&r.workers[i])
	}
	for r.fetched < r.Requests {
		w := r.nextWorker()
		r.sampleInterval(w.at)
		if w.at > r.Until {
			r.now = r.Until
			break
		}
		r.now = w.at
		r.advanceWorker(w)
	}
	r.Done, r.Elapsed = r.fetched >= r.Requests, r.now
	if l, ok := r.Governor.Snapshot(r.clockTime()); ok {
		r.Learned = &l
	}
	return r.RunResult
}

func (r *run) clockTime() time.Time { return r.wallTime(r.now) }

// wallTime is what the run's clock shows at a time.
func (r *run) wallTime(at time.Duration) time.Time { return StartTime.Add(at + r.skew) }
