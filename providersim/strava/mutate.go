package strava

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// operations are the mutations that the control port knows. Each returns what it touched.
var operations = map[string]func(s *Strava) *activity{
	"record": func(s *Strava) *activity { return s.record(s.clock) },
	// A watch that was synchronised late: the activity began long ago.
	"upload_late": func(s *Strava) *activity {
		return s.record(s.activities[0].start.Add(time.Duration(1+s.choice.IntN(3000)) * time.Minute))
	},
	"rename": func(s *Strava) *activity { return s.any(func(a *activity) { a.name += " (renamed)" }) },
	"crop":   func(s *Strava) *activity { return s.any(func(a *activity) { a.start = a.start.Add(90 * time.Second) }) },
	"kudos":  func(s *Strava) *activity { return s.any(func(a *activity) { a.kudos++ }) },
	"delete": func(s *Strava) *activity { return s.any(func(a *activity) { a.deleted = true }) },
}

// Mutate runs an operation N times.
func (s *Strava) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	operate, known := operations[m.Op]
	switch {
	case !known:
		return providersim.Mutated{}, fmt.Errorf("unknown mutation %q", m.Op)
	case m.N < 1 || m.N > 100_000:
		return providersim.Mutated{}, fmt.Errorf("mutation %s: n must be 1 to 100000", m.Op)
	}
	out := providersim.Mutated{Op: m.Op}
	for range m.N {
		if a := operate(s); a != nil {
			out.IDs = append(out.IDs, strconv.FormatInt(a.id, 10))
		}
	}
	out.Now = s.clock
	return out, nil
}

// any changes one activity that is there, chosen at random; nil when there is none.
func (s *Strava) any(change func(*activity)) *activity {
	var pool []*activity
	for _, a := range s.activities {
		if !a.deleted && !a.ghost {
			pool = append(pool, a)
		}
	}
	if len(pool) == 0 {
		return nil
	}
	a := pool[s.choice.IntN(len(pool))]
	change(a)
	return a
}

// StreamActivities is the stream of [Strava.Truth].
const StreamActivities = "activities"

// Truth returns everything that exists now, as the API serves it.
func (s *Strava) Truth() providersim.Truth {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]providersim.Item{}
	for _, a := range s.activities {
		if a.ghost {
			continue
		}
		all[strconv.FormatInt(a.id, 10)] = providersim.Item{Data: json.RawMessage(providersim.EncodeJSON(a.object())), Deleted: a.deleted}
	}
	return providersim.Truth{StreamActivities: all}
}
