package github

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"pdpp/connectorkit"
	"pdpp/providersim"
	provider "pdpp/providersim/github"
)

// TestShiftedListDeletesNothing takes stars back between two pages. What follows
// moves up, so the walk misses stars that are still there; only a walk over a list
// that stands still tells which ones are gone.
func TestShiftedListDeletesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := provider.New(provider.Config{Seed: 5, Stars: 40, MaxPage: 10})
		a := clientOf(t, sim)
		keys := slices.Collect(maps.Keys(sim.Truth()[provider.StreamStarred]))
		var gone []string
		// collect walks the list and gives the keys that it deletes.
		collect := func(at connectorkit.Cursor, shifting bool) (deleted []string, next connectorkit.Cursor) {
			v := starred(a)
			for n, more := 1, true; more; n++ {
				page, err := v.page(t.Context(), at)
				if err != nil {
					t.Fatal(err)
				}
				for _, key := range keys {
					if slices.ContainsFunc(page.Records, func(r connectorkit.Record) bool { return reflect.DeepEqual(r, connectorkit.Delete(key)) }) {
						deleted = append(deleted, key)
					}
				}
				if shifting && n == 2 {
					out, err := sim.Mutate(providersim.Mutation{Op: "unstar", N: 6})
					if err != nil {
						t.Fatal(err)
					}
					gone = out.IDs
				}
				at, more = page.Next, page.More
			}
			slices.Sort(deleted)
			return deleted, at
		}
		_, at := collect(nil, false)
		deleted, at := collect(at, true)
		if len(deleted) > 0 {
			t.Errorf("%d stars are deleted while the list moves", len(deleted))
		}
		slices.Sort(gone)
		if deleted, at = collect(at, false); !slices.Equal(deleted, gone) {
			t.Errorf("deleted %v, want %v", deleted, gone)
		}
		if m := memoryOf(at); len(m.Left) > 0 || len(m.listed()) != 34 {
			t.Errorf("%d are remembered as left, %d as listed", len(m.Left), len(m.listed()))
		}
	})
}

// TestHalfAnInventoryDoesNotVanish keeps a large list when most of it is gone at
// once, as behind a token that sees less and does not say so.
func TestHalfAnInventoryDoesNotVanish(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gone, known int
		want        bool
	}{{1, 1, true}, {20, 25, true}, {21, 42, true}, {22, 42, false}, {300, 500, false}} {
		if got := believable(c.gone, c.known); got != c.want {
			t.Errorf("%d of %d gone: believed %v", c.gone, c.known, got)
		}
	}
}
