package runner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

// request requests a page and returns its entries.
func (c *connector) request(maxBytes int) []protocol.GapEntry {
	m := &protocol.DetailGapsPageRequest{RequestID: "p", ReferenceOnly: true}
	if n := int64(maxBytes); n > 0 {
		m.MaxBytes = &n
	}
	c.send(m)
	page, _ := c.hear().(*protocol.DetailGapsPageResponse)
	if page == nil || page.RequestID != "p" || !page.ReferenceOnly {
		return nil
	}
	return page.DetailGaps
}

// heavy adds gaps with locators of about this size.
func (d *dialogue) heavy(n, size int) {
	for i := range n {
		d.owe(fmt.Sprintf("k%04d", i))
		d.pending[len(d.pending)-1].DetailLocator = jsontext.Value(fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", size)))
	}
}

// More gaps than any page holds are all served in one run: a page is a
// transport batch, not a cap.
func TestPagesAreServedUntilNoneIsLeft(t *testing.T) {
	t.Attr("spec", "PB-11")
	t.Attr("spec", "PB-A10")
	const total = 1200
	d := newDialogue(t, "threads", "messages")
	d.heavy(total, 600)
	pages, seen := 0, map[string]bool{}
	o := d.play(t.Context(), func(c *connector) int {
		for page := c.start().DetailGaps; len(page) > 0; page = c.request(0) {
			pages++
			for _, gap := range page {
				seen[gap.GapID] = true
				c.send(&protocol.DetailGapAttempted{GapID: gap.GapID, LeaseID: gap.LeaseID, Stream: gap.Stream})
				c.line(rec("messages", string(gap.RecordKey)))
				c.line(recovered(gap))
			}
		}
		return c.done(protocol.DoneSucceeded)
	})
	mustSucceed(t, o)
	if len(seen) != total || pages < 3 {
		t.Errorf("%d of %d gaps were served in %d pages", len(seen), total, pages)
	}
	var closed int
	for _, s := range d.slices {
		closed += len(s.Recovered)
	}
	if closed != total {
		t.Errorf("%d of %d gaps were closed", closed, total)
	}
}

func TestPageIsBoundedByItsBytes(t *testing.T) {
	for name, c := range map[string]struct{ gaps, ask, size, budget int }{
		"default":             {300, 0, 2000, 262_144},
		"smallest":            {40, 1, 2000, 16_384},
		"asked for":           {120, 100_000, 2000, 100_000},
		"largest":             {600, 1 << 30, 3000, 1_048_576},
		"one entry too large": {40, 1, 30_000, 16_384},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t, "threads", "messages")
			var page []protocol.GapEntry
			mustSucceed(t, d.play(t.Context(), func(s *connector) int {
				s.start()
				d.heavy(c.gaps, c.size) // after START, so that the first request meets them
				page = s.request(c.ask)
				return s.done(protocol.DoneSucceeded)
			}))
			line, err := protocol.AppendLine(nil, &protocol.DetailGapsPageResponse{RequestID: "p", DetailGaps: page[:1]})
			if err != nil {
				t.Fatal(err)
			}
			if want := max(1, c.budget/len(line)); len(page) != want {
				t.Errorf("page of %d entries of %d bytes, want %d", len(page), len(line), want)
			}
			if got := len(page) + len(d.pending); got != c.gaps {
				t.Errorf("%d gaps are served or pending, of %d", got, c.gaps)
			}
			if len(d.released) != min(d.limits[1], c.gaps)-len(page) {
				t.Errorf("%d were claimed, %d served, %d released", d.limits[1], len(page), len(d.released))
			}
		})
	}
}

func TestCandidatesFollowTheSizesSeen(t *testing.T) {
	p := newGapRecovery(nil)
	if got := p.candidates(262_144); got != 256 {
		t.Errorf("first page asks for %d candidates", got)
	}
	p.observeSize(400)
	if want := 0.65*firstGapBytes + 0.35*400; p.averageBytes != want {
		t.Errorf("average = %v, want %v", p.averageBytes, want)
	}
	for range 50 {
		p.observeSize(1)
	}
	if got := p.candidates(maxGapPageBytes); got != maxGapCandidates {
		t.Errorf("tiny gaps: %d candidates", got)
	}
	for range 50 {
		p.observeSize(10 << 20)
	}
	if got := p.candidates(minGapPageBytes); got != 1 {
		t.Errorf("huge gaps: %d candidates", got)
	}
}

// What was recovered must be durable before the next page is chosen, or the
// same gap would be chosen again.
func TestRecoveryIsDurableBeforeTheNextPage(t *testing.T) {
	d := newDialogue(t, "threads", "messages")
	d.owe("k1", "k2")
	var atPage [][]string
	d.onPage = func() { // called under the lock that guards slices
		var log []string
		for _, s := range d.slices {
			log = append(log, describe(s))
		}
		atPage = append(atPage, log)
	}
	mustSucceed(t, d.play(t.Context(), func(c *connector) int {
		gaps := c.start().DetailGaps
		c.line(strings.Join([]string{ // in one write, so that nothing is committed in between
			attempted(gaps[0]), rec("messages", "k1"), recovered(gaps[0]),
			gapOf("messages", "threads", "k2", lease(gaps[1].GapID, gaps[1].LeaseID)),
			`{"type":"DETAIL_GAPS_PAGE_REQUEST","request_id":"p"}`,
		}, "\n"))
		c.hear()
		return c.done(protocol.DoneSucceeded)
	}))
	durable := strings.Join(slices.Concat(atPage...), " ")
	if !strings.Contains(durable, "recovered:gap-k1") || !strings.Contains(durable, "gap:messages/k2") ||
		len(atPage) != 2 {
		t.Errorf("at the second page these were durable: %v", atPage)
	}
}

func TestPageOfSomeStreams(t *testing.T) {
	d := newDialogue(t, "threads", "messages", "folders", "files")
	d.owe("k1")
	d.pending = append(d.pending, protocol.GapEntry{GapID: "gap-f", Stream: "files", ParentStream: "folders",
		RecordKey: "f", DetailLocator: object()})
	d.pending = append(d.pending, protocol.GapEntry{GapID: "gap-n", Stream: "notes", RecordKey: "n",
		DetailLocator: object()})
	var first, second []string
	mustSucceed(t, d.play(t.Context(), func(c *connector) int {
		for _, e := range c.start().DetailGaps {
			first = append(first, e.GapID)
		}
		d.owe("k2")
		d.pending = append(d.pending, protocol.GapEntry{GapID: "gap-g", Stream: "files", ParentStream: "folders",
			RecordKey: "g", DetailLocator: object()})
		c.line(`{"type":"DETAIL_GAPS_PAGE_REQUEST","request_id":"p","streams":["files","files"]}`)
		for _, e := range c.hear().(*protocol.DetailGapsPageResponse).DetailGaps {
			second = append(second, e.GapID)
		}
		return c.done(protocol.DoneSucceeded)
	}))
	if diff := cmp.Diff([][]string{{"gap-k1", "gap-f"}, {"gap-g"}}, [][]string{first, second}); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

// An attempt counts although the run fails: a gap that ends every run must not
// stay the first of every run.
func TestAttemptOutlivesAFailedRun(t *testing.T) {
	d := newDialogue(t, "threads", "messages")
	d.owe("k1")
	mustFail(t, d.play(t.Context(), func(c *connector) int {
		c.line(attempted(c.start().DetailGaps[0]))
		c.line(rec("messages", "k1"))
		return 9
	}), ReasonExitWithoutDone)
	committed(t, d, "attempt:gap-k1")
}

func TestRecoveryWithoutAToken(t *testing.T) {
	d := newDialogue(t, "threads", "messages")
	d.owe("k1")
	mustSucceed(t, d.play(t.Context(), func(c *connector) int {
		gap := c.start().DetailGaps[0]
		c.line(`{"type":"DETAIL_GAP_RECOVERED","stream":"messages","gap_id":"` + gap.GapID + `","record_key":"k1"}`)
		return c.done(protocol.DoneSucceeded)
	}))
	if ref := d.slices[0].Recovered[0]; ref != (slice.GapRef{GapID: "gap-k1", LeaseID: "page-1:gap-k1"}) {
		t.Errorf("recovered = %+v", ref)
	}
}

func TestGapSourceIsOptional(t *testing.T) {
	d := newDialogue(t, "threads", "messages")
	s := newSession(d.spec, d, nil, nil, d.opts.withDefaults())
	if f := s.prepare(t.Context()); f != nil {
		t.Fatal(f)
	}
	mustSucceed(t, s.converse(t.Context(), newScripted(func(c *connector) int {
		if got := c.start().DetailGaps; got == nil || len(got) != 0 {
			t.Errorf("detail_gaps = %v, want an empty list", got)
		}
		if page := c.request(0); page == nil || len(page) != 0 {
			t.Errorf("page = %v, want an empty one", page)
		}
		return c.done(protocol.DoneSucceeded)
	})))
}

func TestGapSourceFailureEndsTheRun(t *testing.T) {
	d := newDialogue(t, "threads", "messages")
	o := d.play(t.Context(), func(c *connector) int {
		c.start()
		d.leaseErr = errDiskFull
		c.request(0)
		return c.done(protocol.DoneSucceeded)
	})
	mustFail(t, o, ReasonStorage)
}

// A gap's wait began when it was announced: what passed until the gap was stored counts.
func TestGapWaitsFromItsAnnouncement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, "threads", "messages")
		heard := time.Now()
		mustSucceed(t, d.play(t.Context(), func(c *connector) int {
			c.start()
			c.line(gapOf("messages", "threads", "k1", `"last_error":{"retry_after_ms":3600000}`))
			c.line(gapOf("messages", "threads", "k2", `"last_error":{"retry_after_ms":-1}`))
			time.Sleep(10 * time.Minute) // the slice takes as long to finish
			return c.done(protocol.DoneSucceeded)
		}))
		gaps := d.slices[0].Gaps
		if got := gaps[0].NotBefore; got == nil || !got.Equal(heard.Add(time.Hour)) || gaps[1].NotBefore != nil {
			t.Errorf("not before %v and %v, want %v and none", got, gaps[1].NotBefore, heard.Add(time.Hour))
		}
	})
}
