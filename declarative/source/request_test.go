package source_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRequests has one row for each rule of the format that decides which requests are made.
func TestRequests(t *testing.T) {
	for name, c := range map[string]struct {
		path, retriever, stream string
		settings                map[string]string
		pages                   map[string]page
		requests, records       []string
	}{
		"next address in a Link header": {
			path: "/v1/things",
			retriever: `
paginator:
  type: DefaultPaginator
  page_token_option: {type: RequestPath}
  pagination_strategy:
    type: CursorPagination
    cursor_value: "{{ headers['link']['next']['url'] }}"
    stop_condition: "{{ 'next' not in headers['link'] }}"`,
			pages: map[string]page{
				"GET /v1/things": {body: `[{"id":"a"}]`, header: http.Header{
					"Link": {`<https://shop.example/v1/things?page=2>; rel="next", <https://shop.example/x>; rel="last"`}}},
				"GET /v1/things?page=2": {body: `[{"id":"b"}]`},
			},
			requests: []string{"GET /v1/things", "GET /v1/things?page=2"},
			records:  []string{`{"id":"a"}`, `{"id":"b"}`},
		},
		"token in a header of any case": {
			path: "/v1/things",
			retriever: `
paginator:
  type: DefaultPaginator
  page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}
  pagination_strategy: {type: CursorPagination, cursor_value: "{{ headers['x-NEXT-page'] or headers.get('X-next') }}"}`,
			pages: map[string]page{
				"GET /v1/things":        {body: `[{"id":"a"}]`, header: http.Header{"X-Next-Page": {"2"}}},
				"GET /v1/things?page=2": {body: `[{"id":"b"}]`, header: http.Header{"X-Next": {"3"}}},
				"GET /v1/things?page=3": {body: `[]`},
			},
			requests: []string{"GET /v1/things", "GET /v1/things?page=2", "GET /v1/things?page=3"},
			records:  []string{`{"id":"a"}`, `{"id":"b"}`},
		},
		"answer that is a list": {
			path: "/v1/things",
			retriever: `
paginator:
  type: DefaultPaginator
  page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: before}
  pagination_strategy:
    type: CursorPagination
    cursor_value: "{{ last_record['id'] }}"
    stop_condition: "{{ not response.get('more') }}"`,
			pages: map[string]page{
				"GET /v1/things":          {body: `[{"id":"a","more":true},{},{"id":"b"}]`},
				"GET /v1/things?before=b": {body: `[{"id":"c"}]`},
			},
			requests: []string{"GET /v1/things", "GET /v1/things?before=b"},
			records:  []string{`{"id":"a","more":true}`, `{"id":"b"}`, `{"id":"c"}`},
		},
		"list of values from settings": {
			path: "/v1/{{ stream_partition.colour }}",
			retriever: `
partition_router:
  type: ListPartitionRouter
  values: "{{ config['colours'] }}"
  cursor_field: colour`,
			settings: map[string]string{"COLOURS": `["red","blue"]`},
			pages:    map[string]page{"GET /v1/red": {body: `[{"id":"a"}]`}, "GET /v1/blue": {body: `[]`}},
			requests: []string{"GET /v1/red", "GET /v1/blue"},
			records:  []string{`{"id":"a"}`},
		},
		"path of slashes, and parameters that nothing sets": {
			path:     "\"//v1//{{ parameters.path }}things/\"",
			pages:    map[string]page{"GET /v1/things/": {body: `[{"id":"a"}]`}},
			requests: []string{"GET /v1/things/"},
			records:  []string{`{"id":"a"}`},
		},
		"text of an error in good data": {
			path: `/v1/things
        error_handler:
          type: DefaultErrorHandler
          response_filters: [{type: HttpResponseFilter, action: FAIL, error_message_contains: "429"}]`,
			pages:    map[string]page{"GET /v1/things": {body: `[{"id":"x429"}]`}},
			requests: []string{"GET /v1/things"},
			records:  []string{`{"id":"x429"}`},
		},
		"bounds of the window in a record": {
			path: "/v1/things",
			stream: `
incremental_sync:
  type: DatetimeBasedCursor
  cursor_field: at
  datetime_format: "%Y-%m-%d"
  start_datetime: "2026-03-08"
  start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}
transformations:
  - type: AddFields
    fields: [{path: [until], value: "{{ stream_interval.end_time }}"}]`,
			pages:    map[string]page{"GET /v1/things?from=2026-03-08": {body: `[{"id":"a","at":"2026-03-09"}]`}},
			requests: []string{"GET /v1/things?from=2026-03-08"},
			records:  []string{`{"id":"a","at":"2026-03-09","until":"2026-03-10"}`},
		},
		"address with a partition": {
			path: "https://shop.example/v1/{{ stream_partition.colour }}",
			retriever: `
partition_router: {type: ListPartitionRouter, values: [red], cursor_field: colour}`,
			pages:    map[string]page{"GET /v1/red": {body: `[{"id":"a"}]`}},
			requests: []string{"GET /v1/red"},
			records:  []string{`{"id":"a"}`},
		},
		"list of values without a setting": {
			path: "/v1/{{ stream_partition.colour }}",
			retriever: `
partition_router:
  type: ListPartitionRouter
  values: "{{ config['colours'] }}"
  cursor_field: colour`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := play(t, fileOf(c.path, c.retriever, c.stream), c.settings, c.pages)
			if diff := cmp.Diff(c.requests, got.requests); diff != "" || got.status != "succeeded" {
				t.Errorf("requests: %s %s %s", diff, got.status, got.log)
			}
			if diff := cmp.Diff(c.records, got.records); diff != "" {
				t.Errorf("records: %s", diff)
			}
		})
	}
}
