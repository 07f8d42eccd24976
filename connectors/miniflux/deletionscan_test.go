package miniflux

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// shelf answers like a server with entries that have only a number.
type shelf struct {
	there []int64 // in order
	asked int
}

func (s *shelf) fetch(_ context.Context, query url.Values) (out entriesAnswer, err error) {
	s.asked++
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(query.Get(name), 10, 64) // absent is zero
		return n
	}
	after, before, limit := number("after_entry_id"), number("before_entry_id"), int(number("limit"))
	for _, id := range s.there {
		if id <= after || before > 0 && id >= before {
			continue
		}
		if out.Total++; len(out.Entries) < limit {
			out.Entries = append(out.Entries, jsontext.Value(fmt.Sprintf(`{"id":%d}`, id)))
		}
	}
	return out, nil
}

func readNothing(jsontext.Value) connectorkit.Record { return connectorkit.Record{} }

// TestUnnumberedEntry holds that an entry without a number of its own is declared, not stored.
func TestUnnumberedEntry(t *testing.T) {
	for _, v := range []string{`{"title":"x"}`, `{"id":0}`, `{"id":-1}`} {
		e := &entryCollector{read: readNothing}
		if id, got := e.readEntry(jsontext.Value(v)); id != 0 || !reflect.DeepEqual(got, connectorkit.Unreadable("", nil)) {
			t.Errorf("%s: %d, %+v", v, id, got)
		}
	}
}

// TestCensusFindsEverything adds and deletes entries at random and compares the known ids with the real ones. Change
// times are constant, as if all entries were old.
func TestCensusFindsEverything(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := &shelf{}
		last := int64(0)
		grow := func(n int) {
			for range n {
				last += 1 + r.Int64N(5)
				s.there = append(s.there, last)
			}
		}
		grow(r.IntN(800))
		at := connectorkit.Cursor{}
		for round := range 5 {
			e := &entryCollector{fetch: s.fetch, read: readNothing}
			s.asked = 0
			for more := true; more; {
				page, err := e.fetchNextPage(t.Context(), at)
				if err != nil {
					t.Fatal(err)
				}
				if here := fmt.Sprint(at); page.More && here == fmt.Sprint(page.Next) {
					t.Fatalf("seed %d, round %d: the bookmark stays %s", seed, round, here)
				}
				more, at = page.More, page.Next
				if round == 3 && at["step"] != "" {
					break // the run is cut short while it counts
				}
			}
			if round == 3 {
				continue
			}
			if got, want := connectorkit.ParseNumberSet(at["ids"]).All(), s.there; !slices.Equal(got, want) {
				t.Fatalf("seed %d, round %d: %d are known, %d are there", seed, round, len(got), len(want))
			}
			if round == 4 && s.asked > len(s.there)/entriesPerPage+2+2*8 {
				t.Errorf("seed %d: %d requests for one of %d that was gone", seed, s.asked, len(s.there))
			}
			if n := len(s.there); round == 2 && n > 0 {
				i := r.IntN(n)
				s.there = slices.Delete(s.there, i, i+1)
			}
			if round < 2 {
				s.there = slices.DeleteFunc(s.there, func(int64) bool { return r.IntN(30) == 0 })
				grow(r.IntN(200))
			}
		}
	}
}
