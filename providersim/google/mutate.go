package google

import (
	"encoding/json"
	"fmt"

	"github.com/pdpp-go/pdpp/providersim"
)

// accountOperations are the mutations of the whole account.
var accountOperations = map[string]func(g *Google, n int){
	"forget_tokens": func(g *Google, _ int) { g.epoch++ },         // those of pages, too
	"allow":         func(g *Google, n int) { g.cfg.Rate = n },    // requests in a minute
	"switch_off":    func(g *Google, n int) { g.off = n > 1 },     // 2: the APIs are not switched on in the project, 1: they are
	"other_account": func(g *Google, _ int) { g.becomeAnother() }, // somebody else signs in
}

// becomeAnother makes it another person's account, whose calendars and contacts are others.
func (g *Google) becomeAnother() {
	cfg := g.cfg
	cfg.Seed++
	other := New(cfg)
	g.mail = "bo.second@example.com"
	if len(other.calendars) > 0 {
		other.calendars[0].id = g.mail
	}
	for i, p := range other.people {
		p.name += fmt.Sprintf("9%d", i)
	}
	g.calendars, g.people, g.others, g.groups, g.seq, g.epoch, g.signer = other.calendars, other.people, other.others, other.groups, other.seq, g.epoch+1, other.signer
}

// Mutate runs an operation N times, each on one thing.
func (g *Google) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.N < 1 || m.N > 100_000 {
		return providersim.Mutated{}, fmt.Errorf("mutation %s: n must be 1 to 100000", m.Op)
	}
	out := providersim.Mutated{Op: m.Op}
	if operate, known := accountOperations[m.Op]; known {
		operate(g, m.N)
		out.Now = g.clock
		return out, nil
	}
	ofCalendars, calendars := calendarOperations[m.Op]
	ofPeople, people := peopleOperations[m.Op]
	for range m.N {
		switch {
		case calendars:
			there := g.living()
			if m.Op == "drop_calendars" {
				there = there[1:]
			}
			out.IDs = append(out.IDs, ofCalendars(g, there[g.choice.IntN(len(there))]))
		case people:
			out.IDs = append(out.IDs, ofPeople(g))
		default:
			return providersim.Mutated{}, fmt.Errorf("unknown mutation %q", m.Op)
		}
	}
	out.Now = g.clock
	return out, nil
}

// Truth returns everything that exists now.
func (g *Google) Truth() providersim.Truth {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := providersim.Truth{}
	add := func(stream, key string, data object, deleted bool) {
		if t[stream] == nil {
			t[stream] = map[string]providersim.Item{}
		}
		t[stream][key] = providersim.Item{Data: json.RawMessage(providersim.EncodeJSON(data)), Deleted: deleted}
	}
	g.calendarTruth(add)
	g.peopleTruth(add)
	return t
}
