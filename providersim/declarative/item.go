package declarative

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// needs is what the items of a list must have so that the document works.
type needs struct {
	schemas  []*document.Node
	unique   [][]string          // paths of keys
	times    map[string]string   // formats of members by name
	literals map[string][]string // texts that filters compare members with, by name
	filtered [][]string          // paths that filters read
	added    [][]string          // paths that added fields read
	read     map[string]bool     // members that templates read, which are never null
}

// needsOf collects what all readers of a list need.
func (e *endpoint) needsOf(path []string) *needs {
	if known := e.needs[listName(path)]; known != nil {
		return known
	}
	n := &needs{times: map[string]string{}, literals: map[string][]string{}, read: map[string]bool{}}
	e.needs[listName(path)] = n
	for _, r := range e.readers {
		if !slices.Equal(r.path, path) {
			continue
		}
		for _, loader := range r.SchemaLoaders {
			if inline, ok := loader.(*document.InlineSchema); ok && inline.Schema != nil {
				n.schemas = append(n.schemas, inline.Schema)
			}
		}
		n.unique = append(n.unique, r.PrimaryKey...)
		if r.described != nil && !r.described.Keyless {
			for _, name := range r.described.Key {
				n.unique = append(n.unique, []string{name})
			}
		}
		e.addTimes(r, n)
		document.Walk(r.Retriever.Selector, func(u document.Use) { addLiterals(u, n) })
	}
	for _, other := range e.p.endpoints {
		for _, r := range other.readers {
			e.addParentKeys(r, path, n)
		}
	}
	return n
}

// addTimes adds the members that hold the time of the cursor, directly or through an added field.
func (e *endpoint) addTimes(r *reader, n *needs) {
	for _, c := range r.Transformations {
		document.Walk(c, func(u document.Use) {
			for _, path := range u.Template.Paths() {
				for _, name := range path.Members {
					n.read[name] = true
				}
				if path.Variable == expression.Record && len(path.Members) > 0 {
					n.added = append(n.added, path.Members)
				}
			}
		})
	}
	cursor := r.IncrementalSync
	if cursor == nil {
		return
	}
	format := cursor.Format
	if len(cursor.CursorFormats) > 0 {
		format = cursor.CursorFormats[0]
	}
	field := e.p.text(cursor.CursorField, cursor)
	n.times[field] = format
	for _, c := range r.Transformations {
		add, ok := c.(*document.AddFields)
		if !ok {
			continue
		}
		for _, f := range add.Fields {
			if len(f.Path) != 1 || f.Path[0].Source() != field {
				continue
			}
			for _, path := range f.Value.Paths() {
				if path.Variable == expression.Record && len(path.Members) > 0 {
					n.times[path.Members[len(path.Members)-1]] = format
				}
			}
		}
	}
}

var quotedText = regexp.MustCompile(`'([^']*)'|"([^"]*)"`)

// addLiterals notes the texts of a filter, so that some items pass and some do not.
func addLiterals(u document.Use, n *needs) {
	filter, ok := u.Component.(*document.RecordFilter)
	if !ok {
		return
	}
	var texts []string
	for _, found := range quotedText.FindAllStringSubmatch(filter.Condition.Source(), -1) {
		texts = append(texts, found[1]+found[2])
	}
	for _, path := range filter.Condition.Paths() {
		if path.Variable == expression.Record && len(path.Members) > 0 {
			name := path.Members[len(path.Members)-1]
			for _, member := range path.Members {
				n.read[member] = true
			}
			n.filtered = append(n.filtered, path.Members)
			n.literals[name] = slices.DeleteFunc(slices.Clone(texts), func(t string) bool {
				return slices.Contains(path.Members, t)
			})
		}
	}
}

// addParentKeys adds the members of this endpoint that name partitions of a child.
func (e *endpoint) addParentKeys(child *reader, path []string, n *needs) {
	for _, router := range child.Retriever.PartitionRouters {
		sub, ok := router.(*document.SubstreamRouter)
		if !ok {
			continue
		}
		for _, parent := range sub.Parents {
			if !slices.ContainsFunc(e.readers, func(r *reader) bool {
				return r.Stream == parent.Stream && slices.Equal(r.path, path)
			}) {
				continue
			}
			key := strings.Split(e.p.text(parent.ParentKey, parent), "/")
			n.unique = append(n.unique, key)
			for _, path := range append([][]string{key}, parent.ExtraFields...) {
				for _, name := range path {
					n.read[name] = true
				}
			}
		}
	}
}

// newRow invents a row at a time.
func (e *endpoint) newRow(at time.Time) *row {
	e.p.count++
	r := &row{n: e.p.count, at: at, items: map[string][]byte{}}
	for _, reader := range e.readers {
		list := listName(reader.path)
		if r.items[list] != nil {
			continue
		}
		n := e.needsOf(reader.path)
		g := &generator{needs: n, n: r.n, at: at, random: rand.New(rand.NewPCG(e.p.seed, uint64(r.n)))}
		item := map[string]any{}
		for _, schema := range n.schemas {
			for name, v := range g.object(schema, nil) {
				item[name] = v
			}
		}
		if body := encode(item); len(body) > maxItem { // a large schema becomes large pages
			g.shallow = true
			for _, schema := range n.schemas {
				for name, v := range g.object(schema, nil) {
					item[name] = v
				}
			}
		}
		for _, key := range n.unique {
			if _, made := lookup(item, key); !made {
				setAt(item, key, g.unique(key, nil))
			}
		}
		for name := range n.times {
			if _, made := item[name]; !made && !g.made[name] {
				item[name] = g.time(name, nil)
			}
		}
		for _, path := range n.added { // the schema describes the record after the transformations
			if _, made := lookup(item, path); !made && len(path) > 1 {
				setAt(item, path, g.text(path[len(path)-1], nil))
			}
		}
		for _, path := range n.filtered {
			if _, made := lookup(item, path); !made {
				setAt(item, path, g.filtered(path))
			}
		}
		if len(item) == 0 {
			item["note"] = g.text("note", nil)
		}
		r.items[list], _ = json.Marshal(item) // texts, numbers, lists and objects
	}
	return r
}

func listName(path []string) string { return strings.Join(path, "\x00") }

// generator invents the members of an item.
type generator struct {
	*needs
	n      int
	at     time.Time
	random *rand.Rand
	made   map[string]bool // times

	shallow bool // members of objects are left out, unless templates read them
}

const (
	maxDepth = 6
	maxItem  = 8 << 10
)

func (g *generator) object(schema *document.Node, path []string) map[string]any {
	out := map[string]any{}
	properties := schema.Member("properties")
	if properties == nil || len(path) > maxDepth {
		return out
	}
	for i, name := range properties.Names {
		if g.shallow && len(path) > 0 && !g.read[name] && g.times[name] == "" {
			continue
		}
		out[name] = g.value(name, properties.Items[i], append(slices.Clone(path), name))
	}
	return out
}

var timeName = regexp.MustCompile(`(?i)(_at|_on|at|date|time|timestamp|datetime|created|updated|modified)$`)

func (g *generator) value(name string, schema *document.Node, path []string) any {
	kind, nullable := kindOf(schema)
	if slices.ContainsFunc(g.needs.unique, func(key []string) bool { return slices.Equal(key, path) }) {
		return g.unique(path, schema)
	}
	if _, ok := g.times[name]; ok {
		return g.time(name, schema)
	}
	if texts := g.literals[name]; len(texts) > 0 && kind == "string" {
		return texts[g.n%len(texts)]
	}
	if options := schema.Member("enum"); options != nil && len(options.Items) > 0 {
		return json.RawMessage(options.Items[g.n%len(options.Items)].AppendJSON(nil))
	}
	if nullable && !g.read[name] && g.n%7 == 6 {
		return nil
	}
	switch kind {
	case "integer":
		if timeName.MatchString(name) {
			return g.at.Unix()
		}
		return g.random.IntN(1000)
	case "number":
		return float64(g.random.IntN(100_000)) / 4
	case "boolean":
		return g.n%3 != 2
	case "array":
		if item := schema.Member("items"); item != nil && item.Kind == document.Map {
			return []any{g.value(name, item, append(slices.Clone(path), "*"))}
		}
		return []any{}
	case "object":
		return g.object(schema, path)
	}
	return g.text(name, schema)
}

func (g *generator) text(name string, schema *document.Node) any {
	format := schema.Member("format").String()
	switch {
	case format == "date":
		return g.at.Format(time.DateOnly)
	case format == "date-time" || format == "" && timeName.MatchString(name):
		return g.at.Format("2006-01-02T15:04:05Z")
	case format == "email":
		return fmt.Sprintf("person%d@mail.example", g.n)
	case format == "uri":
		return fmt.Sprintf("https://files.example/%s/%d", name, g.n)
	}
	words := []string{"harbour", "lantern", "orchard", "meadow", "pebble", "sparrow", "thimble", "willow"}
	return fmt.Sprintf("%s %s %d", words[g.random.IntN(len(words))], words[g.random.IntN(len(words))], g.n)
}

// unique returns a value that no other item has.
func (g *generator) unique(path []string, schema *document.Node) any {
	name := path[len(path)-1]
	kind, _ := kindOf(schema)
	if _, ok := g.times[name]; ok {
		return g.time(name, schema)
	}
	switch kind {
	case "integer", "number":
		return 1000 + g.n
	case "object", "array", "boolean":
		return g.value(name, schema, append(slices.Clone(path), ""))
	}
	if format := schema.Member("format").String(); format == "date" || format == "date-time" {
		return g.text(name, schema)
	}
	return fmt.Sprintf("k%d", g.n)
}

// filtered returns a value for a member that a filter reads and no schema declares.
func (g *generator) filtered(path []string) any {
	if texts := g.literals[path[len(path)-1]]; len(texts) > 0 {
		return texts[g.n%len(texts)]
	}
	return g.n%3 != 2
}

// time returns the time of the item in the form of the cursor.
func (g *generator) time(name string, schema *document.Node) any {
	if g.made == nil {
		g.made = map[string]bool{}
	}
	g.made[name] = true
	text, err := expression.FormatTime(g.at, g.times[name])
	if err != nil {
		return g.at.Format(time.RFC3339)
	}
	kind, _ := kindOf(schema)
	if _, err := strconv.ParseFloat(text, 64); err == nil && (kind == "integer" || kind == "number") {
		return json.Number(text)
	}
	return text
}

// kindOf returns the first type of a schema that is not null, and whether null is another.
func kindOf(schema *document.Node) (kind string, nullable bool) {
	kind = "string"
	t := schema.Member("type")
	switch {
	case t == nil:
		for _, word := range []string{"anyOf", "oneOf"} {
			if choice := schema.Member(word); choice != nil && len(choice.Items) > 0 {
				return kindOf(choice.Items[0])
			}
		}
		if schema.Member("properties") != nil {
			return "object", false
		}
	case t.Kind == document.List:
		for i := len(t.Items) - 1; i >= 0; i-- {
			if name := t.Items[i].String(); name == "null" {
				nullable = true
			} else if name != "" {
				kind = name
			}
		}
	default:
		kind = t.String()
	}
	return kind, nullable
}

func lookup(object map[string]any, path []string) (any, bool) {
	for i, name := range path {
		v, ok := object[name]
		if !ok || v == nil || i == len(path)-1 {
			return v, ok && v != nil
		}
		inner, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		object = inner
	}
	return nil, false
}

func setAt(object map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[name] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = v
}
