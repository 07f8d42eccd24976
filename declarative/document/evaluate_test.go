package document_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// The expected texts were verified with the original interpreter.
func TestInputs(t *testing.T) {
	doc, err := document.Parse([]byte(`
definitions:
  inputs:
    code: "007"
    number: "12"
    plain: "{{ config.count }}"
    list: "{{ config.numbers }}"
    null: "{{ config.nothing }}"
    missing: "{{ config.missing.deep }}"
    empty: "{{ config.empty }}"
    none: "None"
    list_text: "['a', 'b']"
    tuple: "1,2"
    quoted: "'x'"
    "{{ config.name }}": key
    "12": number key
    "'k'": quoted key
    fixed: 7
    flag: true
    nil: null
    nested:
      deep: "{{ config.count }}"
      gone: "{{ config.nothing }}"
      kept: [null, "{{ config.nothing }}", "{{ config.count }}"]
    items: ["{{ config.name }}", 1]
    float: "1.50"
streams:
- name: a
  retriever:
    record_selector: {extractor: {field_path: []}}
    requester:
      url_base: https://a.example.test
      request_parameters: "#/definitions/inputs"
      request_body_json: "#/definitions/inputs"
      request_body_data: "a={{ config.count }}"
`))
	if err != nil || len(doc.Streams) != 1 {
		t.Fatal(err, doc)
	}
	config, err := expression.ParseJSON([]byte(`{"count":7,"numbers":[1,2],"nothing":null,"empty":"","name":"ada"}`))
	if err != nil {
		t.Fatal(err)
	}
	c := &expression.Context{}
	c.Set(expression.Config, config)
	r := doc.Streams[0].Retriever.Requester
	const (
		flat = `'nested': {'deep': '{{ config.count }}', 'gone': '{{ config.nothing }}', ` +
			`'kept': [None, '{{ config.nothing }}', '{{ config.count }}']}, 'items': ['{{ config.name }}', 1], `
		read = `{'code': '007', 'number': 12, 'plain': 7, 'list': [1, 2], 'list_text': ['a', 'b'], 'tuple': (1, 2), ` +
			`'quoted': 'x', 'ada': 'key', '12': 'number key', 'k': 'quoted key', 'fixed': 7, 'flag': True, `
	)
	for name, row := range map[string]struct {
		evaluate func(*expression.Context) (expression.Value, error)
		want     string
	}{
		"options": {r.Query.Options, `{'code': '007', 'number': '12', 'plain': '7', 'list': [1, 2], 'null': 'None', ` +
			`'none': 'None', 'list_text': ['a', 'b'], 'tuple': '1,2', 'quoted': 'x', 'ada': 'key', '12': 'number key', ` +
			`'k': 'quoted key', 'fixed': 7, 'flag': True, ` + flat + `'float': '1.50'}`},
		"headers": {r.Query.Headers, read + flat + `'float': 1.5}`},
		"json": {r.BodyJSON.JSON, read +
			`'nested': {'deep': 7, 'kept': [None, None, 7]}, 'items': ['ada', 1], 'float': 1.5}`},
		"text": {r.BodyData.Options, `'a=7'`},
	} {
		v, err := row.evaluate(c)
		if got := expression.Literal(v); err != nil || got != row.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, row.want)
		}
	}
}
