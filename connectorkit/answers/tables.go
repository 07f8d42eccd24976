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
	r := c.sheet().findRoute(FileMethod, store)
	if r == nil || c.learned != nil {
		return
	}
	v := answerValue{kind: objectKind}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		columns := answerValue{kind: objectKind}
		for _, name := range slices.Sorted(maps.Keys(tables[table])) {
			columns.members = append(columns.members, valueMember{name, answerValue{kind: columnAffinity(tables[table][name])}})
		}
		v.members = append(v.members, valueMember{table, columns})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.streamPart(stream)
	p.answers++
	w := c.newAnswerWalker(p, r)
	w.compareValue(&r.root, &v, "")
}

// columnAffinity returns the kind that SQLite prefers for values of a column of that declared type; null for one that
// takes values of any kind.
func columnAffinity(declared string) valueKinds {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(strings.ToUpper(declared), part) })
	}
	switch {
	case has("INT"):
		return numberKind
	case has("CHAR", "CLOB", "TEXT"):
		return textKind
	case declared == "" || has("BLOB"):
		return nullKind
	}
	return numberKind
}
