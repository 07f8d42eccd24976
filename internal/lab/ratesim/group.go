package ratesim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/governor"
)

// Group describes several runs that draw on one allowance.
type Group struct {
	Provider Provider
	Seed     uint64
	Members  []Member
	// Delay is how long news takes from one run to another, give or take a third.
	Delay time.Duration
	// Lost is the share of news that never arrives, Doubled of that which arrives twice.
	Lost, Doubled float64
	// Until ends them all.
	Until time.Duration
	// Watch is told of everything that a member does, when it is there.
	Watch func(member int, e Event)
}

// Member is one of the runs.
type Member struct {
	Governor *governor.Governor
	// From and To are when it begins and ends; a zero To is the end of all.
	From, To time.Duration
	// Killed says that it ends without a word: the others hear of it when its lease ends.
	Killed bool
	// Skew is by how much its clock is ahead.
	Skew time.Duration
	// Rests are times in which it has nothing to send, each from one time to another.
	Rests [][2]time.Duration
	// Workers is how many requests it may have under way at once; zero means one.
	Workers int
}

const (
	// tellEvery is how often a run is asked for news.
	tellEvery = 250 * time.Millisecond
	// lease is how long a run counts that has ended without a word.
	lease = 15 * time.Second
)

// act is something that happens at a time, other than a step of a worker.
type act struct {
	at    time.Duration
	order int
	do    func()
}

type group struct {
	Group
	world   *world
	runs    []*run
	acts    []act
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

// RunGroup simulates runs that share an allowance. It tells how each of them went.
func RunGroup(o Group) []Result {
	g := &group{
		Group: o, world: newWorld(o.Provider, o.Seed), random: rand.New(rand.NewPCG(o.Seed, 6)),
		latest: make([]governor.PeerUpdate, len(o.Members)), heard: make([]bool, len(o.Members)),
		alive: make([]bool, len(o.Members)),
		shown: make([]int, len(o.Members)),
	}
	for i, m := range o.Members {
		r := &run{
			Options: Options{Provider: o.Provider, Seed: o.Seed, Governor: m.Governor, Requests: 1 << 30},
			world:   g.world, fresh: 1 << 30, workers: make([]worker, max(1, m.Workers)),
			skew: m.Skew, whims: rand.New(rand.NewPCG(o.Seed, 3)),
		}
		if o.Watch != nil {
			r.Watch = func(e Event) { o.Watch(i, e) }
		}
		for w := range r.workers {
			r.workers[w].stage = rests
		}
		g.runs = append(g.runs, r)
		g.at(m.From, func() { g.begin(i) })
		if m.To > 0 {
			g.at(m.To, func() { g.end(i) })
		}
	}
	for g.step() {
	}
	var results []Result
	for _, r := range g.runs {
		if l, ok := r.Governor.Snapshot(r.clock()); ok {
			r.Learned = &l
		}
		results = append(results, r.Result)
	}
	return results
}

// at plans an act.
func (g *group) at(at time.Duration, do func()) {
	g.order++
	a := act{at, g.order, do}
	i, _ := slices.BinarySearchFunc(g.acts, a, func(x, y act) int {
		if x.at != y.at {
			return int(min(1, max(-1, x.at-y.at)))
		}
		return x.order - y.order
	})
	g.acts = slices.Insert(g.acts, i, a)
}

// step does what comes next, and reports whether there was something.
func (g *group) step() bool {
	var first *worker
	var of int
	for i, r := range g.runs {
		if !g.alive[i] {
			continue
		}
		if w := r.next(); w != nil && (first == nil || w.at < first.at) {
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
	refused, asking := r.Refusals, first.stage == asks
	if rest := g.resting(of); asking && rest > 0 {
		r.schedule(first, asks, rest)
		return true
	}
	r.advance(first)
	if r.Refusals > refused {
		g.tell(of)
	}
	return true
}

// resting is until when a member has nothing to send; zero if it has.
func (g *group) resting(i int) time.Duration {
	for _, rest := range g.Members[i].Rests {
		if g.now >= rest[0] && g.now < rest[1] {
			return rest[1]
		}
	}
	return 0
}

func (g *group) begin(i int) {
	r := g.runs[i]
	g.alive[i] = true
	g.members = append(g.members, i)
	g.divide(i)
	for w := range r.workers {
		r.begin(&r.workers[w])
	}
	g.at(g.now+tellEvery, func() { g.poll(i) })
}

// end takes a member out, at once or when its lease ends.
func (g *group) end(i int) {
	g.alive[i] = false
	for w := range g.runs[i].workers {
		g.runs[i].workers[w].stage = rests
	}
	leave := func() {
		g.members = slices.DeleteFunc(g.members, func(m int) bool { return m == i })
		g.heard[i] = false
		g.divide(-1)
	}
	if g.Members[i].Killed {
		g.at(g.now+lease, leave)
		return
	}
	leave()
}

// late is how long something takes to another run.
func (g *group) late() time.Duration {
	return seconds(g.Delay.Seconds() * (0.67 + 0.66*g.random.Float64()))
}

// divide tells everybody the new shares: the one that joins at once, with what is known.
func (g *group) divide(joins int) {
	g.version++
	version := g.version
	for place, i := range g.members {
		share := governor.Share{Runs: len(g.members), Place: place}
		tell := func() {
			if g.alive[i] && g.shown[i] < version {
				g.shown[i] = version
				g.runs[i].Governor.SetShare(g.runs[i].clock(), share)
			}
		}
		if i != joins {
			g.at(g.now+g.late(), tell)
			continue
		}
		tell()
		for _, j := range g.members {
			if g.heard[j] {
				g.runs[i].Governor.ApplyPeerUpdate(g.runs[i].clock(), g.latest[j])
			}
		}
	}
}

func (g *group) poll(i int) {
	if g.alive[i] {
		g.tell(i)
		g.at(g.now+tellEvery, func() { g.poll(i) })
	}
}

// tell passes on what a member has to tell.
func (g *group) tell(i int) {
	n, ok := g.runs[i].Governor.PeerUpdate(g.runs[i].clock())
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
				g.runs[j].Governor.ApplyPeerUpdate(g.runs[j].clock(), n)
			}
		}
		if g.at(g.now+g.late(), arrive); g.random.Float64() < g.Doubled {
			g.at(g.now+g.late(), arrive)
		}
	}
}
