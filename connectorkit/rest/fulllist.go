package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// FullList reads the whole list in every run. An item that a complete walk does not find, and that a second walk does
// not find either, is deleted: see connectorkit.FullList. It suits lists that do not report their changes.
type FullList struct {
	// Remembered is how many pages the bookmark holds; zero means that of connectorkit.FullList. A list with
	// partitions is remembered whole.
	Remembered int
	// NewestFirst means that of a list with more pages than Remembered only these are read again.
	NewestFirst bool
	// Conditional makes conditional requests with the ETag of a page.
	Conditional bool
	// Digest compares a digest of the page's records with the last one, for a provider without ETags: the records of an
	// unchanged page are not sent again.
	Digest bool
	// Light are parameters that ask for a small form of a page, which shows every change of its items. A page with an
	// unchanged small form is not requested in full.
	Light url.Values
	// View identifies what the credential may see, by an answer. Nil means the account.
	View func(a *Answer) string
	// Total returns the provider's own number of items, if no member of the answer has it. Negative means unknown.
	Total func(a *Answer) int
	// Withheld declares what an answer leaves out. A walk with such a page deletes nothing.
	Withheld func(a *Answer) []connectorkit.Record
	// Walked sees the last answer and all items of a complete walk without an unchanged page. The stream must be Shared.
	Walked func(r *Run, last *Answer, items []Item)
}

// allPages is the number of remembered pages of a list with partitions: the pages of one partition follow those of
// another, so no part of the list may be left out.
const allPages = 1 << 20

func (f FullList) collector(r *Run, s *Stream) (connectorkit.Collector, error) {
	w := &fullListPages{FullList: f, r: r, s: s}
	c := connectorkit.FullList{Stream: s.Name, Remembered: f.Remembered, NewestFirst: f.NewestFirst,
		Page: w.fetchPage}
	if s.Partitions != nil && c.Remembered == 0 {
		c.Remembered = allPages
	}
	return c, nil
}

// fullListPages reads pages of all partitions as those of one list.
type fullListPages struct {
	FullList
	r *Run
	s *Stream

	parts []Partition
	items *itemList // of the walk so far
}

// noList is the view of an answer without the list.
const noList = "the answer has no list"

// A token of a list with partitions is a partition and the token of its page.
const partSeparator = " "

func (w *fullListPages) fetchPage(ctx context.Context, v connectorkit.PageRequest) (connectorkit.InventoryPage, error) {
	var out connectorkit.InventoryPage
	var err error
	if w.View == nil {
		if out.View, err = w.r.Account(ctx); err != nil {
			return connectorkit.InventoryPage{}, err
		}
	}
	if v.Token == "" || w.parts == nil {
		if w.parts, err = w.r.partitions(ctx, w.s); err != nil || len(w.parts) == 0 {
			return w.refused(out, err)
		}
	}
	at, token := 0, v.Token
	if w.s.Partitions != nil {
		id, page, _ := strings.Cut(v.Token, partSeparator)
		at, token = max(slices.IndexFunc(w.parts, func(p Partition) bool { return escapeID(p.ID) == id }), 0), page
	}
	ask := Ask{Partition: w.parts[at], Page: token, Version: v.Version}
	light, err := w.lightVersion(ctx, ask)
	if err == nil && light != "" && light == v.Version {
		out.Unchanged, w.items = true, nil
		return out, nil
	}
	if err != nil {
		return w.refused(out, err)
	}
	got, err := w.r.page(ctx, w.s, ask, func(q *governhttp.Request) {
		if w.Conditional {
			setCondition(q, v.Version)
		}
	})
	switch {
	case err != nil && w.s.Optional == nil && w.s.Partitions != nil && IfUnserved(err):
		// This partition is not readable; the others are.
		out.Hidden = append(out.Hidden, connectorkit.Unreadable(w.s.Name+" of "+w.parts[at].ID, nil))
		got = &listedPage{}
	case err != nil:
		return w.refused(out, err)
	default:
		if w.View != nil {
			out.View = w.View(got.answer)
		}
		if got.answer.NoList {
			out.View = noList
		}
		if w.Withheld != nil {
			out.Hidden = w.Withheld(got.answer)
		}
		if got.answer.Unchanged {
			out.Unchanged, w.items = true, nil
			return out, nil
		}
		if err := w.readPage(&out, got, ask); err != nil {
			return out, err
		}
		out.Unchanged = w.Digest && out.Version == v.Version
		if light != "" {
			out.Version = light
		}
	}
	switch {
	case w.s.Partitions == nil:
		out.Next = got.next
	case got.next != "":
		out.Next = escapeID(w.parts[at].ID) + partSeparator + got.next
	case at+1 < len(w.parts):
		out.Next = escapeID(w.parts[at+1].ID)
	}
	if out.Next == "" {
		err = w.endWalk(got)
	}
	return out, err
}

// endWalk keeps the items of a complete walk for the rest of the run.
func (w *fullListPages) endWalk(got *listedPage) error {
	if w.items == nil {
		return nil
	}
	w.r.parents[w.s.Name] = w.items
	if w.Walked == nil || got.answer == nil {
		return nil
	}
	items, err := w.items.items()
	if err == nil {
		w.Walked(w.r, got.answer, items)
	}
	return err
}

// lightVersion returns the version of a page by its small form. It is empty if the list has none. A change after this
// request makes the next run request the page again.
func (w *fullListPages) lightVersion(ctx context.Context, ask Ask) (string, error) {
	if w.Light == nil {
		return "", nil
	}
	got, err := w.r.page(ctx, w.s, ask, func(q *governhttp.Request) { maps.Copy(q.Query, w.Light) })
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	for _, item := range got.items {
		_, _ = digest.Write(item) // a hash never fails
	}
	_, _ = digest.Write([]byte(got.next))
	return hex.EncodeToString(digest.Sum(nil)[:12]), nil
}

// readPage makes things of the items of a page.
func (w *fullListPages) readPage(out *connectorkit.InventoryPage, got *listedPage, ask Ask) error {
	if w.s.Partitions == nil {
		out.Total = got.total
		if w.Total != nil {
			out.Total = max(0, w.Total(got.answer))
		}
	}
	if w.Conditional {
		out.Version = got.answer.Header.Get("ETag")
	}
	rows, passed := w.r.rows(w.s, got.items, ask.Partition)
	out.Passed = passed
	digest := sha256.New()
	for _, row := range rows {
		_, _ = digest.Write(row.encoded) // a hash never fails
		if row.Deleted {
			out.Passed++ // the list misses it
			continue
		}
		out.Things = append(out.Things, connectorkit.ListItem{Key: row.Key, Record: row.Record})
	}
	if w.Digest {
		_, _ = digest.Write([]byte(got.next))
		out.Version = hex.EncodeToString(digest.Sum(nil)[:12])
	}
	if !w.s.Shared {
		return nil
	}
	if ask.Page == "" && (w.s.Partitions == nil || ask.Partition.ID == w.parts[0].ID) {
		w.items = w.r.newList()
	}
	if w.items == nil {
		return nil // a page before it was not read in this run
	}
	return w.items.addItems(ask.Partition, got.items)
}

// refused declares an optional stream that the provider refuses.
func (w *fullListPages) refused(out connectorkit.InventoryPage, err error) (connectorkit.InventoryPage, error) {
	if rec, ok := w.s.declared(err); ok {
		return connectorkit.InventoryPage{Hidden: []connectorkit.Record{rec}}, nil
	}
	return out, err
}

// escapeID returns a partition's id without the separator.
func escapeID(id string) string { return strings.ReplaceAll(id, partSeparator, "+") }
