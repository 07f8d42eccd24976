package source_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/source"
)

// family is a source file with the people of an account, one profile of each, and several notes of each. The children
// come first in the file.
func family() string {
	child := func(name, path, key, pages string) string {
		return `  - type: DeclarativeStream
    name: ` + name + `
    primary_key: ` + key + `
    retriever:
      type: SimpleRetriever
      requester: {type: HttpRequester, url_base: https://shop.example, path: "` + path + `"}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}
      partition_router:
        type: SubstreamPartitionRouter
        parent_stream_configs:
          - {type: ParentStreamConfig, parent_key: id, partition_field: person, stream: "#/definitions/people"}
` + indent(pages, 6) + `    schema_loader:
      {type: InlineSchemaLoader, schema: {type: object, properties: {` + key + `: {}}}}
`
	}
	return `version: 1.0.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [people]}
definitions:
  people:
    type: DeclarativeStream
    name: people
    primary_key: id
    retriever:
      type: SimpleRetriever
      requester: {type: HttpRequester, url_base: https://shop.example, path: /people}
      record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}
    schema_loader: {type: InlineSchemaLoader, schema: {type: object, properties: {id: {type: string}}}}
streams:
` + child("profiles", "/people/{{ stream_partition.person }}", "id", "") +
		child("notes", "/people/{{ stream_partition.person }}/notes", "note", byPageNumber) + `  - "#/definitions/people"
spec: {type: Spec, connection_specification: {type: object, properties: {}}}
`
}

// newRunner returns a runner of a source file and its provider.
func newRunner(t *testing.T, file string, pages map[string]page) (*inprocess.MemoryRunner, *provider) {
	t.Helper()
	d, err := declarative.DescribeFile([]byte(file), describe.Options{Key: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := source.New(d)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{pages: pages}
	r := inprocess.NewMemoryRunner(t, c, map[string]string{})
	r.Transport = p
	return r, p
}

func gapsOf(r *inprocess.MemoryRunner) (out []string) {
	for _, g := range r.Gaps() {
		reason := string(g.Reason)
		if g.Retryable {
			reason = "later" // whether the retries or the circuit came first depends on chance
		}
		out = append(out, fmt.Sprint(g.Stream, " ", reason, " ", string(g.DetailLocator)))
	}
	return out
}

// One record for each parent is a lane: what the provider does not serve is a final gap, and what it fails to serve is
// fetched by a later run. The parent is a stream too, and each run reads it once.
func TestLaneOfParents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := map[string]page{
			"GET /people":   {body: `[{"id":"a"},{"id":"b"},{"id":"c"},{"name":"keyless"}]`},
			"GET /people/a": {body: `{"id":"A"}`}, "GET /people/b": {status: http.StatusNotFound, body: `{}`},
			"GET /people/c": {status: http.StatusBadGateway, body: `{}`},
			"any":           {body: `[]`},
		}
		r, p := newRunner(t, family(), pages)
		r.Try()
		want := []string{
			`profiles not_found {"parent":{"person":"b","parent_slice":{}},"from":""}`,
			`profiles later {"parent":{"person":"c","parent_slice":{}},"from":""}`}
		if diff := cmp.Diff(want, gapsOf(r)); diff != "" {
			t.Errorf("gaps: %s %s", diff, r.Log)
		}
		if diff := cmp.Diff([]string{"A"}, r.Keys("profiles")); diff != "" {
			t.Error(diff)
		}
		if !slices.Contains(r.Skipped, "profiles schema_mismatch") {
			t.Errorf("the parent without a key is not declared: %q", r.Skipped)
		}
		if n := p.count("GET /people"); n != 1 {
			t.Errorf("the parent was read %d times", n)
		}
		pages["GET /people/c"] = page{body: `{"id":"C"}`}
		r.Try()
		if diff := cmp.Diff(want[:1], gapsOf(r)); diff != "" {
			t.Errorf("gaps after the second run: %s %s", diff, r.Log)
		}
		if diff := cmp.Diff([]string{"A", "C"}, r.Keys("profiles")); diff != "" {
			t.Error(diff)
		}
		if n := p.count("GET /people"); n != 2 {
			t.Errorf("the parent was read %d times in two runs", n)
		}
	})
}

// A page that fails is a gap of its parent, and the children of the other parents are collected.
func TestGapOfOneParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := map[string]page{
			"GET /people":   {body: `[{"id":"a"},{"id":"b"},{"id":"c"}]`},
			"GET /people/a": {body: `{"id":"a"}`}, "GET /people/b": {body: `{"id":"b"}`}, "GET /people/c": {body: `{"id":"c"}`},
			"GET /people/a/notes?page=1": {body: `[{"note":"a1"},{"note":"a2"}]`},
			"GET /people/a/notes?page=2": {status: http.StatusBadGateway, body: `{}`},
			"GET /people/b/notes?page=1": {body: `[{"note":"b1"}]`},
			"GET /people/c/notes?page=1": {status: http.StatusNotFound, body: `{}`},
		}
		r, p := newRunner(t, family(), pages)
		r.Try()
		want := []string{`notes later {"parent":{"person":"a","parent_slice":{}},"from":""}`}
		if diff := cmp.Diff(want, gapsOf(r)); diff != "" {
			t.Errorf("gaps: %s %s", diff, r.Log)
		}
		if diff := cmp.Diff([]string{"a1", "a2", "b1"}, r.Keys("notes")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"notes schema_mismatch"}, r.Skipped); diff != "" {
			t.Errorf("the parent that is not served is declared: %s", diff)
		}
		pages["GET /people/a/notes?page=2"] = page{body: `[{"note":"a3"}]`}
		r.Try()
		if diff := cmp.Diff([]string{"a1", "a2", "a3", "b1"}, r.Keys("notes")); diff != "" || len(r.Gaps()) > 0 {
			t.Errorf("%s %v", diff, gapsOf(r))
		}
		if n := p.count("GET /people/a/notes?page=1"); n != 2 {
			t.Errorf("the first page was read %d times in two runs", n)
		}
	})
}

// Without a declared key the member id is the key. A record without one is kept under its digest, and one that would
// replace another of its page is declared.
func TestGuessedKey(t *testing.T) {
	file := strings.Replace(fileOf("/v1/things", "", ""), "    primary_key: id\n", "", 1)
	got := play(t, file, nil, map[string]page{"GET /v1/things": {
		body: `[{"id":"a"},{"id":null,"at":"1"},{"at":"2"},{"id":"b","at":"3"},{"id":"b","at":"4"},{"id":"a"}]`}})
	want := []string{`{"id":"a"}`,
		`{"id":"444512653851f694c5734bc34ef7321871d131f6118d8e0b73c35de1b1ddb09c","at":"1"}`,
		`{"at":"2","id":"6c78d4444ce4e411a9b757153e64a37b7194482eee248f095f9f01c265f08cb1"}`,
		`{"id":"b","at":"3"}`, `{"id":"a"}`}
	if diff := cmp.Diff(want, got.records); diff != "" || got.status != "succeeded" {
		t.Errorf("%s %s", diff, got.log)
	}
	if !strings.Contains(got.lines, `"SKIP_RESULT"`) {
		t.Error("the repeated id is not declared")
	}
}

// A record without a usable value for a declared key is kept under the digest of its content, which marks it. With
// declared types it is declared as skipped.
func TestRecordWithoutItsKey(t *testing.T) {
	const body = `[{"id":"a"},{"id":null,"at":"1"},{"at":"2"},{"id":{"x":1},"at":"3"},{"at":"2"}]`
	file := fileOf("/v1/things", "", "")
	got := play(t, file, nil, map[string]page{"GET /v1/things": {body: body}})
	if len(got.records) != 5 || got.records[0] != `{"id":"a"}` || got.records[4] != got.records[2] ||
		got.status != "succeeded" {
		t.Fatalf("%s: %q\n%s", got.status, got.records, got.log)
	}
	for i, record := range got.records[1:4] {
		var fields map[string]string
		if err := json.Unmarshal([]byte(record), &fields); err != nil || len(fields["id"]) != 64 ||
			fields["id"] != fields[describe.DigestField] || fields["at"] != fmt.Sprint(i+1) ||
			!strings.Contains(got.lines, `"key":"`+fields["id"]+`"`) {
			t.Errorf("%s: %v", record, err)
		}
	}
	if strings.Contains(got.lines, `"SKIP_RESULT"`) {
		t.Errorf("a record that is kept is declared as skipped: %s", got.lines)
	}
	again := play(t, file, nil, map[string]page{"GET /v1/things": {body: body}})
	if diff := cmp.Diff(got.records, again.records); diff != "" {
		t.Errorf("another run makes other keys: %s", diff)
	}
	pair := strings.Replace(file, "primary_key: id", "primary_key: [id, at]", 1)
	got = play(t, pair, nil, map[string]page{"GET /v1/things": {body: `[{"id":"a"}]`}})
	if len(got.records) != 1 || !strings.Contains(got.records[0], `"id":"a","at":"`) {
		t.Errorf("a key of two fields: %q", got.records)
	}
	typed := strings.Replace(file, "type: DeclarativeSource\n", "type: DeclarativeSource\n"+
		"metadata: {pdpp: {typed: true}}\n", 1)
	got = play(t, typed, nil, map[string]page{"GET /v1/things": {body: body}})
	if len(got.records) != 1 || !strings.Contains(got.lines, `"SKIP_RESULT"`) {
		t.Errorf("with declared types: %q", got.records)
	}
}

// Several parents are read at once while the provider is slow, and no more than the file wants.
func TestLanesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for level, want := range map[string]int{
			"": 4, "concurrency_level: {type: ConcurrencyLevel, default_concurrency: 2}\n": 2} {
			people := make([]string, 150)
			pages := map[string]page{"any": {body: `[]`}}
			for i := range people {
				people[i] = fmt.Sprintf(`{"id":"p%d"}`, i)
				pages[fmt.Sprintf("GET /people/p%d", i)] = page{body: people[i]}
				pages[fmt.Sprintf("GET /people/p%d/notes?page=1", i)] = page{body: `[]`}
			}
			pages["GET /people"] = page{body: "[" + strings.Join(people, ",") + "]"}
			r, p := newRunner(t, family()+level, pages)
			r.Env["PDPP_SHOP_PACING_MIN_INTERVAL_MS"], p.delay = "1", 2*time.Second
			r.Run()
			if p.most != want || len(r.Keys("profiles")) != len(people) {
				t.Errorf("%d requests at once, want %d; %d profiles", p.most, want, len(r.Keys("profiles")))
			}
		}
	})
}
