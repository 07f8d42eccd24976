package admin

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// Paging from the newest page to the last one shows every record once, newest change first.
// Sequence numbers that later changes replaced do not matter.
func TestChangesPageByPage(t *testing.T) {
	t.Parallel()
	o := mara()
	at := now.Add(-time.Hour)
	o.streams[1].UpdatedAt, o.streams[1].LastSeq = &at, 9000
	var want []string
	for seq := int64(1); seq <= 9000; seq++ {
		if seq > 200 && seq < 8900 && seq != 4321 { // these have changed again since
			continue
		}
		r := letter(fmt.Sprint("k", seq), `{}`, 1)
		r.Stream, r.Seq = "stars", seq
		o.changes = append(o.changes, r)
		want = append(want, r.Key)
	}
	slices.Reverse(want)
	h := world(t, o)
	var got []string
	pages := 0
	for address := "/changed?source=cin_kelp_1"; address != ""; pages++ {
		o.changesOf = nil
		p := get(t, h, address)
		for _, q := range o.changesOf {
			if q.Limit < 1 || q.Limit > 1000 {
				t.Errorf("it asks for %+v", q)
			}
		}
		for _, row := range p.elements("tr") {
			if has(row, "data-change") {
				got = append(got, textOf(row.FirstChild))
			}
		}
		address = ""
		for _, a := range p.elements("a") {
			if attr(a, "rel") == "next" {
				address = attr(a, "href")
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d records are shown of %d", len(got), len(want))
	}
	if pages < 5 || pages > 12 {
		t.Errorf("they fill %d pages", pages)
	}
}

// The page shows what happened to a record: it was added, it changed, or the source deleted it.
func TestChangesSayWhatHappened(t *testing.T) {
	t.Parallel()
	o := mara()
	o.streams[0].LastSeq = 3
	came, changed, gone := letter("a1", `{"title":"Low tide"}`, 1), letter("a2", `{"title":"High tide"}`, 4),
		letter("a3", "", 2)
	for i, r := range []api.Record{came, changed, gone} {
		r.Seq = int64(i + 1)
		o.changes = append(o.changes, r)
	}
	h := world(t, o)
	p := get(t, h, "/changed?source=cin_kelp_1&stream=letters")
	for seq, want := range map[string]string{"1": "Low tide New today 05:32", "2": "High tide Changed today 08:32",
		"3": "a3 Removed at the source today 06:32"} {
		if got := textOf(p.by(t, "data-change", seq)); got != want {
			t.Errorf("change %s reads %q, want %q", seq, got, want)
		}
	}
	p.by(t, "href", "/thing/cin_kelp_1/letters/a1?connection=cin_kelp_1&stream=letters")
	if p := get(t, h, "/changed?source=cin_kelp_1&stream=shells"); p.Code != 404 {
		t.Errorf("a stream that is not there gives %d", p.Code)
	}
}
