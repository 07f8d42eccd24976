package routes_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/routes"
	"github.com/pdpp-go/pdpp/internal/view"
)

// Every address that shows a connection shows the same verdict, and those that show
// its health the same health, as they were judged: lists, the connection, its
// explanation and what programs of the owner read.
func TestEveryAddressShowsTheSameVerdict(t *testing.T) {
	t.Attr("spec", "CH-06")
	t.Attr("spec", "CH-21.1")
	type shown struct {
		Verdict json.RawMessage `json:"rendered_verdict"`
		Health  json.RawMessage `json:"connection_health"`
	}
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t, reflect.TypeFor[view.Connection]()).Interface().(view.Connection)
		verdict, health := encoded(t, c.Verdict), encoded(t, c.Health)
		all := view.Overview{Connections: []view.Connection{c}}
		detail := api.Detail{Connection: c}
		for _, q := range []struct {
			target string
			give   any
			in     []string // where in the answer the connection is
		}{
			{"/_ref/connectors", all, []string{"data", "0"}},
			{"/_ref/connections", all, []string{"data", "0"}},
			{"/v1/owner/connections", all, []string{"data", "0"}},
			{"/_ref/connectors/cin_1", detail, nil},
			{"/_ref/connections/cin_1", detail, nil},
			{"/_ref/connections/cin_1/why", view.Explanation{Connection: c}, []string{"connection"}},
			{"/v1/owner/connections/cin_1/diagnostics", detail, nil},
		} {
			if q.target == "/_ref/connectors" && c.ID == "" {
				continue // no connection is before the first
			}
			w := httptest.NewRecorder()
			muxOf(routes.Routes(newFake(fake{give: []any{q.give}}), nil)).ServeHTTP(w, httptest.NewRequest("GET", q.target, nil))
			var got shown
			if err := json.Unmarshal(within(t, w.Body.Bytes(), q.in), &got); err != nil {
				t.Fatal(err)
			}
			if string(got.Verdict) != verdict {
				t.Errorf("%s shows\n%s\nfor\n%s", q.target, got.Verdict, verdict)
			}
			if got.Health != nil && string(got.Health) != health {
				t.Errorf("%s shows\n%s\nfor\n%s", q.target, got.Health, health)
			}
		}
	})
}

func encoded(t *rapid.T, v any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // as every answer is written
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// within returns a part of a response, with its bytes unchanged.
func within(t *rapid.T, answer []byte, path []string) []byte {
	for _, name := range path {
		if name == "0" {
			var list []json.RawMessage
			if err := json.Unmarshal(answer, &list); err != nil || len(list) != 1 {
				t.Fatalf("%v: %s", err, answer)
			}
			answer = list[0]
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(answer, &object); err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		answer = object[name]
	}
	return answer
}
