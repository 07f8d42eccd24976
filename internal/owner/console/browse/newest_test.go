package browse

import (
	"cmp"
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

// shelf is an owner of records with a time and a sequence number. A cursor is valid only for the
// query that returned it. A page may hold fewer records than the limit.
type shelf struct {
	api.Owner
	streams map[string][]api.Record // by name, in the order in which they were stored
	longest int                     // page
}

func (s *shelf) Records(_ context.Context, q api.RecordQuery) (page api.RecordPage, err error) {
	type kept struct {
		api.Record
		id int
	}
	var all []kept
	for i, r := range s.streams[q.Stream] {
		if !q.ByTime || !r.At.Before(q.Since) && (q.Until.IsZero() || r.At.Before(q.Until)) {
			all = append(all, kept{r, i})
		}
	}
	slices.SortFunc(all, func(a, b kept) int {
		by := a.id - b.id
		if q.ByTime {
			by = cmp.Or(a.At.Compare(*b.At), by)
		}
		if !q.Oldest {
			by = -by
		}
		return by
	})
	bound := fmt.Sprint(q.Stream, q.ByTime, q.Oldest, q.Since, q.Until)
	if q.Cursor != "" {
		of, last, _ := strings.Cut(q.Cursor, "|")
		if of != bound {
			return page, fmt.Errorf("cursor of %q for %q", of, bound)
		}
		id, err := strconv.Atoi(last)
		if err != nil {
			return page, err
		}
		all = all[slices.IndexFunc(all, func(k kept) bool { return k.id == id })+1:]
	}
	n := min(len(all), q.Limit, s.longest)
	for _, k := range all[:n] {
		page.Records = append(page.Records, k.Record)
	}
	if q.Total {
		page.Total = new(int64(len(all)))
	}
	if n < len(all) {
		page.Next = bound + "|" + strconv.Itoa(all[n-1].id)
	}
	return page, nil
}

// stocked draws streams with many records of one moment.
func stocked(t *rapid.T, kind string) (*shelf, []*things.Stream) {
	s := &shelf{streams: map[string][]api.Record{}, longest: rapid.IntRange(1, 6).Draw(t, "longest")}
	var of []*things.Stream
	base := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	for i := range rapid.IntRange(1, 3).Draw(t, "streams") {
		name := fmt.Sprint("s", i)
		for j := range rapid.IntRange(0, 12).Draw(t, "records") {
			at := base.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "at")) * time.Microsecond)
			s.streams[name] = append(s.streams[name], api.Record{ConnectionID: "c", Stream: name, Key: fmt.Sprint(name, "-", j),
				At:        &at,
				ChangedAt: base.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "changed")+10*j) * time.Second)})
		}
		of = append(of, &things.Stream{Stream: api.Stream{ConnectionID: "c",
			ConnectionName: fmt.Sprint("z", 9-i), Name: name,
			Records: int64(len(s.streams[name])),
			Display: api.Display{Kind: kind, Roles: map[string]string{"time": "at"}}}})
	}
	return s, of
}

// However many records are of one moment: the pages of a list have every one exactly once, in the
// order of time, and a page that is opened again by its address is the same.
func TestPagesByTimeMeetEveryRecordOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, of := stocked(t, "document")
		p := &browsePages{Config: Config{Owner: s}}
		w := things.Walk{Of: of, Oldest: rapid.Bool().Draw(t, "oldest")}
		n := rapid.IntRange(1, 5).Draw(t, "page")
		var places []things.Place
		var read [][]string
		seen := map[string]bool{}
		var last *things.Thing
		for at := new(things.Place); at != nil; {
			q := url.Values{}
			at.Write(q, "until")
			again := things.ReadPlace(q.Get("until"), q.Get("in"), q.Get("past"))
			if again != *at {
				t.Fatalf("%+v is %+v in an address", *at, again)
			}
			found, err := w.Read(t.Context(), p.Owner, again, n)
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Things) > n || len(found.Things) == 0 && found.Next != nil {
				t.Fatalf("a page has %d records", len(found.Things))
			}
			var keys []string
			for i := range found.Things {
				one := &found.Things[i]
				if last != nil && (w.Oldest && one.At.Before(*last.At) || !w.Oldest && one.At.After(*last.At)) {
					t.Fatalf("%s of %s follows %s of %s", one.Key, one.At, last.Key, last.At)
				}
				if seen[one.Key] {
					t.Fatalf("%s is there twice", one.Key)
				}
				seen[one.Key], last = true, one
				keys = append(keys, one.Key)
			}
			places, read = append(places, *at), append(read, keys)
			at = found.Next
		}
		for name, records := range s.streams {
			for _, r := range records {
				if !seen[r.Key] {
					t.Fatalf("%s of %s is on none of %d pages", r.Key, name, len(places))
				}
			}
		}
		for i := len(places) - 1; i >= 0; i-- { // and back
			found, err := w.Read(t.Context(), p.Owner, places[i], n)
			if err != nil {
				t.Fatal(err)
			}
			var keys []string
			for j := range found.Things {
				keys = append(keys, found.Things[j].Key)
			}
			if !slices.Equal(keys, read[i]) {
				t.Fatalf("page %d has %v, and had %v", i, keys, read[i])
			}
		}
	})
}

// The list of conversations over several sources has every one exactly once.
func TestPagesOfConversationsMeetEveryOneOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, of := stocked(t, "conversation")
		p := &browsePages{Config: Config{Owner: s}}
		n := rapid.IntRange(1, 5).Draw(t, "page")
		seen := map[string]bool{}
		for address := "/conversations"; address != ""; {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			things, to, err := p.threadRecords(t.Context(), of, readReached(u.Query()), n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range things {
				if seen[things[i].Key] {
					t.Fatalf("%s is there twice", things[i].Key)
				}
				seen[things[i].Key] = true
			}
			if address = ""; to != nil {
				if len(things) == 0 {
					t.Fatalf("an empty page leads to %v", to)
				}
				address = conversationsAddress("", "", to)
			}
		}
		for _, records := range s.streams {
			for _, r := range records {
				if !seen[r.Key] {
					t.Fatalf("%s is on no page", r.Key)
				}
			}
		}
	})
}

// A conversation with more messages of one moment than a page has is read to its end, both ways.
func TestConversationWithinOneMoment(t *testing.T) {
	t.Parallel()
	s := &shelf{streams: map[string][]api.Record{}, longest: mostAtOnce}
	base := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	for i := range 2300 {
		at := base
		switch {
		case i < 5:
			at = at.Add(-time.Hour)
		case i >= 2295:
			at = at.Add(time.Hour)
		}
		s.streams["said"] = append(s.streams["said"], api.Record{ConnectionID: "c", Stream: "said", Key: fmt.Sprint(i),
			At: &at})
	}
	all := things.NewStreams([]api.Stream{{ConnectionID: "c", Name: "said", Records: 2300,
		Display: api.Display{Kind: "message", Roles: map[string]string{"time": "at", "thread": "in"}}}})
	p := &browsePages{Config: Config{Owner: s}}
	k := things.ThreadKey{Connection: "c", Stream: "said", Thread: "x"}
	for _, forward := range []bool{false, true} {
		seen := map[string]int{}
		at := conversationPart{}
		if forward {
			at.since = base.Add(-time.Hour)
		}
		for pages := 0; ; pages++ {
			found, err := p.readThread(t.Context(), all, k, at)
			if err != nil || pages > 10 {
				t.Fatalf("after %d pages: %v", pages, err)
			}
			for i := range found.listed {
				seen[found.listed[i].Key]++
			}
			next := found.earlier
			if forward {
				next = found.later
			}
			if next == "" {
				break
			}
			at = readSpan(httptest.NewRequest("GET", next, nil))
		}
		if len(seen) != 2300 {
			t.Errorf("forward %v: %d messages of 2300 were met", forward, len(seen))
		}
		for key, n := range seen {
			if n != 1 {
				t.Errorf("forward %v: %s was met %d times", forward, key, n)
			}
		}
	}
}
