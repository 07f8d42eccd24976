package rest

import (
	"context"
	"errors"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest/internal/changelists"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// ChangeTokens reads lists that return everything, page by page, and with the last page a token for later changes. The
// provider can expire a token at any time. Then all of a list is read, and what the bookmark remembers of it and was
// not met is deleted. Each partition is a list.
type ChangeTokens struct {
	Param  string // parameter of the token
	Member string // path of the token in the last page
	// Key returns the record's key of an item, by its list and the Key of its Row. Nil means that they are the same.
	Key func(list, id string) string
	// Gone is a request for a list that is no longer among the partitions; {id} is its id. If the provider does not find
	// it, the list and its items are deleted. Without a path nothing is deleted with a list.
	Gone Request
}

func (c ChangeTokens) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	parts := map[string]Partition{}
	l := ChangeLists{
		Names: func(ctx context.Context) (names []string, account string, err error) {
			if account, err = r.Account(ctx); err != nil {
				return nil, "", err
			}
			all, err := r.partitions(ctx, s)
			if err != nil {
				return nil, "", err
			}
			for _, p := range all {
				names = append(names, p.ID)
				parts[p.ID] = p
			}
			return names, account, nil
		},
		Page: func(ctx context.Context, a ChangeRequest) (ChangePage, error) {
			return c.page(ctx, r, s, parts[a.List], a)
		},
		Key: c.Key,
	}
	if s.Partitions == nil { // the bookmark calls it by the stream
		names := l.Names
		l.Names = func(ctx context.Context) ([]string, string, error) {
			_, account, err := names(ctx)
			return []string{s.Name}, account, err
		}
	}
	if c.Key == nil {
		l.Key = func(_, id string) string { return id }
	}
	if c.Gone.Path != "" {
		l.Gone = func(ctx context.Context, name string) (bool, error) { return c.isGone(ctx, r, name) }
	}
	return l.PagedStream(s.Name), nil
}

func (c *ChangeTokens) page(ctx context.Context, r *Run, s *Stream, part Partition, a ChangeRequest) (ChangePage,
	error) {
	got, err := r.page(ctx, s, Ask{Partition: part, Since: a.Since, Page: a.Page}, func(q *governhttp.Request) {
		if a.Since != "" {
			setParam(q, c.Param, a.Since)
		}
	})
	if err != nil {
		return ChangePage{}, err
	}
	out := ChangePage{Next: got.next, Since: got.answer.Text(c.Member), Total: got.total}
	rows, _ := r.rows(s, got.items, part)
	for _, row := range rows {
		out.Things = append(out.Things, ChangeItem{ID: row.Key, Record: row.Record, Deleted: row.Deleted, Part: row.Part,
			Void: row.Void})
	}
	return out, nil
}

func (c *ChangeTokens) isGone(ctx context.Context, r *Run, id string) (bool, error) {
	q, err := c.Gone.build(Partition{ID: id, Values: map[string]string{"id": id}}, r.settings)
	if err != nil {
		return false, malformed(err)
	}
	_, err = r.fetchInOrder(ctx, "", q)
	var refused *connectorkit.Error
	if errors.As(err, &refused) && refused.Class == connectorkit.NotFound {
		return true, nil
	}
	return false, err
}

// ChangeLists are the lists of a stream with ChangeTokens. A hook that requests them in its own way uses it directly,
// with pages of its items for each request.
type (
	ChangeLists   = changelists.ChangeLists
	ChangeRequest = changelists.ChangeRequest
	ChangePage    = changelists.ChangePage
	ChangeItem    = changelists.ChangeItem
)
