package miniflux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// shelf answers as a server does whose entries have nothing but a number.
type shelf struct {
	there []int64 // in order
	asked int
}

func (s *shelf) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked++
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(r.URL.Query().Get(name), 10, 64) // absent is zero
		return n
	}
	total, found := 0, []map[string]any{}
	after, before, limit := number("after_entry_id"), number("before_entry_id"), int(number("limit"))
	for _, id := range s.there {
		if id <= after || before > 0 && id >= before {
			continue
		}
		if total++; len(found) < limit {
			found = append(found, map[string]any{"id": id})
		}
	}
	body, err := json.Marshal(map[string]any{"total": total, "entries": found})
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, err
}

// TestUnnumberedEntry holds that an entry without a number of its own is declared, not stored.
func TestUnnumberedEntry(t *testing.T) {
	for _, v := range []string{`{"title":"x"}`, `{"id":0}`, `{"id":-1}`} {
		if id, got := entry(raw(v)); id != 0 || !reflect.DeepEqual(got, connectorkit.Unreadable("", nil)) {
			t.Errorf("%s: %d, %+v", v, id, got)
		}
	}
}

// TestCensusFindsEverything lets entries come and go at random and holds what is known against what
// there is. The time of a change says nothing here, as if all of them were old.
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
		client, err := governhttp.New(governhttp.Options{
			BaseURL: "http://reader.example", Classify: classify, Transport: s,
			Sender: governhttp.NewSender(governor.New("test", func(c *governor.Config) { c.Discovery = 0 }), governhttp.SenderOptions{}),
		})
		if err != nil {
			t.Fatal(err)
		}
		at := connectorkit.Cursor{}
		for round := range 5 {
			e := &entries{reader: &reader{client: client}}
			s.asked = 0
			for more := true; more; {
				page, err := e.page(t.Context(), at)
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
			if got, want := connectorkit.NumbersOf(at["ids"]).All(), s.there; !slices.Equal(got, want) {
				t.Fatalf("seed %d, round %d: %d are known, %d are there", seed, round, len(got), len(want))
			}
			if round == 4 && s.asked > len(s.there)/perPage+2+2*8 {
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
