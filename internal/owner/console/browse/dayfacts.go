package browse

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/manifest"
)

// dayFacts is a day in facts: counts by kind, its longest conversation, its places and what was spent.
// A number that was not read to the end is left out.
type dayFacts struct {
	Numbers  []fact
	Pictures []things.Picture
	Places   []stay
	talk     string // the name of the longest conversation
	talked   int    // its messages
}

// fact is a number of the day with its name. Clause is the number as part of a sentence; empty means that the
// sentence leaves it out.
type fact struct{ Name, Value, Clause string }

// stay is a visit to a place.
type stay struct {
	At      time.Time
	Name    string
	Took    string
	Address string
}

const (
	// picturesOfADay is how many pictures a day shows, and placesOfADay how many places the sentence names.
	picturesOfADay = 6
	placesOfADay   = 3
	// measuresOfADay is how many measurements are listed in numbers.
	measuresOfADay = 4
)

// dayFactsOf derives the facts of a day from what happened.
func (n *names) dayFactsOf(happened []happening, at choice, zone *time.Location) (f dayFacts) {
	counts := map[string]int64{}
	many := map[string]bool{} // counting stopped
	var stays, pictures []*things.Thing
	for i := range happened {
		h := &happened[i]
		kind, is := records.KindOf(&h.in.Stream)
		if !is {
			continue
		}
		counts[kind.Name] += h.shown()
		many[kind.Name] = many[kind.Name] || h.count > api.MostCounted
		for j := range h.things {
			t := &h.things[j]
			switch h.in.Kind() {
			case manifest.KindFile:
				if t.IsPicture() {
					pictures = append(pictures, t)
				}
			case manifest.KindPlace:
				stays = append(stays, t)
			}
		}
	}
	f.longestTalk(n, happened)
	byTime := func(a, b *things.Thing) int { return a.At.Compare(*b.At) }
	slices.SortStableFunc(pictures, byTime)
	for _, t := range pictures[:min(len(pictures), picturesOfADay)] {
		one := t.Picture()
		one.Title, one.At = t.PictureName(), one.At.In(zone)
		one.Address = at.beside(t)
		f.Pictures = append(f.Pictures, one)
	}
	slices.SortStableFunc(stays, byTime)
	f.stays(n, stays, at)
	for _, kind := range records.Kinds {
		c := counts[kind.Name]
		if c == 0 || kind.Name == "health" || kind.Name == "money" || kind.Name == "places" {
			continue
		}
		count := text.Count(c, kind.One, kind.Many)
		if kind.Name == "photos" && int64(len(pictures)) == c {
			count = text.Count(c, "photo", "photos")
		}
		one := fact{Name: kind.Label, Value: text.Number(c), Clause: count}
		if many[kind.Name] {
			one.Value, one.Clause = "more than "+text.Number(api.MostCounted), "more than "+text.Number(api.MostCounted)+
				" "+kind.Many
		} else if kind.Name == "conversations" && f.talk != "" && int64(f.talked) < c {
			one.Clause += fmt.Sprintf(" (%d with %s)", f.talked, f.talk)
		} else if kind.Name == "conversations" && f.talk != "" {
			one.Clause += " with " + f.talk
		}
		f.Numbers = append(f.Numbers, one)
	}
	f.Numbers = append(f.Numbers, spentOn(happened)...)
	f.Numbers = append(f.Numbers, n.measuredOn(happened)...)
	return f
}

// shown is how many of the records are shown as things: steps of programs and replaced versions are not.
func (h *happening) shown() int64 {
	if int64(len(h.things)) < h.count || h.in.Kind() != manifest.KindMessage {
		return h.count
	}
	var n int64
	for i := range h.things {
		if t := &h.things[i]; things.VoiceOf(t) != things.VoiceStep && t.Text("current") != "false" {
			n++
		}
	}
	return n
}

// longestTalk finds the conversation with most messages among people or assistants.
func (f *dayFacts) longestTalk(n *names, happened []happening) {
	talks := map[things.ThreadKey]int{}
	for i := range happened {
		h := &happened[i]
		if kind, is := records.KindOf(&h.in.Stream); !is || kind.Name != "conversations" || h.partly {
			continue
		}
		for j := range h.things {
			if k, is := things.ThreadOf(&h.things[j]); is && things.VoiceOf(&h.things[j]) != things.VoiceStep &&
				h.things[j].Text("current") != "false" {
				talks[k]++
			}
		}
	}
	if len(talks) == 0 {
		return
	}
	longest := slices.MaxFunc(slices.Collect(maps.Keys(talks)), func(a, b things.ThreadKey) int {
		return cmp.Or(cmp.Compare(talks[a], talks[b]), strings.Compare(b.Connection+b.Stream+b.Thread,
			a.Connection+a.Stream+a.Thread))
	})
	f.talk, f.talked = n.Title(longest.Connection, longest.Stream, longest.Thread), talks[longest]
}

// stays lists the places of the day. A place that was left and entered again is there again.
func (f *dayFacts) stays(n *names, all []*things.Thing, at choice) {
	for _, t := range all {
		name := things.Calm(text.Name(n.Of(t, "title")))
		if name == "" {
			continue
		}
		one := stay{At: *t.At, Name: name, Address: at.beside(t)}
		if end, known := api.ParseMoment(t.Text("end")); known && end.Sub(*t.At) >= time.Minute {
			one.Took = words.ShortSpan(int64(end.Sub(*t.At) / time.Second))
		}
		f.Places = append(f.Places, one)
	}
}

// spentOn adds up what was paid, by currency. A stream that was not read to its end adds nothing.
func spentOn(happened []happening) (out []fact) {
	spent, received := map[string]float64{}, map[string]float64{}
	for i := range happened {
		h := &happened[i]
		if h.in.Kind() != manifest.KindTransaction || int64(len(h.things)) < h.count {
			continue
		}
		for j := range h.things {
			t := &h.things[j]
			amount, ok := t.Number("amount")
			unit := t.Currency()
			switch {
			case ok && amount < 0:
				spent[unit] -= amount
			case ok:
				received[unit] += amount
			}
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(spent)) {
		value := things.Money(spent[unit], unit)
		out = append(out, fact{"Spent", value, value + " spent"})
	}
	for _, unit := range slices.Sorted(maps.Keys(received)) {
		if received[unit] > 0 {
			value := things.Money(received[unit], unit)
			out = append(out, fact{"Received", value, value + " received"})
		}
	}
	return out
}

// measuredOn lists what was measured once on the day: of several measurements it is not known which one counts.
func (n *names) measuredOn(happened []happening) (out []fact) {
	for i := range happened {
		h := &happened[i]
		if h.in.Kind() != manifest.KindMeasurement || int64(len(h.things)) < h.count {
			continue
		}
		once := map[string][]*things.Thing{}
		for j := range h.things {
			t := &h.things[j]
			name := cmp.Or(text.Name(n.Of(t, "series")), h.in.Label)
			once[name] = append(once[name], t)
		}
		for _, name := range slices.Sorted(maps.Keys(once)) {
			value, ok := once[name][0].Number("value")
			if len(once[name]) > 1 || !ok || len(out) == measuresOfADay {
				continue
			}
			unit := cmp.Or(once[name][0].Line("unit", 24), h.in.Display.Unit)
			clause := ""
			if strings.EqualFold(unit, name) { // steps count themselves
				clause = things.Figure(value, -1) + " " + unit
			}
			out = append(out, fact{name, things.Measured(value, unit), clause})
		}
	}
	return out
}

// sentence is the day in one sentence; empty when nothing is known of it.
func (f *dayFacts) sentence() string {
	var clauses []string
	for _, one := range f.Numbers {
		if one.Clause != "" {
			clauses = append(clauses, one.Clause)
		}
	}
	var at []string
	for _, s := range f.Places {
		if !slices.Contains(at, s.Name) {
			at = append(at, s.Name)
		}
	}
	if len(at) > placesOfADay {
		rest := len(at) - placesOfADay
		at = append(at[:placesOfADay:placesOfADay], text.Count(int64(rest), "other place", "other places"))
	}
	line := text.List(clauses)
	switch {
	case line == "" && len(at) == 0:
		return ""
	case line == "":
		return "At " + text.List(at) + "."
	case len(at) > 0:
		line += ", at " + text.List(at)
	}
	return text.Upper(line) + "."
}

// beside is the page with a record beside it.
func (c choice) beside(t *things.Thing) string {
	c.record = t.Path()
	return c.address() + "#record"
}
