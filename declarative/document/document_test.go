package document_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

func library(tb testing.TB) *document.Document {
	tb.Helper()
	text, err := os.ReadFile("testdata/library.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	doc, err := document.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

func TestStreamsAreResolved(t *testing.T) {
	doc := library(t)
	if len(doc.Streams) != 2 || doc.Streams[0].Name != "books" || doc.Streams[1].Name != "loans" {
		t.Fatalf("streams %v, problems %v", doc.Streams, doc.Problems)
	}
	books, loans := doc.Streams[0], doc.Streams[1]
	requester := books.Retriever.Requester
	if got := requester.Path.Source(); got != "{{ parameters['path'] }}" {
		t.Errorf("path %q", got)
	}
	c := &expression.Context{}
	c.Set(expression.Parameters, requester.Parameters)
	if got, err := requester.Path.Text(c); got != "/books" || err != nil {
		t.Errorf("path %q, %v", got, err)
	}
	if got := loans.Retriever.Requester.Path.Source(); got != "/books/{{ stream_partition.book_id }}/loans" {
		t.Errorf("the parameter path fills the absent member: got %q", got)
	}
	if _, ok := requester.Authenticator.(*document.Bearer); !ok {
		t.Errorf("authenticator %T", requester.Authenticator)
	}
	handlers := requester.ErrorHandler.(*document.CompositeHandler).Handlers
	filters := handlers[0].(*document.ErrorHandler).Filters
	if filters[0].Codes[0] != 404 || filters[0].Action != "IGNORE" || !filters[1].Predicate.IsSet() {
		t.Errorf("filters %+v", filters)
	}
	pages := books.Retriever.Paginator.(*document.Paginator)
	if pages.Strategy.(*document.PageIncrement).StartFromPage != 1 || pages.SizeOption.InjectInto != "request_parameter" {
		t.Errorf("pages %+v", pages)
	}
	parent := loans.Retriever.PartitionRouters[0].(*document.SubstreamRouter).Parents[0]
	if parent.Stream.Name != "books" || parent.Partition.Source() != "book_id" {
		t.Errorf("parent %+v", parent)
	}
	if diff := cmp.Diff(document.PrimaryKey{{"id"}, {"copy", "number"}}, loans.PrimaryKey); diff != "" {
		t.Error(diff)
	}
	cursor := loans.IncrementalSync
	if cursor.Start.Datetime.Source() != "{{ config['start_date'] }}" || cursor.Step.Source() != "P1M" {
		t.Errorf("cursor %+v", cursor)
	}
	nested := loans.Retriever.Requester.Query.Entries[1].Value
	if !nested.IsObject || nested.Entries[1].Value.Literal.Text != "7" || !nested.Entries[2].Value.IsList {
		t.Errorf("nested input %+v", nested)
	}
	if doc.Metadata.Path("pdpp", "display_name").String() != "Library" || doc.Version != "1.2.3" {
		t.Errorf("metadata %+v, version %s", doc.Metadata, doc.Version)
	}
}

func TestUnsupportedPartsDisableTheirStream(t *testing.T) {
	doc := library(t)
	got := map[string]string{}
	for _, d := range doc.Disabled {
		got[d.Name] = d.Problem.Path + " " + d.Component
		if d.Problem.Fix == "" {
			t.Errorf("%s: no fix", d.Name)
		}
	}
	want := map[string]string{
		"exports": "streams[2].retriever AsyncRetriever",
		"python":  "streams[3].retriever.record_selector.extractor CustomRecordExtractor",
		"typo":    "streams[4].retriever.requester.path function unknown",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, p := range doc.Problems {
		if p.Path == "streams[4].retriever.requester.colour" {
			if p.Level != document.Warning {
				t.Errorf("an unknown member has level %d, want a warning", p.Level)
			}
			return
		}
	}
	t.Errorf("no warning about the unknown member: %v", doc.Problems)
}

// tree parses a manifest with the stream and returns its resolved form.
func tree(t *testing.T, stream string) *document.Node {
	t.Helper()
	doc, err := document.Parse([]byte("streams:\n- " + strings.ReplaceAll(strings.TrimSpace(stream), "\n", "\n  ") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Resolved.Member("streams").Items[0]
}

func TestParameters(t *testing.T) {
	n := tree(t, `
$parameters: {name: from_parameters, empty: "", retriever: {ignored: 1}, url_base: base, list: [{type: A}]}
primary_key: ""
retriever:
  requester: {path: own, url_base: ""}
  paginator: {type: NoPagination, $parameters: {url_base: inner}}
  record_selector:
    extractor: {field_path: []}
    schema: {type: object, $parameters: {x: 1}, properties: {url_base: {type: string}}}
  plain: {url_base: ""}
  nested: {inside: {type: Thing}}
`)
	for path, want := range map[string]string{
		"name":                                     "from_parameters", // an absent member is filled
		"retriever.type":                           "SimpleRetriever", // the default type
		"retriever.requester.type":                 "HttpRequester",
		"retriever.requester.url_base":             "base", // a falsy member is filled
		"retriever.requester.path":                 "own",  // others are kept
		"retriever.requester.name":                 "from_parameters",
		"retriever.paginator.url_base":             "inner", // the inner parameter wins
		"retriever.record_selector.schema.name":    "",      // schemas are not entered
		"retriever.plain.url_base":                 "",      // an object without a type is not a component
		"retriever.nested.inside.url_base":         "base",  // but a component inside of it is
		"retriever.ignored":                        "",      // a parameter is not passed to the member of its name
		"retriever.requester.retriever.ignored":    "",
		"retriever.requester.$parameters.list":     "",
		"retriever.paginator.$parameters.name":     "from_parameters",
		"retriever.record_selector.extractor.type": "DpathExtractor",
	} {
		if got := n.Path(strings.Split(path, ".")...).String(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if n.Path("retriever", "requester", "$parameters", "retriever") != nil {
		t.Error("the parameter retriever is passed into the member retriever")
	}
}

func TestReferences(t *testing.T) {
	doc, err := document.Parse([]byte(`
definitions:
  a: {name: x, list: [{name: first}, {name: second}], other/name: slash}
  chain: "#/definitions/a"
streams:
- $ref: "#/definitions/chain"
  own: "#/definitions/a/list/1/name"
  slash: "#/definitions/a/other/name"
  name: y
  config_overrides: {pointer: "#/not/resolved"}
`))
	if err != nil {
		t.Fatal(err)
	}
	n := doc.Resolved.Member("streams").Items[0]
	for name, want := range map[string]string{"name": "y", "own": "second", "slash": "slash"} {
		if got := n.Member(name).String(); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := n.Path("config_overrides", "pointer").String(); got != "#/not/resolved" {
		t.Errorf("a setting was resolved: %q", got)
	}
}

func TestWholeFileProblems(t *testing.T) {
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	many := strings.Repeat("- {name: a}\n", document.MaxStreams+1)
	wide := "definitions:\n  a: [" + strings.Repeat("x,", 2000) + "]\n"
	for i := range 6 {
		wide += fmt.Sprintf("  b%d: [%s]\n", i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("'#/definitions/%s',",
			map[bool]string{true: "a", false: fmt.Sprintf("b%d", i-1)}[i == 0]), 10), ","))
	}
	components := "streams:\n- name: a\n  retriever:\n    record_selector: {extractor: {field_path: []}}\n" +
		"    requester:\n      error_handler:\n        response_filters: [" +
		strings.Repeat("{type: HttpResponseFilter},", 50_001) + "]\n"
	for name, row := range map[string]struct{ text, want string }{
		"size":            {"a: " + strings.Repeat("x", document.MaxFile), "bytes, more than"},
		"yaml":            {"a: [", "not valid YAML"},
		"empty":           {"", "is empty"},
		"list":            {"- a", "is a list"},
		"no streams":      {"version: 1", "streams is missing"},
		"streams":         {"streams: {a: 1}", "streams is an object"},
		"many streams":    {"streams:\n" + many, "501 streams, more than 500"},
		"depth":           {"streams: " + deep, "nested more than 64"},
		"tag":             {"streams: !python/object:os.system [a]", "has the tag"},
		"duplicate":       {"streams: []\nstreams: []", "twice"},
		"inner duplicate": {"streams:\n- {name: a, name: b}", "line 2 has the member \"name\" twice"},
		"absent target":   {"streams: ['#/definitions/no']", "#/definitions/no, which does not exist"},
		"circle":          {"definitions: {a: {b: '#/definitions/a'}}\nstreams: ['#/definitions/a']", "back to itself"},
		"growing":         {wide + "streams: ['#/definitions/b5']", "grows to more than"},
		"aliases": {"a: &a [" + strings.Repeat("x,", 1000) + "]\nb: &b [" + strings.Repeat("*a,", 100) + "]\nc: &c [" +
			strings.Repeat("*b,", 100) + "]\nstreams: [*c]", "grows to more than"},
		"components": {components, "more than 50000 components"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := document.Parse([]byte(row.text))
			var problems document.Problems
			if !errors.As(err, &problems) || !strings.Contains(problems.Error(), row.want) {
				t.Fatalf("got %.300v, want a problem with %q", err, row.want)
			}
			for _, p := range problems {
				if p.Path == "" || p.Fix == "" {
					t.Errorf("problem without path or fix: %+v", p)
				}
			}
		})
	}
}

func TestStreamProblems(t *testing.T) {
	const selector = "record_selector: {extractor: {field_path: [a]}}"
	nested := "{name: p0, retriever: {requester: {url_base: a}, " + selector + "}}"
	for i := range 8 {
		nested = fmt.Sprintf("{name: p%d, retriever: {requester: {url_base: a}, %s, partition_router: {type: "+
			"SubstreamPartitionRouter, parent_stream_configs: [{parent_key: id, partition_field: x, stream: %s}]}}}",
			i+1, selector, nested)
	}
	for name, row := range map[string]struct{ stream, want string }{
		"method": {"{name: a, retriever: {requester: {url_base: a, http_method: DELETE}, " + selector + "}}",
			`requester.http_method is "DELETE". Write one of GET, POST.`},
		"need":   {"{name: a, retriever: {requester: {url_base: a}}}", "retriever has no member record_selector. Add"},
		"scope":  {"{name: a, retriever: {requester: {url_base: '{{ record.a }}'}, " + selector + "}}", "has no value here"},
		"syntax": {"{name: a, retriever: {requester: {url_base: '{{ 1 + }}'}, " + selector + "}}", "Correct the template."},
		"list": {"{name: a, retriever: {requester: {url_base: [1]}, " + selector + "}}",
			"url_base is a list. Write a text."},
		"decoder": {"{name: a, retriever: {requester: {url_base: a}, decoder: {type: XmlDecoder}, " + selector + "}}",
			"retriever.decoder uses XmlDecoder, which is not supported"},
		"lazy": {"{name: a, retriever: {requester: {url_base: a}, " + selector + ", partition_router: {type: " +
			"SubstreamPartitionRouter, parent_stream_configs: [{parent_key: id, partition_field: x, lazy_read_pointer: [a]," +
			" stream: {name: b, retriever: {requester: {url_base: a}, " + selector + "}}}]}}}", "lazy_read_pointer"},
		"conditional": {"{type: ConditionalStreams, condition: x, streams: [{name: a}]}", "uses ConditionalStreams"},
		"parents":     {nested, "more than 6 parents"},
		"name":        {"{retriever: {requester: {url_base: a}, " + selector + "}}", "has no name"},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := document.Parse([]byte("streams:\n- " + row.stream + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if len(doc.Streams) != 0 || len(doc.Disabled) != 1 {
				t.Fatalf("%d usable and %d disabled streams, want 0 and 1", len(doc.Streams), len(doc.Disabled))
			}
			if got := doc.Disabled[0].Problem.Error(); !strings.Contains(got, row.want) {
				t.Errorf("got %q, want %q in it", got, row.want)
			}
		})
	}
}

func TestUnsupportedChoiceLeavesTheOthers(t *testing.T) {
	doc, err := document.Parse([]byte(`
streams:
- name: a
  retriever:
    record_selector: {extractor: {field_path: []}}
    requester:
      url_base: https://a.example.test
      authenticator:
        type: SelectiveAuthenticator
        authenticator_selection_path: [credentials, kind]
        authenticators:
          token: {type: BearerAuthenticator, api_token: "{{ config.token }}"}
          signed: {type: CustomAuthenticator, class_name: a}
`))
	if err != nil || len(doc.Streams) != 1 {
		t.Fatalf("%v, %+v", err, doc)
	}
	s := doc.Streams[0].Retriever.Requester.Authenticator.(*document.Selective)
	if s.Authenticators["token"] == nil || s.Authenticators["signed"] != nil || s.Unsupported["signed"] == "" {
		t.Errorf("%+v", s)
	}
}

func TestYAML(t *testing.T) {
	n := tree(t, "{name: a, yes: yes, off: off, date: 2024-01-31, exp: 1e5, float: 1.50, int: 0x1f, big: "+
		"123456789012345678901, null: ~, quoted: 'yes', merged: {<<: {x: 1, y: 2}, y: 3}}")
	got := string(n.AppendJSON(nil))
	want := `{"name":"a","yes":true,"off":false,"date":"2024-01-31","exp":"1e5","float":1.5,"int":31,` +
		`"big":123456789012345678901,"null":null,"quoted":"yes","merged":{"y":3,"x":1},"type":"DeclarativeStream"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("testdata/library.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("streams: [{name: a, $ref: '#/definitions/a'}]\ndefinitions: {a: &a {b: [1, 2.5, ~]}, c: *a}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := document.Parse(text)
		if (doc == nil) != (err != nil) {
			t.Errorf("document %v, error %v", doc, err)
		}
	})
}
