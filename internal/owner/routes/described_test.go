package routes_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pdpp-go/pdpp/internal/web/server"
)

// description is the OpenAPI document, made strict: an answer may have no member that
// is not described.
type description struct {
	doc      map[string]any
	compiler *jsonschema.Compiler
	mu       sync.Mutex // of the compiler
}

var described = sync.OnceValues(func() (*description, error) {
	w := httptest.NewRecorder()
	server.OpenAPI().Handle(w, httptest.NewRequest("GET", "/openapi.json", nil))
	doc, err := jsonschema.UnmarshalJSON(w.Body)
	if err != nil {
		return nil, err
	}
	d := &description{doc: doc.(map[string]any), compiler: jsonschema.NewCompiler()}
	closeObjects(doc)
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource("openapi.json", doc)
})

func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		_, has := v["properties"].(map[string]any)
		if _, reported := v["additionalProperties"]; has && !reported && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range v {
			closeObjects(inner)
		}
	}
}

// operationOf finds where a route is described.
func (d *description) operationOf(pattern string) (map[string]any, string, error) {
	method, path, _ := strings.Cut(strings.ReplaceAll(pattern, "...}", "}"), " ")
	item, _ := d.doc["paths"].(map[string]any)[path].(map[string]any)
	operation, ok := item[strings.ToLower(method)].(map[string]any)
	if !ok {
		return nil, "", fmt.Errorf("%s is not described", pattern)
	}
	at := "openapi.json#/paths/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path) + "/" +
		strings.ToLower(method)
	return operation, at, nil
}

// checkBody holds a body against the schema at a place.
func (d *description) checkBody(place string, body []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, err := d.compiler.Compile(place)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// checked looks at every exchange: the request and its answer are as described.
type checked struct {
	t       failer
	handler *http.ServeMux
}

func (c checked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, err := described()
	if err != nil {
		c.t.Errorf("read the document: %v", err)
		return
	}
	_, pattern := c.handler.Handler(r)
	operation, place, err := d.operationOf(pattern)
	if err != nil {
		c.t.Errorf("%v", err)
		return
	}
	sent, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(sent))
	body, takes := operation["requestBody"].(map[string]any)
	if optional := takes && body["required"] == false; takes != (len(sent) > 0) && !(optional && len(sent) == 0) {
		c.t.Errorf("%s: sent %d bytes, described otherwise", pattern, len(sent))
	}
	if len(sent) > 0 && r.Header.Get("Content-Type") == "application/json" {
		if err := d.checkBody(place+"/requestBody/content/application~1json/schema", sent); err != nil {
			c.t.Errorf("%s: request: %v\n%s", pattern, err, sent)
		}
	}
	recorded := httptest.NewRecorder()
	c.handler.ServeHTTP(recorded, r)
	if err := d.checkAnswer(operation, place, recorded); err != nil {
		c.t.Errorf("%s: answer: %v\n%s", pattern, err, recorded.Body)
	}
	for name, values := range recorded.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(recorded.Body.Bytes())
}

func (d *description) checkAnswer(operation map[string]any, place string, got *httptest.ResponseRecorder) error {
	responses := operation["responses"].(map[string]any)
	if got.Code >= 400 {
		other, _ := responses["default"].(map[string]any)
		ref, _ := other["$ref"].(string) // the answers to errors are named as their schemas
		return d.checkBody("openapi.json"+strings.Replace(ref, "/responses/", "/schemas/", 1), got.Body.Bytes())
	}
	status := strconv.Itoa(got.Code)
	answer, ok := responses[status].(map[string]any)
	if !ok {
		return fmt.Errorf("the status %s is not described", status)
	}
	content, _ := answer["content"].(map[string]any)
	kind, _, _ := strings.Cut(got.Header().Get("Content-Type"), ";")
	switch {
	case kind == "" && content == nil && got.Body.Len() == 0:
		return nil
	case content[kind] == nil:
		return fmt.Errorf("the type %q is not described", kind)
	case kind != "application/json":
		return nil
	}
	return d.checkBody(place+"/responses/"+status+"/content/application~1json/schema", got.Body.Bytes())
}

// An answer that has one member more, or one less, is noticed.
func TestDescriptionIsStrict(t *testing.T) {
	d, err := described()
	if err != nil {
		t.Fatal(err)
	}
	const place = "openapi.json#/components/schemas/Pill"
	for body, ok := range map[string]bool{
		`{"tone":"green","label":"Healthy"}`:           true,
		`{"tone":"green"}`:                             false,
		`{"tone":"blue","label":"Healthy"}`:            false,
		`{"tone":"green","label":"Healthy","extra":1}`: false,
	} {
		if err := d.checkBody(place, []byte(body)); (err == nil) != ok {
			t.Errorf("%s: %v", body, err)
		}
	}
}
