package declarative

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// partition is one set of rows of an endpoint.
type partition struct {
	index  int
	slice  expression.Value
	rows   []*row
	shape  *shape
	issued map[string]int // numbers of pages by window and token, as requests contain them
	served map[string]int // how often pages were sent, by window and number
}

// row is one entry of a list. Every list of an answer has an item of it.
type row struct {
	n     int
	at    time.Time
	items map[string][]byte // JSON by the path of the list
}

func (e *endpoint) newPartition(index int, slice expression.Value) *partition {
	p := &partition{index: index, slice: slice, issued: map[string]int{}, served: map[string]int{}}
	p.shape = e.newShape(p)
	request := p.shape.first.String()
	if other := e.byRequest[request]; other != nil {
		p.rows = other.rows // a request that does not name its partition gets the same answer
		return p
	}
	e.byRequest[request] = p
	count := e.rowCount(index)
	for i := range count {
		at := e.from.Add(e.to.Sub(e.from) / time.Duration(count+1) * time.Duration(i+1)).Truncate(time.Second)
		p.rows = append(p.rows, e.newRow(at))
	}
	return p
}

// maxRows bounds the account. Streams that come later have fewer rows.
const maxRows = 5_000

// rowCount returns how many rows a partition has. The first has three pages, or two if they are large.
func (e *endpoint) rowCount(index int) int {
	if e.isSingle() {
		return 1
	}
	switch {
	case index > 0:
		return index % 3 // one partition in three is empty
	case e.parent && e.size > 10, e.size > 2000, e.p.count > maxRows:
		return 3
	case e.size > 100:
		return e.size + 1
	}
	return 2*e.size + max(1, e.size/2)
}

// isSingle reports whether an answer has one item and not a list: templates read members beside those of the item.
func (e *endpoint) isSingle() bool {
	path := e.primary().path
	if len(path) == 0 {
		return e.objectAnswer()
	}
	pages := e.paginator()
	if pages == nil || hasWildcard(path) {
		return false
	}
	s, ok := pages.Strategy.(*document.CursorPagination)
	if !ok {
		return false
	}
	for _, t := range []document.Template{s.CursorValue, s.StopCondition} {
		if !t.IsSet() {
			continue
		}
		for _, read := range t.Paths() {
			if read.Variable == expression.Response && len(read.Members) > len(path) &&
				slices.Equal(read.Members[:len(path)], path) && !isIndex(read.Members[len(path)]) {
				return true
			}
		}
	}
	return false
}

// isIndex reports whether a name is the number of an item.
func isIndex(name string) bool {
	_, err := strconv.Atoi(name)
	return err == nil
}

// slices returns one object for each partition of the endpoint.
func (e *endpoint) slices() []expression.Value {
	all := []expression.Value{expression.NewObject(0).Value()}
	for _, router := range e.primary().Retriever.PartitionRouters {
		var own []expression.Value
		switch r := router.(type) {
		case *document.ListRouter:
			own = e.p.listSlices(r)
		case *document.SubstreamRouter:
			own = e.p.parentSlices(r)
		}
		var product []expression.Value
		for _, outer := range all {
			for _, inner := range own {
				product = append(product, merged(outer, inner))
			}
		}
		all = product
	}
	return all
}

func (p *Provider) listSlices(r *document.ListRouter) []expression.Value {
	var out []expression.Value
	name := p.text(r.CursorField, r)
	for _, t := range r.Values {
		v, err := t.Value(p.context(r))
		if err != nil {
			continue
		}
		values := []expression.Value{v}
		if v.Kind() == expression.Array {
			values = v.Items()
		} else if v.IsNull() || v.Kind() == expression.String && v.Text() == "" {
			continue
		}
		for _, value := range values {
			out = append(out, expression.NewObject(1).Set(name, value).Value())
		}
	}
	return out
}

func (p *Provider) parentSlices(r *document.SubstreamRouter) []expression.Value {
	var out []expression.Value
	seen := map[string]bool{}
	for _, parent := range r.Parents {
		e := p.byStream[parent.Stream]
		e.load()
		var of *reader
		for _, candidate := range e.readers {
			if candidate.Stream == parent.Stream {
				of = candidate
			}
		}
		key, field := strings.Split(p.text(parent.ParentKey, parent), "/"), p.text(parent.Partition, parent)
		for _, part := range e.partitions {
			for _, row := range part.rows {
				record, ok := e.expected(of, part, row)
				value := memberAt(expression.LazyJSON(record), key)
				if !ok || value.IsNull() {
					continue
				}
				b := expression.NewObject(3).Set(field, value).Set("parent_slice", part.slice)
				if len(parent.ExtraFields) > 0 {
					extra := expression.NewObject(len(parent.ExtraFields))
					for _, path := range parent.ExtraFields {
						extra.Set(strings.Join(path, "."), memberAt(expression.LazyJSON(record), path))
					}
					b.Set("extra_fields", extra.Value())
				}
				slice := b.Value()
				if id := expression.Print(slice); !seen[id] {
					seen[id] = true
					out = append(out, slice)
				}
			}
		}
	}
	return out
}

func merged(a, b expression.Value) expression.Value {
	out := expression.NewObject(a.Len() + b.Len())
	for _, v := range []expression.Value{a, b} {
		v.Each(func(name string, member expression.Value) bool { out.Set(name, member); return true })
	}
	return out.Value()
}

func memberAt(v expression.Value, path []string) expression.Value {
	for _, name := range path {
		v = v.Member(name)
	}
	return v
}
