package people

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/person"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// decisionsSetting is the name of the setting with the decisions.
const decisionsSetting = "people.decisions"

func (d *Directory) decisions(ctx context.Context) (by decisions, err error) {
	value, err := d.store.Setting(ctx, decisionsSetting)
	if errors.Is(err, store.ErrNotFound) {
		return by, nil
	}
	if err == nil {
		err = json.Unmarshal(value, &by)
	}
	return by, faults.OwnerError(err, "read what was decided about people")
}

// grouped returns people with the decisions that made them.
func (d *Directory) grouped(ctx context.Context) (*grouping, decisions, time.Time, error) {
	traces, asOf, err := d.snapshot(ctx)
	if err != nil {
		return nil, decisions{}, asOf, err
	}
	by, err := d.decisions(ctx)
	if err != nil {
		return nil, by, asOf, err
	}
	return group(traces, by), by, asOf, nil
}

// usualPeople is how many people an answer lists unless another number is asked for, and mostPeople the most.
const (
	usualPeople = 50
	mostPeople  = 200
)

// People lists people.
func (d *Directory) People(ctx context.Context, q person.PeopleQuery) (person.List, error) {
	g, by, asOf, err := d.grouped(ctx)
	if err != nil {
		return person.List{}, err
	}
	out := person.List{AsOf: asOf, People: []person.ListedPerson{}}
	words := strings.Fields(strings.ToLower(q.Search))
	var all []person.ListedPerson
	for root, members := range g.members {
		one := summary(root, members, by.Mine)
		switch one.Kind {
		case kindPerson:
			out.Counts.Person++
		case kindAutomatic:
			out.Counts.Automatic++
		case kindMine:
			out.Counts.Mine++
		}
		if one.Kind == cmp.Or(q.Kind, kindPerson) && isCalled(members, words) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b person.ListedPerson) int {
		records, recent := cmp.Compare(b.Records, a.Records), compareMoments(b.Last, a.Last)
		name := strings.Compare(plainName(a.Name), plainName(b.Name))
		switch q.Order {
		case "recent":
			return cmp.Or(recent, records, name, strings.Compare(a.ID, b.ID))
		case "name":
			return cmp.Or(name, records, strings.Compare(a.ID, b.ID))
		}
		return cmp.Or(records, recent, name, strings.Compare(a.ID, b.ID))
	})
	out.Total = len(all)
	limit := min(cmp.Or(q.Limit, usualPeople), mostPeople)
	all = all[min(q.Skip, len(all)):]
	out.People = append(out.People, all[:min(limit, len(all))]...)
	return out, nil
}

func compareMoments(a, b *time.Time) int {
	switch {
	case a == nil || b == nil:
		return cmp.Compare(boolNumber(a != nil), boolNumber(b != nil))
	default:
		return a.Compare(*b)
	}
}

func boolNumber(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isCalled reports whether the names and addresses have all words.
func isCalled(members []*identity, words []string) bool {
	var text strings.Builder
	for _, i := range members {
		for _, t := range i.traces {
			text.WriteString(strings.ToLower(t.name + " " + t.address + "\n"))
		}
	}
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text.String(), w) })
}

// mostSimilar is how many people with the same name are offered.
const mostSimilar = 5

// Person returns one person.
func (d *Directory) Person(ctx context.Context, id string) (person.Person, error) {
	g, by, _, err := d.grouped(ctx)
	if err != nil {
		return person.Person{}, err
	}
	members, err := g.of(id)
	if err != nil {
		return person.Person{}, err
	}
	root := g.root(id)
	out := person.Person{ListedPerson: summary(root, members, by.Mine), Months: months(members)}
	out.Similar = []person.ListedPerson{}
	names := map[string]bool{}
	for _, i := range members {
		out.Identities = append(out.Identities, i.Identity)
		for _, t := range i.traces {
			if sharedAddress(t.name) == "" {
				names[plainName(t.name)] = true
			}
		}
	}
	slices.SortStableFunc(out.Identities, func(a, b person.Identity) int { return cmp.Compare(b.Records, a.Records) })
	for other, them := range g.members {
		if other == root || !slices.ContainsFunc(them, func(i *identity) bool { return names[plainName(i.Name)] }) {
			continue
		}
		if one := summary(other, them, by.Mine); one.Kind != kindMine {
			out.Similar = append(out.Similar, one)
		}
	}
	slices.SortFunc(out.Similar, func(a, b person.ListedPerson) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), strings.Compare(a.ID, b.ID))
	})
	out.Similar = out.Similar[:min(len(out.Similar), mostSimilar)]
	return out, nil
}

// of returns the identities of the person with an id.
func (g *grouping) of(id string) ([]*identity, error) {
	if g.identities[id] == nil {
		return nil, api.NotFound("There is no such person.", "Choose one from the list of people.")
	}
	return g.members[g.root(id)], nil
}

// JoinPeople states that two people are one.
func (d *Directory) JoinPeople(ctx context.Context, id, other string) error {
	return d.decide(ctx, func(g *grouping, by *decisions) error {
		if _, err := g.of(id); err != nil {
			return err
		}
		if g.identities[other] == nil {
			return api.Invalid("other", "There is no such person.", "Choose one from the list of people.")
		}
		if g.root(id) == g.root(other) {
			return api.Invalid("other", "They are one person already.", "Choose another person.")
		}
		by.Joined = append(by.Joined, [2]string{id, other})
		return nil
	})
}

// SplitPerson takes an identity out of a person; the others stay together.
func (d *Directory) SplitPerson(ctx context.Context, id, apart string) error {
	return d.decide(ctx, func(g *grouping, by *decisions) error {
		members, err := g.of(id)
		if err != nil {
			return err
		}
		if g.identities[apart] == nil || g.root(apart) != g.root(id) || len(members) < 2 {
			return api.Invalid("identity", "The person has no such identity beside others.",
				"Choose one of the identities of the person.")
		}
		split(g, by, members, apart)
		return nil
	})
}

// split changes the decisions so that one of the identities of a person is apart. The others stay one person, also
// those that only it connected.
func split(g *grouping, by *decisions, members []*identity, apart string) {
	by.Joined = slices.DeleteFunc(by.Joined, func(p [2]string) bool { return p[0] == apart || p[1] == apart })
	if !slices.Contains(by.Apart, apart) {
		by.Apart = append(by.Apart, apart)
	}
	rest := slices.DeleteFunc(slices.Clone(members), func(i *identity) bool { return i.ID == apart })
	after := group(g.traces(), *by)
	for _, i := range rest[1:] {
		if after.root(i.ID) != after.root(rest[0].ID) {
			by.Joined = append(by.Joined, [2]string{rest[0].ID, i.ID})
			after = group(g.traces(), *by)
		}
	}
}

func (g *grouping) traces() (all []*trace) {
	for _, i := range g.identities {
		all = append(all, i.traces...)
	}
	return all
}

// SetPersonMine states whether a person is the owner.
func (d *Directory) SetPersonMine(ctx context.Context, id string, mine bool) error {
	return d.decide(ctx, func(g *grouping, by *decisions) error {
		members, err := g.of(id)
		if err != nil {
			return err
		}
		by.Mine = slices.DeleteFunc(by.Mine, func(one string) bool {
			return slices.ContainsFunc(members, func(i *identity) bool { return i.ID == one })
		})
		if mine {
			for _, i := range members {
				by.Mine = append(by.Mine, i.ID)
			}
		}
		return nil
	})
}

// decide changes the decisions.
func (d *Directory) decide(ctx context.Context, change func(*grouping, *decisions) error) error {
	d.decided.Lock()
	defer d.decided.Unlock()
	g, by, _, err := d.grouped(ctx)
	if err != nil {
		return err
	}
	if err := change(g, &by); err != nil {
		return err
	}
	value, err := json.Marshal(by)
	if err == nil {
		err = d.store.PutSetting(ctx, decisionsSetting, value, d.now())
	}
	return faults.OwnerError(err, "keep what was decided about people")
}
