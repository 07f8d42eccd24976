package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// maxPartitions bounds the partitions of a stream in a run; the rest is a gap. Tests replace it.
var maxPartitions = 100_000

// maxProduct bounds the partitions that several routers make of their values. A file with more is refused.
const maxProduct = 1_000_000

// router makes partitions.
type router interface {
	// slices iterates over the objects of the partitions. The null value means a parent without a key.
	slices(ctx context.Context, r *rest.Run, state *runState) iter.Seq2[expression.Value, error]
	// addOptions adds what a request of the partition sends.
	addOptions(state *runState, slice expression.Value, d *draft) error
}

func (p *program) router(c document.Component) (router, error) {
	switch v := c.(type) {
	case *document.ListRouter:
		return &listRouter{v}, nil
	case *document.SubstreamRouter:
		out := &parentRouter{SubstreamRouter: v, program: p}
		for _, parent := range v.Parents {
			s, err := p.compile(parent.Stream, p.listName(parent.Stream))
			if err != nil {
				return nil, fmt.Errorf("parent %s: %w", parent.Stream.Name, err)
			}
			declared := s.declaration()
			out.streams, out.declared = append(out.streams, s), append(out.declared, &declared)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s %w", document.BaseOf(c).Type, ErrUnsupported)
}

// listName returns the name of a parent's list within a run: that of the stream that is the same, so that both are read
// once.
func (p *program) listName(parent *document.Stream) string {
	if own := p.sameStream(parent); own != nil {
		return own.ID
	}
	for _, known := range p.parents {
		if document.SameStream(known, parent) {
			parent = known
		}
	}
	p.parents = append(p.parents, parent)
	return "parent " + parent.Name + " " + parent.Path
}

// sameStream returns the described stream that reads the same as a parent, or nil.
func (p *program) sameStream(parent *document.Stream) *describe.Stream {
	if p.Description == nil {
		return nil
	}
	for i := range p.Streams {
		if document.SameStream(p.Streams[i].Document, parent) {
			return &p.Streams[i]
		}
	}
	return nil
}

// hasSingleRecords reports whether the provider has one record for each parent: the path ends with the parent's key,
// and there are no pages.
func (s *stream) hasSingleRecords() bool {
	if len(s.routers) != 1 || s.pages != nil || s.window != nil {
		return false
	}
	parents, ok := s.routers[0].(*parentRouter)
	if !ok || len(parents.Parents) != 1 || parents.Parents[0].RequestOption != nil {
		return false
	}
	r := s.Retriever.Requester
	path := strings.TrimRight(cmp.Or(r.URL, r.Path).Source(), "/ ")
	at := strings.LastIndex(path, "{{")
	if at < 0 || !strings.HasSuffix(path, "}}") {
		return false
	}
	found := lastPartition.FindStringSubmatch(path[at:])
	return found != nil && found[1] == parents.Parents[0].Partition.Source()
}

// lastPartition matches a template that is one member of the partition.
var lastPartition = regexp.MustCompile(
	`^\{\{\s*(?:stream_partition|stream_slice)(?:\.|\[\s*['"]|\.get\(\s*['"])(\w+)(?:['"]\s*[\])])?\s*\}\}$`)

// partitions iterates over the product of all routers, the outermost first.
func (s *stream) partitions(ctx context.Context, r *rest.Run) iter.Seq2[rest.Partition, error] {
	return func(yield func(rest.Partition, error) bool) {
		state := s.program.stateOf(r)
		if state.problem != nil {
			yield(rest.Partition{}, state.problem)
			return
		}
		all := s.routers[0].slices(ctx, r, state)
		if len(s.routers) > 1 {
			all = s.product(ctx, r, state)
		}
		seen := map[partitionHash]bool{}
		for slice, err := range all {
			part := rest.Partition{}
			if err == nil && !slice.IsNull() {
				part.Parent = slice.AppendJSON(nil)
				id := hashOf(part.Parent)
				if seen[id] {
					continue
				}
				seen[id], part.ID = true, hex.EncodeToString(id[:])
			}
			if !yield(part, err) || err != nil {
				return
			}
		}
	}
}

// product iterates over all combinations of the partitions of several routers. It holds those of each router only.
func (s *stream) product(ctx context.Context, r *rest.Run, state *runState) iter.Seq2[expression.Value, error] {
	return func(yield func(expression.Value, error) bool) {
		var factors [][]expression.Value
		var sizes []string
		total := 1
		for _, router := range s.routers {
			var own []expression.Value
			for slice, err := range router.slices(ctx, r, state) {
				if err != nil {
					yield(slice, err)
					return
				}
				own = append(own, slice)
			}
			factors, sizes = append(factors, own), append(sizes, strconv.Itoa(len(own)))
			if total *= len(own); total > maxProduct {
				yield(emptyObject, connectorkit.Fail(connectorkit.Malformed,
					fmt.Errorf("%s partitions are more than %d", strings.Join(sizes, " times "), maxProduct)))
				return
			}
		}
		eachCombination(emptyObject, factors, func(slice expression.Value) bool { return yield(slice, nil) })
	}
}

// eachCombination calls f with outer and one value of each factor, the last factor first. It returns false if f did.
func eachCombination(outer expression.Value, factors [][]expression.Value, f func(expression.Value) bool) bool {
	if len(factors) == 0 {
		return f(outer)
	}
	for _, inner := range factors[0] {
		if !eachCombination(mergeObjects(outer, inner), factors[1:], f) {
			return false
		}
	}
	return true
}

// sliceOf returns the object of a partition.
func sliceOf(part rest.Partition) expression.Value {
	if part.Parent == nil {
		return emptyObject
	}
	return expression.LazyJSON(part.Parent)
}

func mergeObjects(a, b expression.Value) expression.Value {
	out := expression.NewObject(a.Len() + b.Len())
	for _, v := range []expression.Value{a, b} {
		v.Each(func(name string, member expression.Value) bool { out.Set(name, member); return true })
	}
	return out.Value()
}

// partitionHash identifies a partition in bookmarks and gaps.
type partitionHash [9]byte

func hashOf(slice jsontext.Value) (h partitionHash) {
	sum := sha256.Sum256(slice)
	copy(h[:], sum[:])
	return h
}

type listRouter struct{ *document.ListRouter }

func (l *listRouter) field(state *runState) (string, error) {
	return templateText(l.CursorField, state.context(l))
}

func (l *listRouter) slices(_ context.Context, _ *rest.Run, state *runState) iter.Seq2[expression.Value, error] {
	return func(yield func(expression.Value, error) bool) {
		name, err := l.field(state)
		if err != nil {
			yield(emptyObject, err)
			return
		}
		for _, t := range l.Values {
			v, err := t.Value(state.context(l))
			if err != nil {
				yield(v, connectorkit.Fail(connectorkit.Malformed, err))
				return
			}
			values := []expression.Value{v}
			switch {
			case v.Kind() == expression.Array:
				values = v.Items()
			case !t.IsFixed() && !expression.Truth(v):
				values = nil // the owner left the setting empty
			}
			for _, value := range values {
				if !yield(expression.NewObject(1).Set(name, value).Value(), nil) {
					return
				}
			}
		}
	}
}

func (l *listRouter) addOptions(state *runState, slice expression.Value, d *draft) error {
	name, err := l.field(state)
	if err != nil {
		return err
	}
	return inject(l.RequestOption, state, slice.Member(name), d)
}

// parentRouter makes a partition of each record of other streams.
type parentRouter struct {
	*document.SubstreamRouter
	program  *program
	streams  []*stream      // of Parents
	declared []*rest.Stream // of Parents
}

func (p *parentRouter) slices(ctx context.Context, r *rest.Run, state *runState) iter.Seq2[expression.Value, error] {
	return func(yield func(expression.Value, error) bool) {
		for i, parent := range p.Parents {
			names, err := texts([]document.Template{parent.ParentKey, parent.Partition}, state.context(parent))
			if err != nil {
				yield(emptyObject, err)
				return
			}
			for item, err := range r.EachItem(ctx, p.declared[i]) {
				if err == nil && !p.streams[i].admit(item) {
					continue
				}
				slice := emptyObject
				if err == nil {
					slice, err = p.streams[i].sliceOfChildren(item, parent, names[0], names[1])
				}
				if !yield(slice, err) || err != nil {
					return
				}
			}
		}
	}
}

// sliceOfChildren returns the partition of the children of a record. It is null if the record has no key.
func (s *stream) sliceOfChildren(item rest.Item, parent *document.Parent, key, field string) (expression.Value, error) {
	changed, err := s.transform(item)
	if err != nil {
		return emptyObject, err
	}
	record := expression.LazyJSON(changed.encode())
	value := memberAt(record, strings.Split(key, "/"))
	if value.IsNull() {
		return expression.None, nil
	}
	b := expression.NewObject(3).Set(field, value)
	b.Set("parent_slice", sliceOf(item.Partition))
	if len(parent.ExtraFields) > 0 {
		extra := expression.NewObject(len(parent.ExtraFields))
		for _, path := range parent.ExtraFields {
			extra.Set(strings.Join(path, "."), memberAt(record, path))
		}
		b.Set("extra_fields", extra.Value())
	}
	return b.Value(), nil
}

func (p *parentRouter) addOptions(state *runState, slice expression.Value, d *draft) error {
	for _, parent := range p.Parents {
		field, err := templateText(parent.Partition, state.context(parent))
		if err != nil {
			return err
		}
		if err := inject(parent.RequestOption, state, slice.Member(field), d); err != nil {
			return err
		}
	}
	return nil
}

func memberAt(v expression.Value, path []string) expression.Value {
	for _, name := range path {
		v = v.Member(name)
	}
	return v
}
