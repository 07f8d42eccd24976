package sample_test

import (
	"encoding/json"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/sample"
)

type threadsPage struct {
	Threads []json.RawMessage
	Next    string `json:"next_page"`
}

type listed struct {
	ID        string
	UpdatedAt string `json:"updated_at"`
	Count     int    `json:"message_count"`
}

func (l listed) time(t fataler) time.Time {
	at, err := time.Parse(time.RFC3339Nano, l.UpdatedAt)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return at
}

func (c client) threads(t fataler, span url.Values, page string, n int) threadsPage {
	t.Helper()
	q := limit(n)
	for name := range span {
		q.Set(name, span.Get(name))
	}
	if page != "" {
		q.Set("page", page)
	}
	var p threadsPage
	c.get(t, "/v1/threads", q, &p)
	return p
}

// walk reads a whole span; between runs after every page.
func (c client) walk(t fataler, span url.Values, size func() int, between func()) (order []listed,
	data map[string]string) {
	t.Helper()
	data = map[string]string{}
	for page := ""; ; between() {
		p := c.threads(t, span, page, size())
		for _, raw := range p.Threads {
			var item listed
			if err := json.Unmarshal(raw, &item); err != nil {
				t.Fatalf("%v", err)
			}
			order, data[item.ID] = append(order, item), string(raw)
		}
		if page = p.Next; page == "" {
			return order, data
		}
	}
}

//pdpp:tier unraced
func TestThreadsAreCompleteAndOrdered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := direct(sample.Config{Seed: rapid.Uint64().Draw(rt, "seed"), Threads: rapid.IntRange(1, 120).Draw(rt, "threads")})
		c.sim.TouchThreads(rapid.IntRange(0, 9).Draw(rt, "touched"))
		size := func() int { return rapid.IntRange(1, 40).Draw(rt, "limit") }
		order, data := c.walk(rt, nil, size, func() {})
		if diff := cmp.Diff(live(c.sim, sample.StreamThreads), data); diff != "" || len(order) != len(data) {
			rt.Fatalf("%d delivered; listed threads differ from what exists:\n%s", len(order), diff)
		}
		for i := 1; i < len(order); i++ {
			a, b := order[i-1], order[i]
			if at, bt := a.time(rt), b.time(rt); at.Before(bt) || at.Equal(bt) && a.ID <= b.ID {
				rt.Fatalf("%+v comes before %+v", a, b)
			}
		}

		// Both bounds are inclusive to the nanosecond.
		newest := rapid.IntRange(0, len(order)-1).Draw(rt, "newest")
		oldest := rapid.IntRange(newest, len(order)-1).Draw(rt, "oldest")
		span := url.Values{"before": {order[newest].UpdatedAt}, "after": {order[oldest].UpdatedAt}}
		var want []listed
		for _, item := range order {
			if at := item.time(rt); !at.After(order[newest].time(rt)) && !at.Before(order[oldest].time(rt)) {
				want = append(want, item)
			}
		}
		got, _ := c.walk(rt, span, size, func() {})
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("span differs:\n%s", diff)
		}
	})
}

// What a walk misses because it moved to the front is found by a second walk
// from where the first one began.
//
//pdpp:tier unraced
func TestThreadsTouchedDuringAWalk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := direct(sample.Config{Seed: rapid.Uint64().Draw(rt, "seed"), Threads: rapid.IntRange(1, 80).Draw(rt, "threads")})
		size := func() int { return rapid.IntRange(1, 15).Draw(rt, "limit") }
		order, stored := c.walk(rt, nil, size, func() {
			c.sim.TouchThreads(rapid.IntRange(0, 3).Draw(rt, "touched"))
			c.sim.AddThreads(rapid.IntRange(0, 2).Draw(rt, "added"))
		})
		_, later := c.walk(rt, url.Values{"after": {order[0].UpdatedAt}}, size, func() {})
		for id, data := range later {
			stored[id] = data
		}
		if diff := cmp.Diff(live(c.sim, sample.StreamThreads), stored); diff != "" {
			rt.Fatalf("stored threads differ from what exists:\n%s", diff)
		}
	})
}

func TestSeededTies(t *testing.T) {
	t.Parallel()
	c := setup(t, sample.Config{Seed: 2, Threads: 60})
	order, _ := c.walk(t, nil, func() int { return 7 }, func() {})
	widest, run, nanosecondApart := 1, 1, false
	for i := 1; i < len(order); i++ {
		gap := order[i-1].time(t).Sub(order[i].time(t))
		if nanosecondApart = nanosecondApart || gap == 1; gap == 0 {
			run++
		} else {
			run = 1
		}
		widest = max(widest, run)
	}
	if widest < 10 || !nanosecondApart {
		t.Errorf("widest tie %d, nanosecond neighbours %v", widest, nanosecondApart)
	}
}

func TestPageTokenIsBoundToItsSpan(t *testing.T) {
	t.Parallel()
	c := setup(t, sample.Config{Seed: 6, Threads: 30})
	const before, after = "2030-01-01T00:00:00Z", "2024-01-01T00:00:00.000000001Z"
	issued := url.Values{"before": {before}, "after": {after}}
	page := c.threads(t, issued, "", 5).Next
	if c.threads(t, issued, page, 9).Next == "" {
		t.Error("another limit ends the walk")
	}
	for _, other := range []url.Values{
		{}, {"before": {before}}, {"after": {after}},
		{"before": {before}, "after": {"2024-01-01T00:00:00.000000002Z"}},
	} {
		other.Set("page", page)
		status, code := c.refusal(t, "GET", "/v1/threads?"+other.Encode(), "Bearer "+c.token)
		if status != 400 || code != "invalid_page" {
			t.Errorf("%v: %d %s", other, status, code)
		}
	}
}

func TestThreadDetail(t *testing.T) {
	t.Parallel()
	c := setup(t, sample.Config{Seed: 7, Threads: 12})
	touched := c.sim.TouchThreads(1)[0]
	order, _ := c.walk(t, nil, func() int { return 5 }, func() {})
	if order[0].ID != touched || !order[0].time(t).Equal(c.sim.Now()) {
		t.Errorf("touched %s at %v, the list begins with %+v", touched, c.sim.Now(), order[0])
	}
	messages := map[string]string{}
	for _, item := range order {
		var detail struct {
			UpdatedAt string `json:"updated_at"`
			Messages  []map[string]any
		}
		c.get(t, "/v1/threads/"+item.ID, nil, &detail)
		if len(detail.Messages) != item.Count || detail.UpdatedAt != item.UpdatedAt {
			t.Errorf("%+v has %d messages in detail, updated %s", item, len(detail.Messages), detail.UpdatedAt)
		}
		if last := detail.Messages[len(detail.Messages)-1]; last["sent_at"] != item.UpdatedAt {
			t.Errorf("last message of %+v sent at %v", item, last["sent_at"])
		}
		for _, m := range detail.Messages {
			m["thread_id"] = item.ID
			messages[m["id"].(string)] = string(providersim.EncodeJSON(m))
		}
	}
	want := map[string]string{}
	for id, item := range c.sim.Truth()[sample.StreamThreadMessages] {
		var m map[string]any
		if err := json.Unmarshal(item.Data, &m); err != nil {
			t.Fatal(err)
		}
		want[id] = string(providersim.EncodeJSON(m))
	}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Errorf("messages differ from what exists:\n%s", diff)
	}

	if err := c.sim.DeleteThread(touched); err != nil {
		t.Fatal(err)
	}
	if status, code := c.refusal(t, "GET", "/v1/threads/"+touched, "Bearer "+c.token); status != 410 || code != "gone" {
		t.Errorf("deleted thread: %d %s", status, code)
	}
	if _, data := c.walk(t, nil, func() int { return 100 }, func() {}); len(data) != 11 || data[touched] != "" {
		t.Errorf("%d threads listed after a deletion", len(data))
	}
	if err := c.sim.DeleteThread(touched); err == nil {
		t.Error("deleted a thread twice")
	}
}
