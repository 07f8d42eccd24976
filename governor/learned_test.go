package governor_test

import (
	"maps"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/internal/quickcheck"
)

var learnedOnce = governor.Learned{
	Interval: 512 * time.Millisecond, Recorded: noon, Limit: 2, Refused: 2.5, Sweep: 300,
	Pause: 4500 * time.Millisecond, Cost: 12 * time.Second,
}

func TestLearnedSurvivesItsFields(t *testing.T) {
	t.Parallel()
	quickcheck.Check(t, func(t *quickcheck.T) {
		// A cursor spells times in thousandths of a millisecond.
		micros := func(name string, most int64) time.Duration {
			return time.Duration(t.Int64(name, 1, most)) * time.Microsecond
		}
		l := governor.Learned{
			Interval: micros("interval", 1e10),
			Recorded: noon.Add(time.Duration(t.Int("ago", 0, 1e6)) * -time.Millisecond),
			Limit:    t.Float("limit", 1e-3, 1e4),
			Refused:  t.Float("refused", 1e-3, 1e4),
			Sweep:    t.Float("sweep", 1, 1e5),
			Pause:    micros("pause", 1e10),
			Cost:     micros("cost", 1e10),
			Depth:    t.Float("depth", 1e-3, 1e4),
			Spaced:   t.Bool("spaced"),
			Scatter:  t.Float("scatter", 1e-3, 0.2),
		}
		back, ok := governor.RestoreLearned(l.Fields(), noon)
		if !ok {
			t.Fatalf("%v restores nothing", l.Fields())
		}
		if different := differentFields(l, back); len(different) > 0 {
			t.Fatalf("restored %+v, want %+v: %v differ", back, l, different)
		}
	})
}

// differentFields returns the names of the fields that differ by more than the rounding of Learned.Fields.
func differentFields(want, got governor.Learned) (names []string) {
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range w.NumField() {
		same := false
		switch a := w.Field(i).Interface().(type) {
		case time.Time:
			same = a.Equal(g.Field(i).Interface().(time.Time))
		case time.Duration:
			same = (a - g.Field(i).Interface().(time.Duration)).Abs() <= time.Microsecond
		case float64:
			b := g.Field(i).Float()
			same = math.Abs(a-b) <= 1e-9*math.Max(a, b)
		default:
			same = w.Field(i).Equal(g.Field(i))
		}
		if !same {
			names = append(names, w.Type().Field(i).Name)
		}
	}
	return names
}

func TestStaleOrMalformedRestoresNothing(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-26.2")
	with := func(name string, v float64) map[string]float64 {
		f := learnedOnce.Fields()
		f[name] = v
		return f
	}
	without := func(name string) map[string]float64 {
		f := learnedOnce.Fields()
		delete(f, name)
		return f
	}
	nan, inf := math.NaN(), math.Inf(1)
	cases := map[string]struct {
		fields map[string]float64
		age    time.Duration
		fresh  bool
	}{
		"at once":                  {learnedOnce.Fields(), 0, true},
		"exactly six hours":        {learnedOnce.Fields(), 6 * time.Hour, true},
		"a moment too old":         {learnedOnce.Fields(), 6*time.Hour + time.Millisecond, false},
		"from far in the future":   {learnedOnce.Fields(), -7 * time.Hour, false},
		"nothing":                  {nil, 0, false},
		"no interval":              {without(governor.FieldInterval), 0, false},
		"no time":                  {without(governor.FieldRecorded), 0, false},
		"zero interval":            {with(governor.FieldInterval, 0), 0, false},
		"negative interval":        {with(governor.FieldInterval, -5), 0, false},
		"interval is not a number": {with(governor.FieldInterval, nan), 0, false},
		"endless interval":         {with(governor.FieldInterval, inf), 0, false},
		"interval of a millennium": {with(governor.FieldInterval, 1e15), 0, false},
		"time is not a number":     {with(governor.FieldRecorded, nan), 0, false},
		"endless time":             {with(governor.FieldRecorded, inf), 0, false},
		"time before the epoch":    {with(governor.FieldRecorded, -1), 0, false},
		"time beyond reckoning":    {with(governor.FieldRecorded, 9e18), 0, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, ok := governor.RestoreLearned(tc.fields, noon.Add(tc.age))
			if ok != tc.fresh {
				t.Fatalf("restored %+v, %t", l, ok)
			}
			if ok {
				return
			}
			if l != (governor.Learned{}) {
				t.Fatalf("nothing is %+v", l)
			}
			c := newClient(t, func(c *governor.Config) { c.Learned = &l })
			if waited := c.send(governor.Rejected); waited != governor.DefaultConfig().Discovery {
				t.Fatalf("the first request waits %s", waited)
			}
		})
	}
}

// A malformed member other than the interval is ignored; the rest still counts.
func TestMalformedAdviceIsLeftOut(t *testing.T) {
	t.Parallel()
	for name := range maps.Keys(learnedOnce.Fields()) {
		if name == governor.FieldInterval || name == governor.FieldRecorded {
			continue
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300} {
			f := learnedOnce.Fields()
			f[name] = v
			l, ok := governor.RestoreLearned(f, noon)
			if !ok || l.Interval != learnedOnce.Interval {
				t.Fatalf("%s = %v: restored %+v, %t", name, v, l, ok)
			}
			if got := l.Fields()[name]; got != 0 {
				t.Fatalf("%s = %v is restored as %v", name, v, got)
			}
		}
	}
}

func FuzzRestore(f *testing.F) {
	f.Add(512.0, float64(noon.UnixMilli()), 120.0, 300.0)
	f.Add(math.NaN(), math.Inf(1), -1.0, 1e308)
	f.Add(math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(-1), 0.0)
	f.Fuzz(func(t *testing.T, interval, recorded, limit, other float64) {
		l, ok := governor.RestoreLearned(map[string]float64{
			governor.FieldInterval: interval, governor.FieldRecorded: recorded, governor.FieldLimit: limit,
			governor.FieldRefused: other, governor.FieldSweep: other, governor.FieldPause: other, governor.FieldCost: other,
		}, noon)
		if !ok {
			return
		}
		if age := noon.Sub(l.Recorded).Abs(); age > governor.MaxLearnedAge {
			t.Fatalf("restored at an age of %s", age)
		}
		c := newClient(t, unbroken, patient, func(c *governor.Config) { c.Learned = &l })
		ceiling := governor.DefaultConfig().Ceiling
		for _, kind := range []governor.Kind{
			governor.Success, governor.Throttled, governor.Success, governor.Success, governor.Failed,
		} {
			c.send(kind)
			if i := c.interval(); i < ceiling {
				t.Fatalf("interval %s", i)
			}
		}
	})
}

// The next run starts at the learned interval, not at the discovery interval.
func TestWarmStartContinues(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-26.1")
	first := newClient(t)
	for range 3 {
		first.send(governor.Success)
	}
	kept, ok := first.g.Snapshot(first.now)
	if !ok || !kept.Recorded.Equal(first.now) {
		t.Fatalf("keeps %+v, %t", kept, ok)
	}
	restored, ok := governor.RestoreLearned(kept.Fields(), first.now.Add(time.Hour))
	if !ok {
		t.Fatal("restores nothing")
	}
	second := newClient(t, func(c *governor.Config) { c.Learned = &restored })
	discovery := governor.DefaultConfig().Discovery
	waited := second.send(governor.Rejected)
	if waited != restored.Interval || waited >= discovery || (waited-first.interval()).Abs() > time.Microsecond {
		t.Fatalf("the first run ended at %s, the second begins at %s", first.interval(), waited)
	}
}

// A learned rate never exceeds the owner's ceiling, and a slow one is not sped up.
func TestWarmStartKeepsTheCeiling(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RC-03")
	for learned, want := range map[time.Duration]time.Duration{
		time.Nanosecond: 300 * time.Millisecond, 100 * time.Millisecond: 300 * time.Millisecond,
		300 * time.Millisecond: 300 * time.Millisecond, 301 * time.Millisecond: 301 * time.Millisecond,
		20 * time.Second: 20 * time.Second,
	} {
		c := newClient(t, func(c *governor.Config) {
			c.Ceiling, c.Learned = 300*time.Millisecond, &governor.Learned{Interval: learned}
		})
		if waited := c.send(governor.Rejected); waited != want || c.interval() != want {
			t.Errorf("learned %s: the first request waits %s at an interval of %s", learned, waited, c.interval())
		}
	}
}
