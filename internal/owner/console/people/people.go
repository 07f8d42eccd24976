// Package people serves the pages about the people who wrote to the owner, over all sources.
package people

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/figures"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/person"
)

// Config is what the pages need. All members must be set.
type Config struct {
	Owner api.Owner
	// Now returns the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
}

type peoplePages struct {
	Config
	*ui.Responder
}

const (
	listAddress = "/people"
	section     = "people"
	onePage     = 50
)

// Routes returns the routes.
func Routes(c Config) []ui.Route {
	p := &peoplePages{c, ui.NewResponder(c.Owner, c.Now, c.Log)}
	const one = listAddress + "/{id}"
	return []ui.Route{
		{Pattern: "GET " + listAddress, Handler: http.HandlerFunc(p.list)},
		{Pattern: "GET " + one, Handler: http.HandlerFunc(p.person)},
		{Pattern: "POST " + one + "/join", Handler: p.decide("other",
			"They are one person now. You can take them apart below.",
			func(ctx context.Context, id, other string) error { return c.Owner.JoinPeople(ctx, id, other) })},
		{Pattern: "POST " + one + "/split", Handler: p.decide("identity", "Taken apart.",
			func(ctx context.Context, id, identity string) error { return c.Owner.SplitPerson(ctx, id, identity) })},
		{Pattern: "POST " + one + "/mine", Handler: p.decide("mine", "Noted.",
			func(ctx context.Context, id, mine string) error { return c.Owner.SetPersonMine(ctx, id, mine == "yes") })},
	}
}

// peopleList lists people.
type peopleList struct {
	person.List
	Query       person.PeopleQuery
	Kinds       []choice
	Orders      []choice
	Older, From string // the addresses of the next page and of the first one
	// Join is the person that one of the list is joined with; nil for a plain list.
	Join *person.ListedPerson
}

// choice is a link to another list.
type choice struct {
	Label   string
	Count   int
	Address string
	Current bool
}

func (p *peoplePages) list(w http.ResponseWriter, r *http.Request) {
	in := r.URL.Query()
	page := &peopleList{Query: person.PeopleQuery{Search: strings.TrimSpace(in.Get("q")),
		Kind: known(in.Get("kind"), "automatic", "mine"), Order: known(in.Get("order"), "recent", "name"), Limit: onePage}}
	page.Query.Skip, _ = strconv.Atoi(in.Get("skip"))
	page.Query.Skip = max(0, page.Query.Skip)
	var err error
	if page.List, err = p.Owner.People(r.Context(), page.Query); err != nil {
		p.ShowFailure(w, r, section, err)
		return
	}
	if id := in.Get("join"); id != "" {
		with, err := p.Owner.Person(r.Context(), id)
		if err != nil {
			p.ShowFailure(w, r, section, err)
			return
		}
		page.Join = &with.ListedPerson
	}
	page.choices()
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "People", section), listBody(page, p.Now()))
}

// known returns a word that is one of those that are known, and nothing for another one.
func known(word string, words ...string) string {
	if slices.Contains(words, word) {
		return word
	}
	return ""
}

func (page *peopleList) choices() {
	for _, k := range []struct {
		kind, label string
		count       int
	}{{"", "People", page.Counts.Person}, {"automatic", "Lists and programs", page.Counts.Automatic},
		{"mine", "You", page.Counts.Mine}} {
		if k.count > 0 || k.kind == page.Query.Kind {
			q := page.Query
			q.Kind, q.Skip = k.kind, 0
			page.Kinds = append(page.Kinds, choice{k.label, k.count, page.address(q), k.kind == page.Query.Kind})
		}
	}
	for _, o := range []struct{ order, label string }{{"", "Wrote most"}, {"recent", "Wrote last"}, {"name", "By name"}} {
		q := page.Query
		q.Order, q.Skip = o.order, 0
		page.Orders = append(page.Orders, choice{Label: o.label, Address: page.address(q),
			Current: o.order == page.Query.Order})
	}
	if next := page.Query.Skip + len(page.People); next < page.Total && len(page.People) > 0 {
		q := page.Query
		q.Skip = next
		page.Older = page.address(q)
	}
	if page.Query.Skip > 0 {
		q := page.Query
		q.Skip = 0
		page.From = page.address(q)
	}
}

// address is the address of the list with another query.
func (page *peopleList) address(q person.PeopleQuery) string {
	values := url.Values{}
	if page.Join != nil {
		values.Set("join", page.Join.ID)
	}
	for name, value := range map[string]string{"q": q.Search, "kind": q.Kind, "order": q.Order} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if q.Skip > 0 {
		values.Set("skip", strconv.Itoa(q.Skip))
	}
	if len(values) == 0 {
		return listAddress
	}
	return listAddress + "?" + values.Encode()
}

func personAddress(id string) string { return listAddress + "/" + ui.Segment(id) }

// personPage is one person.
type personPage struct {
	person.Person
	Chart  templ.Component // nil without dates
	Recent []recent
	Export records.ExportList
}

// recent is something that a person wrote.
type recent struct {
	At                         time.Time
	Class, Title, From, Source string
	Address                    string
}

const (
	// mostTraces is how many streams a page reads, and recentShown how many things it shows.
	mostTraces  = 8
	recentShown = 12
)

func (p *peoplePages) person(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", section)
	if !ok {
		return
	}
	found, err := p.Owner.Person(r.Context(), id)
	if err != nil {
		p.ShowFailure(w, r, section, err)
		return
	}
	page := &personPage{Person: found}
	if len(found.Months) > 0 {
		var months []figures.MonthCount
		for _, m := range found.Months {
			months = append(months, figures.MonthCount{Month: m.Month, Count: m.Records})
		}
		page.Chart = figures.MonthChart("Messages a month from "+found.Name, months)
	}
	all, err := things.ReadStreams(r.Context(), p.Owner)
	if err != nil {
		p.ShowFailure(w, r, section, err)
		return
	}
	page.Export = exportOf(all, &found)
	if page.Recent, err = p.recent(r.Context(), all, &found); err != nil {
		p.ShowFailure(w, r, section, err)
		return
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, found.Name, section), personBody(page, p.Now()))
}

// exportOf returns the export of all that a person wrote.
func exportOf(all *things.Streams, of *person.Person) records.ExportList {
	list := records.ExportList{Legend: "Export all from this person"}
	for _, i := range of.Identities {
		for _, t := range i.Traces {
			if s := all.Find(i.ConnectionID, t.Stream); s != nil {
				list.Add(&s.Stream, api.ExportQuery{Author: t.Author, Address: t.Address})
			}
		}
	}
	return list
}

// recent reads the newest things that a person wrote.
func (p *peoplePages) recent(ctx context.Context, all *things.Streams, of *person.Person) ([]recent, error) {
	type place struct {
		connection string
		person.Trace
	}
	var places []place
	for _, i := range of.Identities {
		for _, t := range i.Traces {
			if t.Last != nil {
				places = append(places, place{i.ConnectionID, t})
			}
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return b.Last.Compare(*a.Last) })
	names := things.NewNames(ctx, p.Owner, p.Log, all)
	var out []recent
	for _, at := range places[:min(len(places), mostTraces)] {
		s := all.Find(at.connection, at.Stream)
		if s == nil {
			continue
		}
		found, err := p.Owner.Records(ctx, api.RecordQuery{ConnectionID: at.connection, Stream: at.Stream, ByTime: true,
			Author: at.Author, Address: at.Address, Until: at.Last.Add(time.Microsecond), Fields: s.FieldNames(),
			Limit: recentShown})
		if err != nil {
			return nil, err
		}
		for _, r := range found.Records {
			out = append(out, p.recentOf(names, s.Thing(r)))
		}
	}
	slices.SortStableFunc(out, func(a, b recent) int { return cmp.Compare(b.At.Unix(), a.At.Unix()) })
	return out[:min(len(out), recentShown)], nil
}

// recentOf puts a record into words. A message of a conversation is read there.
func (p *peoplePages) recentOf(names *things.Names, t things.Thing) recent {
	one := recent{At: t.When(p.Now()), Class: t.In.Class(), Title: cmp.Or(t.Title(), "Without words"),
		Source: t.In.ConnectionName, Address: t.ReadingAddress()}
	if thread, is := things.ThreadOf(&t); is && t.In.Role("title") == "" {
		one.From = names.Title(thread.Connection, thread.Stream, thread.Thread)
		one.Address = thread.Address() + "?until=" + things.Moment(t.At.Add(time.Microsecond))
	}
	return one
}

// decide answers a button with one field.
func (p *peoplePages) decide(field, done string, do func(ctx context.Context, id, value string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, ok := p.PathSegment(w, r, "id", section)
		if !ok || !p.ParseForm(w, r, section) {
			return
		}
		if err := do(r.Context(), id, r.PostForm.Get(field)); err != nil {
			p.ShowFailure(w, r, section, err)
			return
		}
		ui.Done(w, r, personAddress(id), ui.Good(done))
	})
}

// lede describes a person in a sentence.
func (page *personPage) lede(now time.Time) string {
	line := text.Count(page.Records, "message", "messages") + " in " + text.List(page.Sources)
	if page.First != nil {
		line = "Since " + page.First.In(now.Location()).Format("January 2006") + ": " + line
	}
	if page.Last != nil {
		line += ". The last one came " + ui.Moment(*page.Last, now)
	}
	return line + "."
}

// joinedWords describes how an identity belongs to the person.
func joinedWords(joined string) string {
	switch joined {
	case "address":
		return "Joined by the same address"
	case "owner":
		return "Joined by you"
	}
	return ""
}

// knownAs returns what a source calls a person.
func knownAs(i person.Identity) string {
	if i.Address == "" || i.Address == i.Name {
		return i.Name
	}
	return i.Name + ", " + i.Address
}
