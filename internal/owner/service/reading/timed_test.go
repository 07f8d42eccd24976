package reading

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// dig stores beds that were dug one a day, in another order than that of their days.
func (d *desk) dig(id string, n int) {
	d.t.Helper()
	var beds []slice.Record
	for i := range n {
		day := (i * 7) % n
		at := time.Date(2026, 1, 1+day, 12, 0, 0, 0, time.UTC).Format(time.RFC3339)
		beds = append(beds, slice.Record{Stream: "beds", Key: fmt.Sprintf("d%02d", day), EmittedAt: "2026-03-02T03:04:05Z",
			Data: fmt.Appendf(nil, `{"id":"d%02d","name":"bed","kind":%q,"dug_at":%q}`, day, []string{"flower", "herb"}[day%2],
				at)})
	}
	d.Collect(id, append(beds,
		slice.Record{Stream: "beds", Key: "never", EmittedAt: "x", Data: []byte(`{"id":"never","kind":"herb"}`)}))
}

func TestRecordsInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.dig(id, 30)
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	q := api.RecordQuery{ConnectionID: id, Stream: "beds", ByTime: true, Oldest: true, Limit: 7}
	want := func(from, to, step int) (keys []string) {
		for i := from; i <= to; i += step {
			keys = append(keys, fmt.Sprintf("d%02d", i))
		}
		return keys
	}
	if got := d.all(q); !slices.Equal(got, want(0, 29, 1)) {
		t.Errorf("the oldest first: %v", got)
	}
	q.Since, q.Until, q.Thread = day(11), day(21), "herb"
	if got := d.all(q); !slices.Equal(got, want(11, 19, 2)) {
		t.Errorf("herbs from the eleventh to the twentieth: %v", got)
	}
	q.Thread, q.Author = "", "herb"
	if got := d.all(q); !slices.Equal(got, want(11, 19, 2)) {
		t.Errorf("those by the author: %v", got)
	}
	q.Oldest = false
	backwards := want(11, 19, 2)
	slices.Reverse(backwards)
	if got := d.all(q); !slices.Equal(got, backwards) {
		t.Errorf("the newest first: %v", got)
	}
	q.Fields, q.Total, q.Limit = []string{"kind"}, true, 2
	page, err := d.Records(d.Ctx(), q)
	d.Must(err)
	if r := page.Records[0]; *page.Total != 5 || string(r.Data) != `{"kind":"herb"}` ||
		!r.At.Equal(day(20).Add(12*time.Hour)) {
		t.Errorf("%d in all, the first at %v: %s", *page.Total, r.At, r.Data)
	}
	q.Cursor, q.Oldest = page.Next, true
	if _, err := d.Records(d.Ctx(), q); err == nil {
		t.Error("a cursor of another order is taken")
	}
	streams, err := d.Streams(d.Ctx(), id)
	d.Must(err)
	if s := streams[0].Display; s.Kind != "event" || s.Roles["thread"] != "kind" || s.Scale != 1 || s.Days ||
		len(s.Related) != 0 {
		t.Errorf("it is shown as %+v", s)
	}
}

// What a stream does not declare, and what the order of time does not take, is refused.
func TestOrderOfTimeIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.Connect()
	d.dig(id, 3)
	for param, q := range map[string]api.RecordQuery{
		"by":           {ByTime: true, Changes: true},
		"by ":          {Thread: "herb"},
		"address":      {ByTime: true, Address: "herb@beds.example"},
		" by":          {ByTime: true, Keys: []string{"k001"}},
		"filter[size]": {ByTime: true, Where: map[string]string{"size": "3"}},
	} {
		q.ConnectionID, q.Stream = id, "beds"
		var problem *api.Error
		if _, err := d.Records(d.Ctx(), q); !errors.As(err, &problem) || problem.Param != strings.TrimSpace(param) {
			t.Errorf("%s: %v", param, err)
		}
	}
}
