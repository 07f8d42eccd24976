package people

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/person"
)

// decisions are what the owner decided, by the ids of identities.
type decisions struct {
	Joined [][2]string `json:"joined,omitempty"` // one person
	Apart  []string    `json:"apart,omitempty"`  // not joined by their address
	Mine   []string    `json:"mine,omitempty"`   // the owner
}

// kinds of people.
const (
	kindPerson    = "person"
	kindAutomatic = "automatic"
	kindMine      = "mine"
)

// grouping are people made of identities.
type grouping struct {
	identities map[string]*identity
	parent     map[string]string // of each identity, up to the one that represents its person
	members    map[string][]*identity
}

type identity struct {
	person.Identity
	shared string
	traces []*trace
}

// group joins identities with an equal address, and as the owner decided.
func group(traces []*trace, by decisions) *grouping {
	g := &grouping{identities: map[string]*identity{}, parent: map[string]string{}, members: map[string][]*identity{}}
	for _, t := range traces {
		one := g.identities[t.identity]
		if one == nil {
			one = &identity{shared: t.shared, Identity: person.Identity{ID: t.identity, Joined: "only",
				ConnectionID: t.connection, ConnectionName: t.connectionName}}
			g.identities[t.identity], g.parent[t.identity] = one, t.identity
		}
		one.traces = append(one.traces, t)
		one.Records += t.Records
	}
	byAddress := map[string]string{}
	ids := slices.Sorted(maps.Keys(g.identities))
	for _, id := range ids {
		one := g.identities[id]
		one.describe()
		if one.shared == "" || slices.Contains(by.Apart, id) {
			continue
		}
		if first, known := byAddress[one.shared]; known {
			g.join(first, id)
			one.Joined, g.identities[first].Joined = "address", "address"
		} else {
			byAddress[one.shared] = id
		}
	}
	for _, pair := range by.Joined {
		a, b := g.identities[pair[0]], g.identities[pair[1]]
		if a == nil || b == nil {
			continue // its source is gone
		}
		g.join(a.ID, b.ID)
		for _, one := range []*identity{a, b} {
			if one.Joined == "only" {
				one.Joined = "owner"
			}
		}
	}
	for _, id := range ids {
		root := g.root(id)
		g.members[root] = append(g.members[root], g.identities[id])
	}
	return g
}

func (g *grouping) root(id string) string {
	for g.parent[id] != id {
		g.parent[id] = g.parent[g.parent[id]]
		id = g.parent[id]
	}
	return id
}

func (g *grouping) join(a, b string) {
	a, b = g.root(a), g.root(b)
	g.parent[max(a, b)] = min(a, b)
}

// describe names the identity after the trace with most records, or the longer name.
func (i *identity) describe() {
	slices.SortStableFunc(i.traces, func(a, b *trace) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(len(b.name), len(a.name)),
			strings.Compare(a.name, b.name))
	})
	for _, t := range i.traces {
		i.Name = cmp.Or(i.Name, t.name)
		i.Address = cmp.Or(i.Address, t.address)
		i.Traces = append(i.Traces, t.Trace)
	}
	i.Name = cmp.Or(i.Name, i.Address)
	if i.Address == "" && i.shared != "" {
		i.Address = i.Name
	}
}

// summary returns the person that identities are of, with a name rather than an address where one is known.
func summary(root string, members []*identity, mine []string) person.ListedPerson {
	out := person.ListedPerson{ID: root, Kind: kindAutomatic, Sources: []string{}}
	var most int64
	for _, i := range members {
		named := i.Name != "" && sharedAddress(i.Name) == ""
		if out.Name == "" || named && (i.Records > most || sharedAddress(out.Name) != "") {
			out.Name, most = i.Name, i.Records
		}
		out.Records += i.Records
		if !slices.Contains(out.Sources, i.ConnectionName) {
			out.Sources = append(out.Sources, i.ConnectionName)
		}
		for _, t := range i.traces {
			out.First, out.Last = earlier(out.First, t.First), later(out.Last, t.Last)
		}
		if !isAutomatic(i.Address) && out.Kind == kindAutomatic {
			out.Kind = kindPerson
		}
		if slices.Contains(mine, i.ID) {
			out.Kind = kindMine
		}
	}
	out.Name = cmp.Or(out.Name, "Without a name")
	slices.Sort(out.Sources)
	return out
}

// months adds up what the identities wrote by month.
func months(members []*identity) []person.Month {
	sums := map[string]int64{}
	for _, i := range members {
		for _, t := range i.traces {
			for _, m := range t.months {
				sums[m.Month] += m.Records
			}
		}
	}
	out := []person.Month{}
	for _, month := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, person.Month{Month: month, Records: sums[month]})
	}
	return out
}

// plainName is the form by which names are compared.
func plainName(name string) string { return strings.Join(strings.Fields(strings.ToLower(name)), " ") }
