package source_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/declarative/source"
)

const byPageNumber = `
paginator:
  type: DefaultPaginator
  page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}
  pagination_strategy: {type: PageIncrement, page_size: 2, start_from_page: 1, inject_on_first_request: true}`

// A provider that ignores the number of the page has no last page.
func TestPagesWithoutNewKeys(t *testing.T) {
	got := play(t, fileOf("/v1/things", byPageNumber, ""), nil, map[string]page{
		"any": {body: `[{"id":"a","at":"1"},{"id":"b"}]`}})
	if got.status != "failed" || len(got.requests) != 4 || !strings.Contains(got.log, "no new record") {
		t.Errorf("%s after %d requests: %s", got.status, len(got.requests), got.log)
	}
}

// A page that repeats some records, because the list moved, ends nothing.
func TestPagesThatOverlap(t *testing.T) {
	pages := map[string]page{"GET /v1/things?page=9": {body: `[]`}}
	for i := 1; i < 9; i++ {
		pages[fmt.Sprintf("GET /v1/things?page=%d", i)] = page{body: fmt.Sprintf(`[{"id":"%d"},{"id":"%d"}]`, i, i+1)}
	}
	got := play(t, fileOf("/v1/things", byPageNumber, ""), nil, pages)
	if got.status != "succeeded" || len(got.records) < 9 {
		t.Errorf("%s with %d records: %s", got.status, len(got.records), got.log)
	}
}

// squares is a file with a partition for each pair of colours.
func squares() string {
	return fileOf("/v1/{{ stream_partition.a }}/{{ stream_partition.b }}", `
partition_router:
  - {type: ListPartitionRouter, values: "{{ config['colours'] }}", cursor_field: a}
  - {type: ListPartitionRouter, values: "{{ config['colours'] }}", cursor_field: b}`, "")
}

func colours(n int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf(`"v%02d"`, i)
	}
	return "[" + strings.Join(values, ",") + "]"
}

// More than a million partitions of several routers are refused with the numbers, before the first request.
func TestTooManyPartitions(t *testing.T) {
	got := play(t, squares(), map[string]string{"COLOURS": colours(1001)}, nil)
	if got.status != "failed" || len(got.requests) > 0 || !strings.Contains(got.log, "1001 times 1001 partitions") {
		t.Errorf("%s after %d requests: %s", got.status, len(got.requests), got.log)
	}
}

// Partitions of several routers beyond the bound of a run are one gap. Later runs fill it, each within the bound.
func TestRestOfPartitions(t *testing.T) {
	source.SetMostPartitions(t, 4)
	synctest.Test(t, func(t *testing.T) {
		pages := map[string]page{}
		for a := range 3 {
			for b := range 3 {
				at := fmt.Sprintf("v%02d/v%02d", a, b)
				pages["GET /v1/"+at] = page{body: `[{"id":"` + at + `"}]`}
			}
		}
		r, p := newRunner(t, squares(), pages)
		r.Env["PDPP_SHOP_COLOURS"] = colours(3)
		for run, want := range []struct{ records, gaps int }{{4, 1}, {8, 1}, {9, 1}} {
			before := len(p.all)
			r.Try()
			if got := len(r.Keys("things")); got != want.records || r.Pending() != want.gaps || len(p.all)-before > 8 {
				t.Errorf("run %d: %d records, %d gaps after %d requests: %s", run+1, got, r.Pending(), len(p.all)-before, r.Log)
			}
		}
	})
}

// An answer is read whole up to 64 MiB.
func TestLargeAnswer(t *testing.T) {
	for size, want := range map[int]string{40 << 20: "succeeded", 64<<20 + 1: "failed"} {
		body := `[{"id":"a"}` + strings.Repeat(" ", size-len(`[{"id":"a"}]`)) + `]`
		got := play(t, fileOf("/v1/things", "", ""), nil, map[string]page{"GET /v1/things": {body: body}})
		if got.status != want {
			t.Errorf("%d bytes: %s %s", size, got.status, got.log)
		}
	}
}

// A declared limit bounds the pace: 6 requests a minute are one in more than 10 seconds.
func TestDeclaredLimit(t *testing.T) {
	pages := map[string]page{"GET /v1/things?page=6": {body: `[]`}}
	for i := 1; i < 6; i++ {
		pages[fmt.Sprintf("GET /v1/things?page=%d", i)] = page{body: fmt.Sprintf(`[{"id":"a%d"},{"id":"b%d"}]`, i, i)}
	}
	file := fileOf("/v1/things", byPageNumber, "") + `api_budget:
  type: HTTPAPIBudget
  policies:
    - type: MovingWindowCallRatePolicy
      rates: [{limit: 1000, interval: PT1M}, {limit: "{{ 2 * 3 }}", interval: PT1M}]
      matchers: []
`
	got := play(t, file, nil, pages)
	if got.status != "succeeded" || len(got.times) < 6 {
		t.Fatalf("%s after %d requests: %s", got.status, len(got.times), got.log)
	}
	for i := 2; i < len(got.times); i++ {
		if d := got.times[i].Sub(got.times[i-1]); d < 10*time.Second {
			t.Errorf("request %d was sent %s after the one before", i, d)
		}
	}
}
