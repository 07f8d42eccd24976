package admin

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// The list shows why each item is missing and when it is retried. The owner can retry or skip an
// item, and only an item of this connection.
func TestMissingIsTold(t *testing.T) {
	t.Parallel()
	o := mara()
	later, past := now.Add(48*60*60*1e9), now.Add(-60*60*1e9)
	of := func(id, status string) api.Gap {
		return api.Gap{ID: id, ConnectionID: "cin_kelp_1", Stream: "letters", RecordKey: id[4:],
			Text: "The source answered with an error.", Status: status, Attempts: 3, CreatedAt: past, UpdatedAt: past}
	}
	waits, due, tried, left, gave, fetched := of("gap_a1", "pending"), of("gap_a2", "pending"),
		of("gap_a3", "in_progress"), of("gap_a4", "terminal"), of("gap_a5", "terminal"), of("gap_a6", "recovered")
	waits.NotBefore, due.NotBefore, due.Attempts, left.IgnoredWhy = &later, &past, 0, "an old draft"
	o.gaps = api.GapPage{Gaps: []api.Gap{waits, due, tried, left, gave, fetched}, More: true}
	h := world(t, o)
	p := get(t, h, "/sources/cin_kelp_1/missing?status=pending&show=500")
	if want := (api.GapQuery{ConnectionID: "cin_kelp_1", Status: "pending", Limit: 500}); o.gapsOf != want {
		t.Errorf("it asks for %+v", o.gapsOf)
	}
	p.says(t, "Kelp, maralind", "The oldest 500 are shown.")
	for id, want := range map[string]string{
		"gap_a1": "Letters a1 The source answered with an error. Tried again from 14 March 14:32 on Tried 3 times Try again",
		"gap_a2": "Letters a2 The source answered with an error. Tried again by the next run Not tried yet Try again",
		"gap_a3": "Letters a3 The source answered with an error. A run tries it now Tried 3 times",
		"gap_a4": "Letters a4 The source answered with an error. Left out by you: an old draft Tried 3 times Try again",
		"gap_a5": "Letters a5 The source answered with an error. Not tried again Tried 3 times Try again",
		"gap_a6": "Letters a6 The source answered with an error. Fetched today 13:32 Tried 3 times",
	} {
		if got := textOf(p.by(t, "data-gap", id)); got != want {
			t.Errorf("%s reads\n%q, want\n%q", id, got, want)
		}
	}
	p.by(t, "href", "/sources/cin_kelp_1/missing?show=2500&status=pending")
	p.by(t, "action", "/sources/cin_kelp_1/missing/gap_a1/retry")

	to(t, post(t, h, "/sources/cin_kelp_1/missing/gap_a1/retry", nil), "/sources/cin_kelp_1/missing")
	to(t, post(t, h, "/sources/cin_kelp_1/missing/gap_a2/ignore", url.Values{"reason": {" an old draft "}}),
		"/sources/cin_kelp_1/missing")
	want(t, o, "RetryGap gap_a1; IgnoreGap gap_a2 an old draft")
	o.asked = nil
	p = post(t, h, "/sources/cin_kelp_1/missing/gap_a2/ignore", url.Values{"reason": {"  "}})
	if p.Code != http.StatusBadRequest || attr(p.by(t, "id", "why"), "aria-invalid") != "true" {
		t.Errorf("leaving out without a reason gives %d", p.Code)
	}
	p.says(t, "Say why it may stay missing.")
	for _, address := range []string{"/sources/cin_tide_1/missing/gap_a1/retry",
		"/sources/cin_tide_1/missing/gap_a1/ignore", "/sources/cin_none/missing/gap_a1/retry",
		"/sources/cin_kelp_1/missing/gap_zz/retry"} {
		if p := post(t, h, address, url.Values{"reason": {"x"}}); p.Code != http.StatusNotFound || len(o.asked) > 0 {
			t.Errorf("%s gives %d and did %q", address, p.Code, o.asked)
		}
	}
}

// What has been fetched leaves nothing to decide.
func TestFetchedItemHasNoForms(t *testing.T) {
	t.Parallel()
	o := mara()
	o.gaps.Gaps = []api.Gap{{ID: "gap_1", ConnectionID: "cin_kelp_1", Stream: "letters", Status: "recovered"}}
	p := get(t, world(t, o), "/sources/cin_kelp_1/missing/gap_1")
	for _, f := range p.elements("form") {
		if attr(f, "action") != "/logout" {
			t.Errorf("it has a form to %s", attr(f, "action"))
		}
	}
}
