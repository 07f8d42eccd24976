package connectorkit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/protocol"
)

// shelf is a provider's list in memory, with an ETag for each page if it has any.
type shelf struct {
	keys        []string
	pageSize    int
	versions    bool
	view        string
	hidden      []Record
	garbled     string                            // key of a thing that cannot be decoded
	reads       int                               // pages that were answered in full
	visited     func(n int)                       // after the n-th page of a run, from 1
	answer      func(n int, v *PageRequest) error // before it
	n           int
	newestFirst bool
}

func newShelf(n int, versions bool) *shelf {
	s := &shelf{pageSize: 10, versions: versions, view: "all"}
	for i := range n {
		s.keys = append(s.keys, fmt.Sprintf("k%03d", i))
	}
	return s
}

func (s *shelf) page(_ context.Context, v PageRequest) (InventoryPage, error) {
	s.n++
	if s.answer != nil {
		if err := s.answer(s.n, &v); err != nil {
			return InventoryPage{}, err
		}
	}
	if s.visited != nil {
		defer s.visited(s.n)
	}
	from, _ := strconv.Atoi(v.Token)
	from = min(from, len(s.keys))
	to := min(from+s.pageSize, len(s.keys))
	page := InventoryPage{View: s.view, Hidden: s.hidden}
	if s.versions {
		page.Version = strings.Join(s.keys[from:to], ",") + fmt.Sprint(to < len(s.keys))
		if page.Unchanged = v.Version == page.Version; page.Unchanged {
			return page, nil
		}
	}
	s.reads++
	for _, key := range s.keys[from:to] {
		if key == s.garbled {
			page.Things = append(page.Things, ListItem{Record: Unreadable(key, nil)})
			continue
		}
		page.Things = append(page.Things, ListItem{Key: key, Record: Upsert(map[string]any{"id": key})})
	}
	if to < len(s.keys) {
		page.Next = strconv.Itoa(to)
	}
	return page, nil
}

// collect is one run over the shelf.
func (s *shelf) collect(t *testing.T, v *vault, o options) result {
	t.Helper()
	s.n = 0
	o.scope = []protocol.StreamScope{{Name: "threads"}}
	return v.run(t, collecting(t, FullList{Stream: "threads", Page: s.page, Remembered: 6,
		NewestFirst: s.newestFirst}), o)
}

// kept returns the keys that the vault has and that were not deleted.
func kept(v *vault) []string {
	live := maps.Clone(v.records["threads"])
	maps.DeleteFunc(live, func(_, data string) bool { return data == "" })
	return slices.Sorted(maps.Keys(live))
}

func (s *shelf) remove(keys ...string) {
	s.keys = slices.DeleteFunc(s.keys, func(k string) bool { return slices.Contains(keys, k) })
}

// TestAbsenceIsDeletion keeps a list as the provider has it, and sends a page that is
// as it was only where it cannot be asked conditionally.
func TestAbsenceIsDeletion(t *testing.T) {
	t.Parallel()
	for _, versions := range []bool{true, false} {
		v, s := newVault(), newShelf(35, versions)
		succeeded(t, s.collect(t, v, options{}))
		s.reads = 0
		again := succeeded(t, s.collect(t, v, options{}))
		if sent := len(all[*protocol.Record](again)); versions && (sent != 0 || s.reads != 0) {
			t.Errorf("an unchanged list gave %d records in %d reads", sent, s.reads)
		}
		s.remove("k003", "k033")
		s.keys = append([]string{"k900"}, s.keys...)
		succeeded(t, s.collect(t, v, options{}))
		if want := slices.Sorted(slices.Values(s.keys)); !slices.Equal(kept(v), want) {
			t.Errorf("versions %v: kept %v, want %v", versions, kept(v), want)
		}
	}
}

// TestShiftedListDeletesNothing takes things away between two pages. What follows
// moves up, so the walk misses things that are still there; only a walk over a list
// that does not change shows which ones are gone.
func TestShiftedListDeletesNothing(t *testing.T) {
	t.Parallel()
	for _, versions := range []bool{true, false} {
		v, s := newVault(), newShelf(40, versions)
		succeeded(t, s.collect(t, v, options{}))
		s.visited = func(n int) {
			if n == 2 {
				s.remove("k000", "k001", "k002", "k003", "k004", "k005")
			}
		}
		succeeded(t, s.collect(t, v, options{}))
		if n := len(kept(v)); n != 40 {
			t.Errorf("versions %v: %d of 40 are left while the list moves", versions, n)
		}
		s.visited = nil
		succeeded(t, s.collect(t, v, options{}))
		if !slices.Equal(kept(v), s.keys) {
			t.Errorf("versions %v: kept %v, want %v", versions, kept(v), s.keys)
		}
		if m := readPageMemory(readCursor(runstate.WithoutPace(v.state["threads"]))); len(m.Left) > 0 ||
			len(m.rememberedKeys()) != 34 {
			t.Errorf("%d are remembered as left, %d as listed", len(m.Left), len(m.rememberedKeys()))
		}
	}
}

// TestUncertainAbsenceDeletesNothing has one reason after another not to believe that
// what is not listed is gone.
func TestUncertainAbsenceDeletesNothing(t *testing.T) {
	t.Parallel()
	for name, doubt := range map[string]func(*shelf){
		"the provider holds something back": func(s *shelf) { s.hidden = []Record{Unreadable("organization 7", nil)} },
		"a thing cannot be read":            func(s *shelf) { s.garbled = "k020" },
		"the credential sees other things":  func(s *shelf) { s.view = "public" },
		"most is gone at once":              func(s *shelf) { s.keys = s.keys[:5] },
		"the second walk gets no answer": func(s *shelf) {
			s.answer = func(n int, _ *PageRequest) error {
				if n > 4 {
					return Fail(Malformed, nil)
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, s := newVault(), newShelf(45, true)
			succeeded(t, s.collect(t, v, options{}))
			s.remove("k003", "k004", "k005", "k006", "k007", "k008", "k009")
			doubt(s)
			s.collect(t, v, options{})
			if n := len(kept(v)); n != 45 {
				t.Errorf("%d of 45 are left", n)
			}
		})
	}
}

// TestHalfAnInventoryDoesNotVanish keeps a large list when most of it is gone at
// once, as behind a credential that sees less and does not report it.
func TestHalfAnInventoryDoesNotVanish(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gone, known int
		want        bool
	}{{1, 1, true}, {20, 25, true}, {21, 42, true}, {22, 42, false}, {300, 500, false}} {
		if got := isBelievable(c.gone, c.known); got != c.want {
			t.Errorf("%d of %d gone: believed %v", c.gone, c.known, got)
		}
	}
}

// TestLongListsAreNotRememberedWhole reads past what the memory holds in every run, and infers no deletion from what it
// does not hold. Of a list with the newest items first only the remembered part is read again.
func TestLongListsAreNotRememberedWhole(t *testing.T) {
	t.Parallel()
	v, s := newVault(), newShelf(75, true)
	succeeded(t, s.collect(t, v, options{}))
	if s.n != 8 || len(kept(v)) != 75 {
		t.Errorf("%d things on %d pages, want 75 on 8", len(kept(v)), s.n)
	}
	s.remove("k001")
	s.keys = append(s.keys, "k900")
	succeeded(t, s.collect(t, v, options{}))
	if s.n != 8 || len(kept(v)) != 76 {
		t.Errorf("a second walk over %d pages leaves %d things, want all 8 and 76", s.n, len(kept(v)))
	}
	m := readPageMemory(readCursor(runstate.WithoutPace(v.state["threads"])))
	if len(m.Pages) != 6 || len(m.Left) != 0 || !m.Read {
		t.Errorf("%d pages remembered, %d left", len(m.Pages), len(m.Left))
	}
	s.newestFirst = true
	s.keys = slices.Insert(s.keys, 0, "k000new")
	succeeded(t, s.collect(t, v, options{}))
	if s.n != 6 || len(kept(v)) != 77 {
		t.Errorf("a walk over %d pages leaves %d things, want the 6 remembered and 77", s.n, len(kept(v)))
	}
}

// TestInterruptedInventoryIsComplete kills a walk after each of its lines. The run
// after it leaves exactly what the provider has.
//
//pdpp:tier unraced
func TestInterruptedInventoryIsComplete(t *testing.T) {
	t.Parallel()
	whole := func(crash int) (lines int) {
		v, s := newVault(), newShelf(25, true)
		succeeded(t, s.collect(t, v, options{}))
		s.remove("k002", "k024")
		s.keys = append(s.keys, "k900")
		killed := s.collect(t, v, options{crash: crash})
		if slices.ContainsFunc(s.keys, func(k string) bool { d, had := v.records["threads"][k]; return had && d == "" }) {
			t.Fatalf("killed after line %d: something that is there is deleted", crash)
		}
		succeeded(t, s.collect(t, v, options{}))
		if !slices.Equal(kept(v), s.keys) {
			t.Fatalf("killed after line %d: kept %v, want %v", crash, kept(v), s.keys)
		}
		return len(killed.messages)
	}
	for crash, lines := 1, whole(0); crash < lines; crash++ {
		whole(crash)
	}
}

// TestInventoryInCirclesFails ends a list with a next page that is one that was read.
func TestInventoryInCirclesFails(t *testing.T) {
	t.Parallel()
	v, s := newVault(), newShelf(35, false)
	s.answer = func(n int, v *PageRequest) error {
		if n > 3 {
			v.Token = "10"
		}
		return nil
	}
	if r := s.collect(t, v, options{}); r.exit != ExitFailed || len(all[*protocol.Record](r)) > 40 {
		t.Errorf("exit %d after %d records", r.exit, len(all[*protocol.Record](r)))
	}
}

// TestInventoryBookmarkStaysReadable holds the stored form: one that no longer reads
// would forget what was there, and its deletion with it.
func TestInventoryBookmarkStaysReadable(t *testing.T) {
	t.Parallel()
	const stored = `{"memory":"{\"pages\":[{\"etag\":\"W/1\",\"next\":\"p2\",\"ids\":[\"a\",\"b\"]},` +
		`{\"ids\":[\"c\"]}],\"left\":[\"z\"],\"scopes\":\"repo\",\"read\":true}"}`
	w := &fullListWalk{FullList: FullList{Remembered: 6}}
	w.startWalk(readCursor(jsontext.Value(stored)))
	if got := slices.Sorted(
		maps.Keys(w.known),
	); !slices.Equal(got, []string{"a", "b", "c", "z"}) || w.pageVersion() != "W/1" ||
		w.View != "repo" {
		t.Errorf("read as %+v", w)
	}
	if back, err := w.walkBookmark(false).encodeCursor(); err != nil || string(back) != stored {
		t.Errorf("written back as %s, %v", back, err)
	}
}
