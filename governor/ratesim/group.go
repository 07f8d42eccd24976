package ratesim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// GroupOptions describes several runs that draw on one allowance.
type GroupOptions struct {
	Provider Provider
	Seed     uint64
	Members  []GroupMember
	// Delay is the mean time of a peer update from one run to another; it varies by a third.
	Delay time.Duration
	// Lost is the share of news that never arrives, Doubled of that which arrives twice.
	Lost, Doubled float64
	// Until ends them all.
	Until time.Duration
	// Watch receives every event of a member, unless it is nil.
	Watch func(member int, e RunEvent)
}

// GroupMember is one of the runs.
type GroupMember struct {
	Governor *governor.Governor
	// From and To are when it begins and ends; a zero To is the end of all.
	From, To time.Duration
	// Killed makes the member end without notice: the others learn of it when its lease ends.
	Killed bool
	// Skew is by how much its clock is ahead.
	Skew time.Duration
	// Rests are times in which it has nothing to send, each from one time to another.
	Rests [][2]time.Duration
	// Workers is how many requests it may have under way at once; zero means one.
	Workers int
}

const (
	// pollInterval is how often a run is asked for its peer update.
	pollInterval = 250 * time.Millisecond
	// memberLease is how long a run counts that has ended without a word.
	memberLease = 15 * time.Second
)

// plannedAct is something that happens at a time, other than a step of a worker.
type plannedAct struct {
	at    time.Duration
	order int
	do    func()
}

type runningGroup struct {
	GroupOptions
	world   *runningProvider
	runs    []*run
	acts    []plannedAct
	order   int
	now     time.Duration
	random  *rand.Rand
	members []int // that count, in the order of their coming
	latest  []governor.PeerUpdate
	heard   []bool // there is such news
	alive   []bool
	version int   // of the membership
	shown   []int // version that each member knows
}

// SimulateGroup simulates runs that share a quota. It returns the result of each run.
func SimulateGroup(o GroupOptions) []RunResult {
	g := &runningGroup{
		GroupOptions: o, world: newRunningProvider(o.Provider, o.Seed), random: rand.New(rand.NewPCG(o.Seed, 6)),
		latest: make([]governor.PeerUpdate, len(o.Members)), heard: make([]bool, len(o.Members)),
		alive: make([]bool, len(o.Members)),
		shown: make([]int, len(o.Members)),
	}
	for i, m := range o.Members {
		r := &run{
			Options: Options{Provider: o.Provider, Seed: o.Seed, Governor: m.Governor, Requests: 1 << 30},
			world:   g.world, fresh: 1 << 30, workers: make([]fetchWorker, max(1, m.Workers)),
			skew: m.Skew, whims: rand.New(rand.NewPCG(o.Seed, 3)),
		}
		if o.Watch != nil {
			r.Watch = func(e RunEvent) { o.Watch(i, e) }
		}
		for w := range r.workers {
			r.workers[w].stage = stageRests
		}
		g.runs = append(g.runs, r)
		g.planAct(m.From, func() { g.startMember(i) })
		if m.To > 0 {
			g.planAct(m.To, func() { g.endMember(i) })
		}
	}
	for g.runNextAct() {
	}
	var results []RunResult
	for _, r := range g.runs {
		if l, ok := r.Governor.Snapshot(r.clockTime()); ok {
			r.Learned = &l
		}
		results = append(results, r.RunResult)
	}
	return results
}

// planAct plans an act.
func (g *runningGroup) planAct(at time.Duration, do func()) {
	g.order++
	a := plannedAct{at, g.order, do}
	i, _ := slices.BinarySearchFunc(g.acts, a, func(x, y plannedAct) int {
		if x.at != y.at {
			return int(min(1, max(-1, x.at-y.at)))
		}
		return x.order - y.order
	})
	g.acts = slices.Insert(g.acts, i, a)
}

// runNextAct does what comes next, and reports whether there was something.
func (g *runningGroup) runNextAct() bool {
	var first *fetchWorker
	var of int
	for i, r := range g.runs {
		if !g.alive[i] {
			continue
		}
		if w := r.nextWorker(); w != nil && (first == nil || w.at < first.at) {
			first, of = w, i
		}
	}
	if len(g.acts) > 0 && (first == nil || g.acts[0].at <= first.at) {
		a := g.acts[0]
		g.acts = g.acts[1:]
		if g.now = a.at; g.now > g.Until {
			return false
		}
		for _, r := range g.runs {
			r.now = g.now
		}
		a.do()
		return true
	}
	if first == nil || first.at > g.Until {
		return false
	}
	g.now = first.at
	r := g.runs[of]
	r.now = g.now
	refused, asking := r.Refusals, first.stage == stageAsks
	if rest := g.restsUntil(of); asking && rest > 0 {
		r.scheduleStep(first, stageAsks, rest)
		return true
	}
	r.advanceWorker(first)
	if r.Refusals > refused {
		g.sharePeerUpdate(of)
	}
	return true
}

// restsUntil is until when a member has nothing to send; zero if it has.
func (g *runningGroup) restsUntil(i int) time.Duration {
	for _, rest := range g.Members[i].Rests {
		if g.now >= rest[0] && g.now < rest[1] {
			return rest[1]
		}
	}
	return 0
}

func (g *runningGroup) startMember(i int) {
	r := g.runs[i]
	g.alive[i] = true
	g.members = append(g.members, i)
	g.divideShares(i)
	for w := range r.workers {
		r.startItem(&r.workers[w])
	}
	g.planAct(g.now+pollInterval, func() { g.pollMember(i) })
}

// endMember removes a member, at once or when its lease ends.
func (g *runningGroup) endMember(i int) {
	g.alive[i] = false
	for w := range g.runs[i].workers {
		g.runs[i].workers[w].stage = stageRests
	}
	leave := func() {
		g.members = slices.DeleteFunc(g.members, func(m int) bool { return m == i })
		g.heard[i] = false
		g.divideShares(-1)
	}
	if g.Members[i].Killed {
		g.planAct(g.now+memberLease, leave)
		return
	}
	leave()
}

// peerDelay is how long something takes to another run.
func (g *runningGroup) peerDelay() time.Duration {
	return durationOf(g.Delay.Seconds() * (0.67 + 0.66*g.random.Float64()))
}

// divideShares sends the new shares to all members: to a joining member at once, with the current estimate.
func (g *runningGroup) divideShares(joins int) {
	g.version++
	version := g.version
	for place, i := range g.members {
		share := governor.Share{Runs: len(g.members), Place: place}
		tell := func() {
			if g.alive[i] && g.shown[i] < version {
				g.shown[i] = version
				g.runs[i].Governor.SetShare(g.runs[i].clockTime(), share)
			}
		}
		if i != joins {
			g.planAct(g.now+g.peerDelay(), tell)
			continue
		}
		tell()
		for _, j := range g.members {
			if g.heard[j] {
				g.runs[i].Governor.ApplyPeerUpdate(g.runs[i].clockTime(), g.latest[j])
			}
		}
	}
}

func (g *runningGroup) pollMember(i int) {
	if g.alive[i] {
		g.sharePeerUpdate(i)
		g.planAct(g.now+pollInterval, func() { g.pollMember(i) })
	}
}

// sharePeerUpdate sends a member's pending update to the others.
func (g *runningGroup) sharePeerUpdate(i int) {
	n, ok := g.runs[i].Governor.PeerUpdate(g.runs[i].clockTime())
	if !ok {
		return
	}
	n.From = uint64(i)
	g.latest[i], g.heard[i] = n, true
	for _, j := range g.members {
		if j == i || g.random.Float64() < g.Lost {
			continue
		}
		arrive := func() {
			if g.alive[j] {
				g.runs[j].Governor.ApplyPeerUpdate(g.runs[j].clockTime(), n)
			}
		}
		if g.planAct(g.now+g.peerDelay(), arrive); g.random.Float64() < g.Doubled {
			g.planAct(g.now+g.peerDelay(), arrive)
		}
	}
}
