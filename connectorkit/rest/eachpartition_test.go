package rest_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

// rooms answers for rooms: /rooms/N with one item, which has the number of the room as its id.
type rooms struct {
	asked   []string // the requests of the run
	missing string   // the room that cannot be read
}

func (r *rooms) RoundTrip(q *http.Request) (*http.Response, error) {
	r.asked = append(r.asked, strings.TrimPrefix(q.URL.RequestURI(), "/rooms/"))
	out := &http.Response{StatusCode: http.StatusOK, Request: q,
		Header: http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}}
	name := strings.TrimPrefix(q.URL.Path, "/rooms/")
	body := fmt.Sprintf(`[{"id":%q,"at":%q}]`, name, time.Now().UTC().Add(-time.Hour).Format(time.DateOnly))
	if name == r.missing {
		out.StatusCode, body = http.StatusBadGateway, "{}"
	}
	out.Body = io.NopCloser(strings.NewReader(body))
	return out, nil
}

// newRooms returns a runner of a source with so many rooms, which each run reads one by one.
func newRooms(t *testing.T, count *int, sync rest.EachPartition) (*inprocess.MemoryRunner, *rooms) {
	t.Helper()
	sync.Parts = func(context.Context, *rest.Run) iter.Seq2[rest.Partition, error] {
		return func(yield func(rest.Partition, error) bool) {
			for i := range *count {
				id := fmt.Sprintf("r%05d", i)
				if !yield(rest.Partition{ID: id, Values: map[string]string{"room": id}}, nil) {
					return
				}
			}
		}
	}
	c := rest.MustNew([]byte(`{"protocol_version": "0.1.0", "connector_id": "hotel", "version": "1.0.0",
		"display_name": "Hotel", "runtime_requirements": {"bindings": {"network": {"required": true}}},
		"streams": [{"name": "guests", "semantics": "mutable_state", "checkpoint": "slice", "primary_key": "id",
			"consent_time_field": "at", "schema": {"type": "object", "required": ["id"], "properties": {
				"id": {"type": "string"}, "at": {"type": "string"}}}}]}`),
		rest.Source{BaseURL: "https://hotel.example",
			Streams: []rest.Stream{{Name: "guests", Request: rest.Request{Path: "rooms/{room}"}, Sync: sync}}})
	r := inprocess.NewMemoryRunner(t, c, map[string]string{
		"PDPP_HOTEL_PACING_INITIAL_INTERVAL_MS": "0.1", "PDPP_HOTEL_PACING_MIN_INTERVAL_MS": "0.1"})
	provider := &rooms{}
	r.Transport = provider
	return r, provider
}

// What exceeds the bound is one gap, which the next run fills before it reads the rest again.
func TestBoundOfPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		count := 12
		r, provider := newRooms(t, &count, rest.EachPartition{Most: 5})
		for run, want := range []struct{ asked, records, gaps int }{{5, 5, 1}, {10, 10, 1}, {7, 12, 1}} {
			provider.asked = nil
			r.Try()
			if len(provider.asked) != want.asked || len(r.Keys("guests")) != want.records || r.Pending() != want.gaps {
				t.Errorf("run %d asked for %q and has %d records with the gaps %+v: %s", run+1, provider.asked,
					len(r.Keys("guests")), r.Gaps(), r.Log)
			}
		}
	})
}

// The bookmark holds a time for each partition, and beyond a number of them one for all, which a gap does not lose.
func TestTimesOfPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		windows := &rest.DateWindows{From: "from", Layout: time.DateOnly, Since: "1999-01-01", FollowItems: true,
			KeepMissing: true, Again: 1}
		count := 40
		r, provider := newRooms(t, &count, rest.EachPartition{Windows: windows, Times: 40})
		r.Run()
		if mark := r.Bookmark("guests"); strings.Contains(mark, `"since"`) || !strings.Contains(mark, `r00039`) ||
			provider.asked[0] != "r00000?from=1999-01-01" {
			t.Errorf("asked for %s; bookmark %.200s", provider.asked[0], mark)
		}
		count++
		provider.asked, provider.missing = nil, "r00007"
		r.Try()
		if mark := r.Bookmark("guests"); !strings.Contains(mark, `"since":"1999-12-3`) || strings.Contains(mark, "r00001") {
			t.Errorf("bookmark %.200s", mark)
		}
		if !slices.Contains(r.Skipped, "guests one_date_for_all_parts") || r.Pending() != 1 {
			t.Errorf("declared %q and %d gaps", r.Skipped, r.Pending())
		}
		provider.asked, provider.missing = nil, ""
		r.Try()
		if first := provider.asked[0]; !strings.HasPrefix(first, "r00007?from=1999-12-3") || r.Pending() != 0 ||
			len(provider.asked) != count {
			t.Errorf("%d requests, the first for %s, and %d gaps", len(provider.asked), first, r.Pending())
		}
	})
}
