// Package openapi builds the OpenAPI document from routes, from the Go types that they name, and from
// the comments of those types. It reads the source, so that it serves go generate and tests only.
package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// Head is what the document has besides its operations and types.
type Head struct {
	Title, Description string
	Tags               [][2]string                  // name and description, in their order
	Schemes            map[string]map[string]string // of security
	Parameters         map[string]string
	Errors             map[reply.Access]Schema // answers that are not a success
	// Names are the schemas that are not named as their types, by package and type.
	Names map[string]string
	// Closed are the text types that have no values but their constants, by package and type.
	Closed []string
}

// Schema is a type with the name and the description of its answer.
type Schema struct {
	Name, Description string
	Type              reflect.Type
}

// Object is a JSON object that keeps the order of its members.
type Object []Member

// Member is one of them.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON writes the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		encoded, err := marshal(m.Value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%q:%s", m.Name, encoded)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}

func (o *Object) add(name string, value any) { *o = append(*o, Member{name, value}) }

// Build returns the document as indented JSON. Root is the folder of the module.
func Build(root string, head Head, routes []reply.Route) ([]byte, error) {
	b := &builder{head: head, source: newSource(root), named: map[key]string{}, schemas: map[string]Object{}}
	paths := map[string]Object{}
	for _, asks := range []bool{false, true} { // the types of answers get the plain names
		for _, route := range routes {
			b.visit(route.Operation, asks)
		}
		for _, e := range head.Errors {
			b.schemaOf(e.Type, false)
		}
	}
	for _, route := range routes {
		method, path, _ := strings.Cut(strings.ReplaceAll(route.Pattern, "...}", "}"), " ")
		item := paths[path]
		item.add(strings.ToLower(method), b.operation(path, route.Operation))
		paths[path] = item
	}
	b.resolve()
	var tags []Object
	for _, tag := range head.Tags {
		tags = append(tags, Object{{"name", tag[0]}, {"description", tag[1]}})
	}
	document := Object{
		{"openapi", "3.1.1"},
		{"info", Object{{"title", head.Title}, {"version", "1"}, {"description", head.Description}}},
		{"security", security[reply.AccessOwner]},
		{"tags", tags}, {"paths", paths},
		{"components", Object{
			{"securitySchemes", head.Schemes}, {"parameters", b.parameters(paths)},
			{"responses", b.errors()}, {"schemas", b.schemas},
		}},
	}
	raw, err := marshal(document)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	indent(&out, raw, "")
	out.WriteByte('\n')
	return out.Bytes(), joined(b.problems)
}

// widest is the longest line of a value that is written on one line.
const widest = 116

// indent writes compact JSON with a member or an element on each line, unless all of it fits on one.
func indent(out *bytes.Buffer, raw []byte, margin string) {
	if len(margin)+len(raw) <= widest || raw[0] != '{' && raw[0] != '[' {
		out.Write(raw)
		return
	}
	out.WriteByte(raw[0])
	for start, depth, quoted, i := 1, 0, false, 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case depth == 0 && (c == ',' || i == len(raw)-1):
			out.WriteString("\n" + margin + "  ")
			indentMember(out, raw[start:i], margin+"  ")
			if c == ',' {
				out.WriteByte(',')
			}
			start = i + 1
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	out.WriteString("\n" + margin)
	out.WriteByte(raw[len(raw)-1])
}

// indentMember writes an element, or a name and its value.
func indentMember(out *bytes.Buffer, raw []byte, margin string) {
	if name := memberName.Find(raw); name != nil {
		out.Write(name)
		out.WriteByte(' ')
		raw = raw[len(name):]
	}
	indent(out, raw, margin)
}

var memberName = regexp.MustCompile(`^"(?:[^"\\\\]|\\\\.)*":`)

func joined(problems []string) error {
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}

var security = map[reply.Access][]map[string][]string{
	reply.AccessOwner:  {{"session": {}}, {"owner": {}}},
	reply.AccessAgent:  {{"owner": {}}, {"session": {}}},
	reply.AccessReader: {{"owner": {}}, {"grant": {}}},
	reply.AccessGrant:  {{"grant": {}}},
	reply.AccessDevice: {{"device": {}}},
	reply.AccessEnroll: {{}, {"device": {}}},
	reply.AccessApp:    {},
	reply.AccessPublic: {},
}

// visit names the types of an operation.
func (b *builder) visit(o reply.Operation, asks bool) {
	if asks {
		b.schemaOf(o.Body, true)
		b.schemaOf(o.OtherBody, true)
		return
	}
	for _, answer := range o.Answers {
		b.schemaOf(answer.Body, false)
		b.schemaOf(answer.Other, false)
	}
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

func (b *builder) operation(path string, o reply.Operation) Object {
	out := Object{{"operationId", o.Name}, {"summary", o.Summary}, {"tags", []string{o.Tag}}}
	if o.Description != "" {
		out.add("description", o.Description)
	}
	if o.Access != reply.AccessOwner {
		out.add("security", security[o.Access])
	}
	var parameters []Object
	for _, m := range pathParameter.FindAllStringSubmatch(path, -1) {
		parameters = append(parameters, Object{{"$ref", "#/components/parameters/" + parameterName(m[1])}})
	}
	if parameters = append(parameters, b.queryParameters(o.Query)...); len(parameters) > 0 {
		out.add("parameters", parameters)
	}
	switch {
	case o.BodyKind != "" && o.Body == nil:
		out.add("requestBody", Object{{"required", true}, {"content", Object{{o.BodyKind, Object{}}}}})
	case o.Body != nil:
		kind := o.BodyKind
		if kind == "" {
			kind = "application/json"
		}
		schema := b.either(b.schemaOf(o.Body, true), b.schemaOf(o.OtherBody, true))
		content := Object{{kind, Object{{"schema", schema}}}}
		out.add("requestBody", Object{{"required", !o.BodyOptional}, {"content", content}})
	}
	out.add("responses", b.answers(o))
	return out
}

func componentName(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// parameterName differs from the names of schemas: generators put both into one space of names.
func parameterName(name string) string { return componentName(name) + "Parameter" }

// either returns a schema for two forms of one value.
func (b *builder) either(one, other Object) Object {
	if other == nil {
		return one
	}
	return Object{{"anyOf", []Object{one, other}}}
}

var statusWords = map[int]string{
	http.StatusOK: "Done.", http.StatusCreated: "Created.", http.StatusAccepted: "Accepted.",
	http.StatusNoContent: "Done.", http.StatusPartialContent: "Part of the file.",
	http.StatusSeeOther: "Continue there.", http.StatusServiceUnavailable: "Not ready.",
}

func (b *builder) answers(o reply.Operation) Object {
	var out Object
	answers := slices.Clone(o.Answers)
	slices.SortFunc(answers, func(x, y reply.Answer) int { return x.Status - y.Status })
	for _, answer := range answers {
		described := Object{{"description", statusWords[answer.Status]}}
		var content Object
		if answer.Body != nil {
			schema := b.either(b.answerSchema(answer), b.schemaOf(answer.Other, false))
			content.add("application/json", Object{{"schema", schema}})
		}
		for _, kind := range answer.Kinds {
			schema := Object{}
			if kind != "application/octet-stream" {
				schema.add("schema", Object{{"type", "string"}})
			}
			content.add(kind, schema)
		}
		if content != nil {
			described.add("content", content)
		}
		out.add(fmt.Sprint(answer.Status), described)
	}
	if e, ok := b.head.Errors[o.Access]; ok {
		out.add("default", Object{{"$ref", "#/components/responses/" + e.Name}})
	}
	return out
}

// answerSchema returns the schema of an answer. One without a Go type has the name of its row.
func (b *builder) answerSchema(answer reply.Answer) Object {
	schema := b.schemaOf(answer.Body, false)
	if answer.Name == "" {
		return schema
	}
	b.schemas[answer.Name] = schema
	return reference(answer.Name)
}

func (b *builder) errors() map[string]Object {
	out := map[string]Object{}
	for _, e := range b.head.Errors {
		header := Object{{"Request-Id", Object{{"description", "The name of the request, in the log too."},
			{"schema", Object{{"type", "string"}}}}}}
		content := Object{{"application/json", Object{{"schema", b.schemaOf(e.Type, false)}}}}
		out[e.Name] = Object{{"description", e.Description}, {"headers", header}, {"content", content}}
	}
	return out
}

// parameters describes the parameters of paths.
func (b *builder) parameters(paths map[string]Object) map[string]Object {
	out := map[string]Object{}
	for path := range paths {
		for _, m := range pathParameter.FindAllStringSubmatch(path, -1) {
			described := Object{{"name", m[1]}, {"in", "path"}, {"required", true}}
			if text := b.head.Parameters[m[1]]; text != "" {
				described.add("description", text)
			}
			described.add("schema", Object{{"type", "string"}})
			out[parameterName(m[1])] = described
		}
	}
	return out
}

// queryParameters describes the fields of a struct with a query or a header tag.
func (b *builder) queryParameters(query reflect.Type) []Object {
	var out []Object
	if query == nil {
		return nil
	}
	seen := map[string]bool{}
	for i := range query.NumField() {
		field := query.Field(i)
		if field.Anonymous {
			out = append(out, b.queryParameters(field.Type)...)
			continue
		}
		place, text := "query", field.Tag.Get("query")
		if text == "" {
			text, _, _ = strings.Cut(field.Tag.Get("json"), ",")
		}
		if header := field.Tag.Get("header"); header != "" {
			place, text = "header", header
		}
		name, words, _ := strings.Cut(text, ",")
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		described := Object{{"name", name}, {"in", place}}
		if field.Tag.Get("required") == "true" {
			described.add("required", true)
		}
		if text := b.source.fieldText(query, field); text != "" {
			described.add("description", text)
		}
		if field.Type.Kind() == reflect.Map { // filter[field]=value
			described.add("style", "deepObject")
			described.add("explode", true)
		}
		described.add("schema", b.parameterSchema(field, words))
		out = append(out, described)
	}
	return out
}

func (b *builder) parameterSchema(field reflect.StructField, words string) Object {
	schema := Object{{"type", "string"}}
	switch kind := field.Type.Kind(); {
	case kind == reflect.Bool && words == "":
		schema = Object{{"type", "boolean"}}
	case words != "":
		schema.add("enum", strings.Split(words, ","))
	case field.Tag.Get("enum") != "":
		schema.add("enum", strings.Split(field.Tag.Get("enum"), ","))
	case kind == reflect.Int || kind == reflect.Int64:
		schema = Object{{"type", "integer"}, {"minimum", number(field.Tag.Get("minimum"), "0")}}
		if most := field.Tag.Get("maximum"); most != "" {
			schema.add("maximum", number(most, ""))
		}
	case kind == reflect.Map:
		schema = Object{{"type", "object"}, {"additionalProperties", Object{{"type", "string"}}}}
	case field.Type == timePointer:
		schema.add("format", "date-time")
	}
	return schema
}

func number(text, otherwise string) json.Number {
	if text == "" {
		text = otherwise
	}
	return json.Number(text)
}
