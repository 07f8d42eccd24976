package view

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
)

// random returns evidence of a random kind with random changes.
func random(r *rand.Rand, id string) evidence.Evidence {
	names := slices.Sorted(maps.Keys(kinds))
	e := kinds[names[r.IntN(len(names))]](id)
	e.Connection.DisplayName = fmt.Sprintf("name %d", r.IntN(5))
	changes := []func(){
		func() { e.Records = nil },
		func() { e.Records = &evidence.Records{} },
		func() { e.Gaps = nil },
		func() { e.Refresh = nil },
		func() { e.Schedule = nil },
		func() { e.LastSuccessAt = nil },
		func() { e.Active = &evidence.ActiveRun{ID: "run_9", StartedAt: noon} },
		func() { e.Connection.Status = evidence.StatusPaused },
		func() { e.Streams = nil },
		func() { e.Unreadable = append(e.Unreadable, evidence.Families[r.IntN(len(evidence.Families))]) },
		func() { e.Credential = rejected(id).Credential },
		func() { e.Attention = asked(id).Attention },
		func() { e.Backoff = cooling(id).Backoff },
		func() { e.Device = stalled(id).Device },
		func() { e.LastRun = failed(id).LastRun },
	}
	for _, change := range changes {
		if r.IntN(8) == 0 {
			change()
		}
	}
	return e
}

// Whatever the connections are, the populations add up and nothing that does
// not work is hidden.
func TestSummaryHidesNothing(t *testing.T) {
	t.Attr("spec", "CH-09")
	t.Attr("spec", "CH-09.1")
	t.Attr("spec", "CH-09.2")
	t.Attr("spec", "CH-10")
	const rounds, size = 3000, 8
	r := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		n := r.IntN(size)
		all := make([]Connection, n)
		troubled, stalledOnes, degraded, cooling := 0, 0, 0, 0
		for i := range all {
			e := random(r, fmt.Sprintf("cin_%d", i))
			all[i] = Judge(&e, noon, r.IntN(3) > 0)
			isStalled := all[i].Health.Axes.Outbox == health.OutboxStalled
			switch all[i].Health.State {
			case health.Degraded:
				degraded++
			case health.CoolingOff:
				cooling++
			case health.Blocked, health.NeedsAttention:
			default:
				if !isStalled && all[i].Verdict.Channel != verdict.Attention {
					continue
				}
			}
			troubled++
			if isStalled {
				stalledOnes++
			}
		}
		s := Summarize(all, nil)
		if s.Registered != n || s.WithData+s.WithoutData+s.DataNotMeasured != n || s.Attention+s.Advisory+s.Calm != n ||
			s.NeedsAttention+s.Blocked+s.Degraded+s.CoolingOff+s.Unknown+s.Idle+s.Healthy != n {
			t.Fatalf("round %d: %d connections do not add up: %+v", round, n, s)
		}
		if s.Degraded != degraded || s.CoolingOff != cooling || s.Stalled != stalledOnes || s.Visible < troubled {
			t.Fatalf("round %d: %d troubled, %d stalled: %+v", round, troubled, stalledOnes, s)
		}
		if s.NothingToSee && (troubled > 0 || s.Unknown > 0) {
			t.Fatalf("round %d: nothing to see, but %+v", round, s)
		}
	}
	t.Attr("result", fmt.Sprintf("sums held on %d summaries of random connections", rounds))
}

// A stalled device is visible as such, and not as a failure of the scheduler.
func TestStalledDeviceIsVisibleInTheSummary(t *testing.T) {
	t.Attr("spec", "CH-09.2")
	c := judged(stalled("cin_1"))
	s := Summarize([]Connection{c}, nil)
	if s.Stalled != 1 || s.Visible != 1 || s.NothingToSee || s.CoolingOff != 0 {
		t.Errorf("summary %+v", s)
	}
	if k := c.Health.Condition(health.RetryPolicyClear); k.Status == health.False {
		t.Errorf("the scheduler is blamed: %+v", k)
	}
}

func TestPopulationsAreNamed(t *testing.T) {
	t.Attr("spec", "CH-10.1")
	s := Summarize([]Connection{judged(collected("a")), judged(collected("b")), judged(registered("c")),
		judged(unreadable("d"))}, nil)
	if s.Registered != 4 || s.WithData != 2 || s.WithoutData != 1 || s.DataNotMeasured != 1 {
		t.Errorf("summary %+v", s)
	}
	if quiet := Summarize([]Connection{judged(collected("a"))}, nil); !quiet.NothingToSee || quiet.Visible != 0 {
		t.Errorf("a healthy connection is in the way: %+v", quiet)
	}
}

// People see what needs them first, and of that the worst.
func TestOrderForPeople(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		all := make([]Connection, 1+r.IntN(12))
		for i := range all {
			e := random(r, fmt.Sprintf("cin_%d", i))
			all[i] = Judge(&e, noon, true)
		}
		all = sortForPeople(all)
		for i := 1; i < len(all); i++ {
			a, b := rank(&all[i-1]), rank(&all[i])
			if slices.Compare(a, b) > 0 || slices.Equal(a, b) && all[i-1].DisplayName > all[i].DisplayName {
				t.Fatalf("%v %q before %v %q", a, all[i-1].DisplayName, b, all[i].DisplayName)
			}
		}
	}
}

func rank(c *Connection) []int {
	return []int{
		map[verdict.Channel]int{verdict.Attention: 0, verdict.Advisory: 1, verdict.Calm: 2}[c.Verdict.Channel],
		map[verdict.Tone]int{verdict.Red: 0, verdict.Amber: 1, verdict.Grey: 2, verdict.Green: 3}[c.Verdict.Pill.Tone],
	}
}

func BenchmarkJudge(b *testing.B) {
	e := collected("cin_1")
	later := noon.Add(time.Minute)
	b.ReportAllocs()
	for b.Loop() {
		Judge(&e, later, true)
	}
}

func BenchmarkAll(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		r := rand.New(rand.NewPCG(9, 10))
		all := make([]evidence.Evidence, n)
		for i := range all {
			all[i] = random(r, fmt.Sprintf("cin_%06d", i))
		}
		v := (&shelf{all: all}).view()
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.All(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
