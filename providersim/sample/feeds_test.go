package sample_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

type eventsPage struct {
	Events []json.RawMessage
	Next   string `json:"next_cursor"`
	More   bool   `json:"has_more"`
}

type notesPage struct {
	Notes []json.RawMessage
	Next  string `json:"next_since"`
	More  bool   `json:"has_more"`
}

func (c client) events(t fataler, cursor string, n int) eventsPage {
	t.Helper()
	q := limit(n)
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	var p eventsPage
	c.get(t, "/v1/events", q, &p)
	return p
}

func (c client) changes(t fataler, since string, n int) notesPage {
	t.Helper()
	q := limit(n)
	if since != "" {
		q.Set("since", since)
	}
	var p notesPage
	c.get(t, "/v1/notes/changes", q, &p)
	return p
}

// Any sequence of page sizes and appends returns each event once, in order.
//
//pdpp:tier unraced
func TestEventsAreComplete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := direct(sample.Config{Seed: rapid.Uint64().Draw(rt, "seed"), Events: rapid.IntRange(0, 400).Draw(rt, "events"),
			Notes: 3})
		got, ids, cursor := map[string]string{}, []string{}, ""
		read := func() bool {
			p := c.events(rt, cursor, rapid.IntRange(1, 200).Draw(rt, "limit"))
			for _, e := range p.Events {
				got[key(rt, e)] = string(e)
				ids = append(ids, key(rt, e))
			}
			cursor = p.Next
			return p.More
		}
		for range rapid.IntRange(0, 6).Draw(rt, "rounds") {
			read()
			if rapid.Bool().Draw(rt, "append") {
				c.sim.AppendEvents(rapid.IntRange(1, 150).Draw(rt, "n"))
			}
		}
		for read() {
		}
		if end := c.events(rt, cursor, 10); len(end.Events) != 0 || end.More || end.Next != cursor {
			rt.Fatalf("the end is not stable: %+v", end)
		}
		if diff := cmp.Diff(live(c.sim, sample.StreamEvents), got); diff != "" {
			rt.Fatalf("stored events differ from what exists:\n%s", diff)
		}
		for i := 1; i < len(ids); i++ {
			if ids[i-1] >= ids[i] {
				rt.Fatalf("%s comes before %s", ids[i-1], ids[i])
			}
		}
	})
}

// A reader that applies every change ends with what exists, whatever is
// changed between its pages.
//
//pdpp:tier unraced
func TestChangesAreComplete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := direct(sample.Config{Seed: rapid.Uint64().Draw(rt, "seed"), Notes: rapid.IntRange(0, 60).Draw(rt, "notes")})
		deletedBefore := c.sim.DeleteNotes(rapid.IntRange(0, 5).Draw(rt, "deleted before"))
		stored, tombstones, since := map[string]string{}, map[string]bool{}, ""
		read := func() bool {
			p := c.changes(rt, since, rapid.IntRange(1, 30).Draw(rt, "limit"))
			for _, data := range p.Notes {
				var n struct{ Deleted bool }
				if err := json.Unmarshal(data, &n); err != nil {
					rt.Fatal(err)
				}
				id := key(rt, data)
				if n.Deleted {
					delete(stored, id)
					tombstones[id] = true
				} else {
					stored[id] = string(data)
				}
			}
			since = p.Next
			return p.More
		}
		mutations := []func(int) []string{c.sim.AddNotes, c.sim.EditNotes, c.sim.DeleteNotes}
		for range rapid.IntRange(0, 12).Draw(rt, "rounds") {
			read()
			rapid.SampledFrom(mutations).Draw(rt, "mutation")(rapid.IntRange(1, 8).Draw(rt, "n"))
		}
		for read() {
		}
		if diff := cmp.Diff(live(c.sim, sample.StreamNotes), stored); diff != "" {
			rt.Fatalf("stored notes differ from what exists:\n%s", diff)
		}
		for _, id := range deletedBefore {
			if tombstones[id] {
				rt.Fatalf("%s was deleted before the walk and appears in it", id)
			}
		}
		truth := c.sim.Truth()[sample.StreamNotes]
		for id := range tombstones {
			if !truth[id].Deleted {
				rt.Fatalf("tombstone for the live note %s", id)
			}
		}
	})
}

func TestTombstones(t *testing.T) {
	t.Parallel()
	c := setup(t, sample.Config{Seed: 8, Notes: 6})
	first := c.changes(t, "", 3)
	gone := c.sim.DeleteNotes(6)
	rest := c.changes(t, first.Next, 100)
	if len(rest.Notes) != 6 || rest.More {
		t.Fatalf("%d changes after deleting all 6 during the walk", len(rest.Notes))
	}
	for _, data := range rest.Notes {
		var fields map[string]any
		if err := json.Unmarshal(data, &fields); err != nil {
			t.Fatal(err)
		}
		if len(fields) != 3 || fields["deleted"] != true || fields["updated_at"] == nil {
			t.Errorf("tombstone %s", data)
		}
		if item := c.sim.Truth()[sample.StreamNotes][key(t, data)]; !item.Deleted || string(item.Data) != string(data) {
			t.Errorf("truth says %s, the feed %s", item.Data, data)
		}
	}
	if len(gone) != 6 {
		t.Errorf("deleted %v", gone)
	}
	if fresh := c.changes(t, "", 100); len(fresh.Notes) != 0 || fresh.More {
		t.Errorf("a new walk shows %d notes", len(fresh.Notes))
	}
}

func TestPageFaults(t *testing.T) {
	t.Parallel()
	eachList := func(t *testing.T, c client, check func(t *testing.T, read func(cursor string) (int, string, bool))) {
		t.Run("events", func(t *testing.T) {
			check(t, func(cursor string) (int, string, bool) {
				p := c.events(t, cursor, 4)
				return len(p.Events), p.Next, p.More
			})
		})
		t.Run("notes", func(t *testing.T) {
			check(t, func(cursor string) (int, string, bool) {
				p := c.changes(t, cursor, 4)
				return len(p.Notes), p.Next, p.More
			})
		})
		t.Run("threads", func(t *testing.T) {
			check(t, func(cursor string) (int, string, bool) {
				p := c.threads(t, nil, cursor, 4)
				return len(p.Threads), p.Next, p.Next != ""
			})
		})
	}
	cfg := sample.Config{Seed: 12, Events: 10, Notes: 10, Threads: 10}

	t.Run("short", func(t *testing.T) {
		c := setup(t, cfg)
		c.fault(t, providersim.Fault{Kind: providersim.ShortPages, Items: 3})
		eachList(t, c, func(t *testing.T, read func(string) (int, string, bool)) {
			total, cursor, more := 0, "", true
			for pages := 0; more; pages++ {
				var n int
				n, cursor, more = read(cursor)
				if total += n; n > 3 || pages > 4 {
					t.Fatalf("page %d holds %d items", pages, n)
				}
			}
			if total != 10 {
				t.Errorf("%d items in all, want 10", total)
			}
		})
	})
	t.Run("empty", func(t *testing.T) {
		c := setup(t, cfg)
		eachList(t, c, func(t *testing.T, read func(string) (int, string, bool)) {
			c.fault(t, providersim.Fault{Kind: providersim.EmptyPages, Skip: 1, Count: 2})
			defer c.sim.Gate().Clear()
			total, cursor, more := 0, "", true
			seen, sizes := map[string]bool{}, []int{}
			for more {
				var n int
				n, cursor, more = read(cursor)
				total, sizes = total+n, append(sizes, n)
				if more && seen[cursor] {
					t.Fatal("a cursor came twice although the walk advances")
				}
				seen[cursor] = true
			}
			if diff := cmp.Diff([]int{4, 0, 0, 4, 2}, sizes); diff != "" || total != 10 {
				t.Errorf("page sizes: %s", diff)
			}
		})
	})
	t.Run("repeat", func(t *testing.T) {
		c := setup(t, cfg)
		eachList(t, c, func(t *testing.T, read func(string) (int, string, bool)) {
			c.fault(t, providersim.Fault{Kind: providersim.RepeatCursor, Skip: 1, Count: 1})
			defer c.sim.Gate().Clear()
			_, second, _ := read("")
			if n, again, more := read(second); n != 4 || again != second || !more {
				t.Errorf("repeated page: %d items, more %v, own cursor %v", n, more, again == second)
			}
			if _, third, more := read(second); third == second || !more {
				t.Error("the walk does not go on after the fault")
			}
		})
	})
	t.Run("self", func(t *testing.T) {
		c := setup(t, cfg)
		c.fault(t, providersim.Fault{Kind: providersim.SelfCursor})
		eachList(t, c, func(t *testing.T, read func(string) (int, string, bool)) {
			_, own, _ := read("")
			for range 5 {
				if n, next, more := read(own); n != 4 || next != own || !more {
					t.Fatalf("left the loop: %d items, more %v", n, more)
				}
			}
		})
	})
}
