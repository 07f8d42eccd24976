package server_test

import (
	"bytes"
	"flag"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pdpp-go/pdpp/internal/deviceapi"
	"github.com/pdpp-go/pdpp/internal/owner/routes"
	"github.com/pdpp-go/pdpp/internal/quality/openapi"
	"github.com/pdpp-go/pdpp/internal/share/oauth"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/share/triggers"
	"github.com/pdpp-go/pdpp/internal/share/webhooks"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/server"
)

// document is the description as the server gives it.
func document(t *testing.T) map[string]any {
	t.Helper()
	w := httptest.NewRecorder()
	server.OpenAPI().Handle(w, httptest.NewRequest("GET", "/openapi.json", nil))
	doc, err := jsonschema.UnmarshalJSON(w.Body)
	if err != nil {
		t.Fatalf("read the document: %v", err)
	}
	return doc.(map[string]any)
}

// member walks into nested objects.
func member(t *testing.T, doc map[string]any, path ...string) map[string]any {
	t.Helper()
	for _, name := range path {
		next, ok := doc[name].(map[string]any)
		if !ok {
			t.Fatalf("there is no %q in %v", name, path)
		}
		doc = next
	}
	return doc
}

// servedRoutes are the routes of every surface that answers programs.
func servedRoutes() []reply.Route {
	return slices.Concat(routes.Routes(nil, nil), deviceapi.Routes(deviceapi.Config{}), readapi.Routes(readapi.Config{}),
		oauth.Routes(oauth.Config{}), triggers.Routes(triggers.Config{}),
		(&webhooks.Subscriptions{Read: readapi.New(readapi.Config{})}).Routes(), server.Routes(server.Config{}),
		[]reply.Route{server.OpenAPI()})
}

var update = flag.Bool("update", false, "write openapi.json anew")

// The document that is served is what the routes and the types of today make of it.
func TestDocumentIsCurrent(t *testing.T) {
	want, err := openapi.Build("../../..", head, servedRoutes())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("openapi.json"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("openapi.json is not what go generate ./internal/web/server writes (%v)", err)
	}
}

// Every route has an operation, and every operation a route.
func TestDocumentIsTheRoutes(t *testing.T) {
	var served []string
	for _, r := range servedRoutes() {
		served = append(served, strings.ReplaceAll(r.Pattern, "...}", "}"))
	}
	var described []string
	for path, item := range member(t, document(t), "paths") {
		for method := range item.(map[string]any) {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	for _, route := range served {
		if !slices.Contains(described, route) {
			t.Errorf("%s is not described", route)
		}
	}
	for _, operation := range described {
		if !slices.Contains(served, operation) {
			t.Errorf("%s is described and not served", operation)
		}
	}
}

var inBraces = regexp.MustCompile(`\{(\w+)\}`)

// Operations have names of their own, and exactly the parameters of their address.
func TestOperationsAreWhole(t *testing.T) {
	doc := document(t)
	names := map[string]bool{}
	for path, item := range member(t, doc, "paths") {
		for method, value := range item.(map[string]any) {
			operation := value.(map[string]any)
			name, _ := operation["operationId"].(string)
			if name == "" || names[name] {
				t.Errorf("%s %s: the name %q is missing or taken", method, path, name)
			}
			names[name] = true
			var want, got []string
			for _, m := range inBraces.FindAllStringSubmatch(path, -1) {
				want = append(want, m[1])
			}
			parameters, _ := operation["parameters"].([]any)
			for _, p := range parameters {
				parameter := resolved(t, doc, p.(map[string]any))
				if parameter["in"] == "path" {
					got = append(got, parameter["name"].(string))
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(want, got) {
				t.Errorf("%s %s: parameters of the address are %v", method, path, got)
			}
		}
	}
}

func resolved(t *testing.T, doc, value map[string]any) map[string]any {
	t.Helper()
	ref, is := value["$ref"].(string)
	if !is {
		return value
	}
	rest, local := strings.CutPrefix(ref, "#/")
	if !local {
		t.Fatalf("%s leads out of the document", ref)
	}
	return member(t, doc, strings.Split(rest, "/")...)
}

// Every reference leads somewhere, every part is referred to, and every schema is one.
func TestReferencesResolve(t *testing.T) {
	doc := document(t)
	used := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, is := v["$ref"].(string); is {
				used[ref] = true
				resolved(t, doc, v)
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(doc)
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"schemas", "parameters", "responses"} {
		for name := range member(t, doc, "components", kind) {
			if ref := "#/components/" + kind + "/" + name; !used[ref] {
				t.Errorf("nothing refers to %s", ref)
			}
			if kind == "schemas" {
				if _, err := compiler.Compile("openapi.json#/components/schemas/" + name); err != nil {
					t.Errorf("%s is no schema: %v", name, err)
				}
			}
		}
	}
}

// Code generators support one type of a member besides null, and put schemas and parameters into one space
// of names.
func TestDocumentSuitsGenerators(t *testing.T) {
	doc := document(t)
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			types, _ := v["type"].([]any)
			null := func(one any) bool { return one == "null" }
			if types = slices.DeleteFunc(slices.Clone(types), null); len(types) > 1 {
				t.Errorf("%s has the types %v", path, types)
			}
			for name, inner := range v {
				walk(path+"/"+name, inner)
			}
		case []any:
			for _, inner := range v {
				walk(path, inner)
			}
		}
	}
	walk("", doc["components"])
	walk("", doc["paths"])
	for name := range member(t, doc, "components", "parameters") {
		if member(t, doc, "components", "schemas")[name] != nil {
			t.Errorf("%s is a schema and a parameter", name)
		}
	}
}
