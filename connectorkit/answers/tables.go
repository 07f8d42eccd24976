package answers

import (
	"maps"
	"slices"
	"strings"
)

// Tables compares the schema of a database in a store: its tables are members, and the columns of each, with the
// types that the database declares, are members of the table. Rows are not looked at. A comparison that learns
// ignores schemas, because the sheet has those of published versions by hand.
func (c *Comparison) Tables(stream, store string, tables map[string]map[string]string) {
	r := c.sheet().find(OfFile, store)
	if r == nil || c.learned != nil {
		return
	}
	v := value{kind: object}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		columns := value{kind: object}
		for _, name := range slices.Sorted(maps.Keys(tables[table])) {
			columns.members = append(columns.members, member{name, value{kind: affinity(tables[table][name])}})
		}
		v.members = append(v.members, member{table, columns})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.part(stream)
	p.answers++
	w := c.walker(p, r)
	w.compare(&r.root, &v, "")
}

// affinity returns the kind that SQLite prefers for values of a column of that declared type; null for one that
// takes values of any kind.
func affinity(declared string) kinds {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(strings.ToUpper(declared), part) })
	}
	switch {
	case has("INT"):
		return number
	case has("CHAR", "CLOB", "TEXT"):
		return text
	case declared == "" || has("BLOB"):
		return null
	}
	return number
}
