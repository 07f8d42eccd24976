package readapi_test

import (
	"flag"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// thing is an item of the source: an entry, and its page of an earlier time.
type thing struct {
	key           string
	at, paged     time.Time
	born          time.Time // when the source had it
	entry, page   bool      // kept here
	waits, walked bool      // a gap, of it or of a window, covers what is not stored
}

// source is what exists, and what runs made of it.
type source struct {
	*book
	t      *rapid.T
	now    time.Time
	things []*thing
}

func (s *source) grow() {
	for range rapid.IntRange(0, 4).Draw(s.t, "new things") {
		at := s.now.AddDate(0, 0, -rapid.IntRange(-5, 60).Draw(s.t, "days ago"))
		s.things = append(s.things,
			&thing{key: fmt.Sprintf("k%02d", len(s.things)), at: at,
				paged: at.AddDate(0, 0, -rapid.IntRange(0, 20).Draw(s.t, "paged")), born: s.now})
	}
}

func (x *thing) records(of ...string) (out []slice.Record) {
	if slices.Contains(of, "entries") && !x.entry {
		x.entry = true
		out = append(out, made("entries", x.key, x.at, nil))
	}
	if slices.Contains(of, "pages") && !x.page {
		x.page = true
		out = append(out, made("pages", "page-"+x.key, x.paged, map[string]any{"entry_id": x.key}))
	}
	return out
}

// run lets a run end in a random way. It reports what the runner writes; what it stores is random.
func (s *source) run() {
	how := rapid.SampledFrom([]string{"reads all", "misses details", "rejects one", "leaves a window", "is cut", "fails",
		"reads some", "skips", "recovers"}).Draw(s.t, "a run")
	l, began := s.start(s.now), s.now
	s.now = s.now.Add(time.Hour)
	var part slice.Slice
	entries, pages := fact{Stream: "entries", Checkpoint: "committed"}, fact{Stream: "pages", Checkpoint: "committed"}
	status := store.RunSucceeded
	var open []*thing
	for _, x := range s.things {
		if !x.born.After(began) && !x.waits && !x.walked && !(x.entry && x.page) {
			open = append(open, x)
		}
	}
	some := func() bool { return rapid.Bool().Draw(s.t, "this one") }
	keep := func(x *thing, of ...string) { part.Records = append(part.Records, x.records(of...)...) }
	covered := 0
	// a walk that was cut is ended before anything else
	if !slices.Contains([]string{"is cut", "fails", "reads some", "skips", "recovers"}, how) {
		part.Cursors = append(part.Cursors, slice.Cursor{Stream: "entries", Mode: protocol.CatchUp, Cursor: []byte("null")})
	}
	switch how {
	case "reads all":
		for _, x := range open {
			keep(x, "entries", "pages")
		}
		covered = len(open)
	case "misses details":
		for _, x := range open {
			keep(x, "entries")
			if some() {
				keep(x, "pages")
				covered++
				continue
			}
			x.waits = true
			g := itemGap("pages", x.key)
			g.ParentStream, g.Retryable = "entries", some()
			part.Gaps = append(part.Gaps, g)
		}
	case "rejects one":
		for i, x := range open {
			if i > 0 {
				keep(x, "entries", "pages")
				continue
			}
			x.waits = true
			part.Gaps = append(part.Gaps, itemGap("entries", x.key))
			entries.Skipped = map[string]any{"reason": "schema"}
		}
	case "leaves a window", "is cut":
		if len(open) == 0 {
			break
		}
		slices.SortFunc(open, func(a, b *thing) int { return b.at.Compare(a.at) })
		from := rapid.IntRange(0, len(open)-1).Draw(s.t, "kept")
		for _, x := range open[:from] {
			keep(x, "entries", "pages")
			covered++
		}
		if how == "leaves a window" {
			for _, x := range open[from:] {
				x.walked = true
			}
			part.Gaps = append(part.Gaps, backlog(open[from].at, open[len(open)-1].at))
			break
		}
		cursor := fmt.Sprintf(`{"before":%q,"floor":%q}`, open[from].at.Format(time.RFC3339Nano),
			open[len(open)-1].at.Format(time.RFC3339Nano))
		part.Cursors = append(part.Cursors, slice.Cursor{Stream: "entries", Mode: protocol.CatchUp, Cursor: []byte(cursor)})
		status = store.RunFailed
	case "fails", "reads some":
		for _, x := range open {
			if some() {
				keep(x, "entries", "pages")
			}
		}
		if how == "fails" {
			status, entries.Checkpoint, pages.Checkpoint = store.RunFailed, "staged", "none"
		} else {
			entries.Scope, pages.Scope = map[string]any{"resources": true}, map[string]any{"resources": true}
		}
	case "skips":
		entries.Skipped = map[string]any{"reason": "temporary"}
	case "recovers":
		s.recover(l, &part)
		s.commit(l, part, began)
		s.end(l, status, s.now)
		return
	}
	if how == "misses details" {
		pages.Considered, pages.Covered = ptr(len(open)), ptr(covered)
	}
	s.commit(l, part, began)
	s.end(l, status, s.now, entries, pages)
}

// recover fetches what gaps cover.
func (s *source) recover(l store.Lease, part *slice.Slice) {
	leased, err := s.store.LeaseGaps(s.ctx(), l, store.GapPage{Page: 1, Limit: 100, TTL: time.Hour}, s.now)
	check(s.book.t, err)
	for _, g := range leased {
		part.Recovered = append(part.Recovered, slice.GapRef{GapID: g.ID, LeaseID: g.LeaseID})
		for _, x := range s.things {
			if x.walked || x.waits && x.key == g.RecordKey {
				x.waits, x.walked = false, false
				part.Records = append(part.Records, x.records("entries", "pages")...)
			}
		}
	}
}

// missing returns an item that the source had then, with a time in the range, that is not stored.
func (s *source) missing(stream string, asOf time.Time, in func(time.Time) bool) string {
	for _, x := range s.things {
		at, kept := x.at, x.entry
		if stream == "pages" {
			at, kept = x.paged, x.page
		}
		if !kept && !x.born.After(asOf) && in(at) {
			return x.key
		}
	}
	return ""
}

// Whatever runs did, no range is called whole, and no span covered, in which the source had
// something that is not here. The check shares no code with what it checks.
func TestWholeIsNeverSaidOfWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorldOver(t, uncounted{inSQLite(t)})
	owner, round := w.owner(), 0
	most := 30 // of the accounts that are filled: each is a dozen commits
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() != checks.DefValue {
		most = 1 << 20
	}
	reports := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		if round++; round > most {
			return
		}
		s := &source{book: w.book(fmt.Sprint("account", round)), t: t, now: at(2, 1)}
		for range rapid.IntRange(1, 5).Draw(t, "runs") {
			s.grow()
			s.now = s.now.AddDate(0, 0, rapid.IntRange(0, 4).Draw(t, "days later"))
			s.run()
		}
		s.grow()
		day := rapid.Custom(func(t *rapid.T) time.Time {
			return at(1, 1).AddDate(0, 0,
				rapid.IntRange(-40, 60).Draw(t, "day"))
		})
		for _, stream := range []string{"entries", "pages"} {
			token, q := owner, url.Values{"connection_id": {s.id}}
			var window timespan
			scope := s.scope(stream)
			if rapid.Bool().Draw(t, "granted") {
				if rapid.Bool().Draw(t, "since") {
					scope.Since = ptr(day.Draw(t, "from"))
				}
				if rapid.Bool().Draw(t, "until") {
					scope.Until = ptr(at(1, 1).AddDate(0, 0, rapid.IntRange(61, 99).Draw(t, "to")))
				}
				window = timespan{scope.Since, scope.Until}
				_, given, err := w.grants.Create(w.ctx(), grants.New{ClientName: "Reader", Scope: grants.GrantedStreams{scope}})
				check(w.t, err)
				token = given
			}
			asked := timespan{}
			if rapid.Bool().Draw(t, "filtered") {
				asked.From = ptr(day.Draw(t, "least"))
				q.Set("filter[at][gte]", asked.From.Format(time.RFC3339))
			}
			if rapid.Bool().Draw(t, "bounded") {
				asked.To = ptr(day.Draw(t, "most"))
				q.Set("filter[at][lt]", asked.To.Format(time.RFC3339))
			}
			got := w.ask(token, "/v1/streams/"+stream+"/records?"+q.Encode()).told(w.t)
			reports[got.Whole]++
			in := func(at time.Time) bool { return window.holds(at) && asked.holds(at) }
			if got.Whole == "yes" {
				if key := s.missing(stream, *got.AsOf, in); key != "" {
					t.Fatalf("%s is whole as of %s without %s: %+v", stream, got.AsOf, key, got)
				}
			}
			for _, c := range got.Covered {
				if key := s.missing(stream, *got.AsOf, c.holds); key != "" {
					t.Fatalf("%s covers %+v as of %s without %s", stream, c, got.AsOf, key)
				}
				if c.To == nil || c.To.After(*got.AsOf) || window.From != nil && (c.From == nil || c.From.Before(*window.From)) ||
					window.To != nil && c.To.After(*window.To) {
					t.Fatalf("%+v goes beyond what may be known", c)
				}
			}
			if got.Whole == "no" && s.missing(stream, s.now, in) == "" {
				t.Fatalf("%s lacks nothing and yet %+v", stream, got)
			}
		}
	})
	t.Logf("reported %v", reports)
	for _, word := range []string{"yes", "unknown"} {
		if reports[word] == 0 {
			t.Errorf("%q was never reported: %v", word, reports)
		}
	}
}
