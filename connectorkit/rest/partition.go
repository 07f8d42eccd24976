package rest

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/rawjson"
)

// Partition is a part of a stream that is requested separately: the children of a parent, a fixed value.
type Partition struct {
	// ID identifies the partition in bookmarks. It is unique within the stream.
	ID string
	// Values replace {name} in requests, and are what FromPartition takes.
	Values map[string]string
	// Parent is the item that the partition comes from. It is nil without one.
	Parent jsontext.Value
}

// Partitions returns the partitions of a stream, in the order in which they are read.
type Partitions func(ctx context.Context, r *Run) ([]Partition, error)

// Values returns one partition for each value.
func Values(name string, values ...string) Partitions {
	var out []Partition
	for _, v := range values {
		out = append(out, Partition{ID: v, Values: map[string]string{name: v}})
	}
	return func(context.Context, *Run) ([]Partition, error) { return out, nil }
}

// OfAccount returns the one partition of the signed-in account. Name is the name of the account in requests.
func OfAccount(name string) Partitions {
	return func(ctx context.Context, r *Run) ([]Partition, error) {
		account, err := r.Account(ctx)
		return []Partition{{Values: map[string]string{name: account}}}, err
	}
}

// ParentsOf returns one partition for each item of another stream, which is listed once per run. Values lists the paths
// of an item's values by their name in requests; the first value in the list is the partition's id. An item without
// it is left out. Admit, if not nil, chooses among the items.
func ParentsOf(stream string, id string, values map[string]string, admit func(item Item) bool) Partitions {
	return func(ctx context.Context, r *Run) ([]Partition, error) {
		items, err := r.Items(ctx, stream)
		if err != nil {
			return nil, err
		}
		var out []Partition
		for _, item := range items {
			key, ok := rawjson.TextOf(rawjson.MemberAt(item.Raw, rawjson.SplitPath(id)))
			if !ok || key == "" || admit != nil && !admit(item) {
				continue
			}
			p := Partition{ID: key, Values: map[string]string{"id": key}, Parent: item.Raw}
			for name, path := range values {
				p.Values[name], _ = rawjson.TextOf(rawjson.MemberAt(item.Raw, rawjson.SplitPath(path)))
			}
			out = append(out, p)
		}
		return out, nil
	}
}

// maxListPages bounds the pages of a list of parents.
const maxListPages = 100_000

// Items returns all items of a stream of the source, requested once per run. A stream that was collected before in this
// run is not requested again.
func (r *Run) Items(ctx context.Context, stream string) ([]Item, error) {
	s, err := r.stream(stream)
	if err != nil {
		return nil, err
	}
	spool, err := r.itemsOf(ctx, s)
	if err != nil {
		return nil, err
	}
	return spool.items()
}

// EachItem is Items for a stream that need not be one of the source, and for lists that are too long for memory. Its
// name identifies the list within the run.
func (r *Run) EachItem(ctx context.Context, s *Stream) iter.Seq2[Item, error] {
	spool, err := r.itemsOf(ctx, s)
	if err != nil {
		return func(yield func(Item, error) bool) { yield(Item{}, err) }
	}
	return spool.each()
}

// itemsOf returns the items of a list, which it requests once per run.
func (r *Run) itemsOf(ctx context.Context, s *Stream) (*itemList, error) {
	if known := r.parents[s.Name]; known != nil {
		return known, nil
	}
	out := r.newList()
	for part, err := range r.eachPartition(ctx, s) {
		if err != nil {
			return nil, err
		}
		token, seen := "", map[string]bool{}
		for range maxListPages {
			got, err := r.page(ctx, s, Ask{Partition: part, Page: token}, nil)
			if err != nil {
				return nil, err
			}
			if err := out.addItems(part, got.items); err != nil {
				return nil, err
			}
			if token = got.next; token == "" {
				break
			}
			if seen[token] {
				return nil, malformed(errRepeatedPage)
			}
			seen[token] = true
		}
	}
	r.parents[s.Name] = out
	return out, nil
}

// eachPartition iterates over the partitions of a stream.
func (r *Run) eachPartition(ctx context.Context, s *Stream) iter.Seq2[Partition, error] {
	if each, ok := s.Sync.(EachPartition); ok && each.Parts != nil {
		return each.Parts(ctx, r)
	}
	return func(yield func(Partition, error) bool) {
		parts, err := r.partitions(ctx, s)
		if err != nil {
			yield(Partition{}, err)
		}
		for _, part := range parts {
			if !yield(part, nil) {
				return
			}
		}
	}
}

// stream returns the declaration of a stream.
func (r *Run) stream(name string) (*Stream, error) {
	for i := range r.source.Streams {
		if r.source.Streams[i].Name == name {
			return &r.source.Streams[i], nil
		}
	}
	return nil, malformed(fmt.Errorf("the source has no stream %q", name))
}

// partitions returns the partitions of a stream: one without values, if it declares none.
func (r *Run) partitions(ctx context.Context, s *Stream) ([]Partition, error) {
	if s.Partitions == nil {
		return []Partition{{}}, nil
	}
	return s.Partitions(ctx, r)
}
