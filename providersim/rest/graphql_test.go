package rest_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// A query gets the members that it selects, and is refused for what the schema does not have.
func TestAnswerQuery(t *testing.T) {
	t.Parallel()
	s := rest.New(rest.Options{Token: "t"})
	root := rest.Object{"me": rest.Object{"id": 1, "name": "Noor", "boss": nil},
		"lamps": rest.Connection(func(a url.Values) (rest.Object, rest.Answer) {
			return rest.Object{"nodes": []rest.Object{{"id": 7, "on": true}}, "asked": a.Encode()}, rest.Answer{}
		})}
	for query, want := range map[string]string{
		`{me{id boss{id}}}`: `{"data":{"me":{"boss":null,"id":1}}}`,
		`query Q($after:String!){lamps(first:2,after:$after,filter:{on:{eq:true}}){asked nodes{on}}}`: `{"data":{"lamps":` +
			`{"asked":"after=x\u0026filter=%7B+on+%3A+%7B+eq+%3A+true+%7D+%7D\u0026first=2","nodes":[{"on":true}]}}}`,
		`{me{id{x}}}`:       ``,
		`{me}`:              ``,
		`{me{age}}`:         ``,
		`{me{id}`:           ``,
		`{lamps(first:2`:    ``,
		`{lamps{nodes{x}}}`: ``,
	} {
		body, err := json.Marshal(rest.Object{"query": query, "variables": rest.Object{"after": "x"}})
		if err != nil {
			t.Fatal(err)
		}
		a := s.AnswerQuery(httptest.NewRequest("POST", "/", strings.NewReader(string(body))), root)
		got, err := json.Marshal(a.Body)
		if err != nil || (want == "") != (a.Status == 400) || want != "" && string(got) != want {
			t.Errorf("%s: %d %s, want %s", query, a.Status, got, want)
		}
	}
}
