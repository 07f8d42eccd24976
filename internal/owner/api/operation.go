package api

import (
	"context"
	"net/http"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// Operation is one row of the operation table: a method of Owner and its route. The server's
// routes, the methods of Client, the audit trail and the OpenAPI document are derived from it.
//
// The parameters of the route's path are the first arguments of the method, in their order. At
// most one argument follows. It is the query of a GET, and otherwise the JSON body.
type Operation struct {
	Call    any    // the method, as in Owner.Why
	Route   string // a pattern of http.ServeMux, with its method
	Scope   reply.Scope
	Name    string // operationId
	Tag     string
	Summary string
	Notes   string // more than the summary
	// Status of success. Zero means 200, or 204 for a method that returns nothing but an error.
	Status int
	// Argument names an argument that is not a struct, in the query or in the body. ArgumentNote
	// describes it, and ArgumentMost is its largest value.
	Argument, ArgumentNote, ArgumentMost string
	// Results names the results of a method that does not return one struct or one list.
	Results string
	// Page means that the answer has the members of a struct after "object": "list". The first list of
	// the struct is called "data".
	Page bool
	// Schema names the schema of an answer that has no Go type of its own.
	Schema string
	// Accepted is the "object" of an answer to a request that is carried out later.
	Accepted string
	// NoQuery rejects every query parameter. Other operations without a query ignore them.
	NoQuery bool
	// Kinds are the media types of an answer that is a file.
	Kinds []string
	// Audit is the kind of the audit entry; empty means that there is none. Setting is the name of
	// what a setting_change changes.
	Audit, Setting string

	shape
}

// shape is what the signature of the method and the route determine.
type shape struct {
	method     string   // name of the method
	verb       string   // of HTTP
	segments   []string // of the path; those of parameters begin with a brace
	parameters int      // how many segments are parameters
	query      reflect.Type
	body       reflect.Type // nil for none
	content    bool         // the body is a file
	results    []reflect.Type
	answer     reflect.Type // nil for none
}

// Accepted is the answer to a request that is carried out later.
type Accepted struct {
	Object       string `json:"object" enum:"run_request,run_cancel_request,run_interaction_ack"`
	ConnectionID string `json:"connection_id,omitempty"`
	RunID        string `json:"run_id,omitempty"`
	QuestionID   string `json:"interaction_id,omitempty"`
	Status       string `json:"status" enum:"accepted"`
}

// Operations returns the operation table. The first row of a method is the one that Client uses.
var Operations = sync.OnceValue(func() []*Operation {
	var all []*Operation
	for _, family := range [][]Operation{
		connectionOperations, fileOperations, runOperations, deviceOperations, recordOperations, grantOperations,
		houseOperations, peopleOperations, semanticOperations, webhookOperations,
	} {
		for i := range family {
			family[i].shape = family[i].derive()
			all = append(all, &family[i])
		}
	}
	return all
})

var operationsByMethod = sync.OnceValue(func() map[string]*Operation {
	rows := map[string]*Operation{}
	for _, o := range Operations() {
		if rows[o.method] == nil {
			rows[o.method] = o
		}
	}
	return rows
})

// OperationOf returns the row of a method of Owner.
func OperationOf(method string) *Operation { return operationsByMethod()[method] }

// Method returns the name of the method.
func (o *Operation) Method() string { return o.method }

var pathParameter = regexp.MustCompile(`^\{\w+(\.\.\.)?\}$`)

func (o *Operation) derive() shape {
	call := reflect.TypeOf(o.Call)
	name := runtime.FuncForPC(reflect.ValueOf(o.Call).Pointer()).Name()
	var s shape
	s.method = name[strings.LastIndexByte(name, '.')+1:]
	verb, path, _ := strings.Cut(o.Route, " ")
	s.verb, s.segments = verb, strings.Split(strings.TrimPrefix(path, "/"), "/")
	for _, segment := range s.segments {
		if pathParameter.MatchString(segment) {
			s.parameters++
		}
	}
	var arguments []reflect.Type
	for i := 2; i < call.NumIn(); i++ { // after the owner and the context
		if call.In(i) != writerType {
			arguments = append(arguments, call.In(i))
		}
	}
	for _, last := range arguments[s.parameters:] {
		s.addArgument(last, o)
	}
	if o.NoQuery {
		s.query = reflect.TypeFor[struct{}]()
	}
	for i := range call.NumOut() - 1 {
		s.results = append(s.results, call.Out(i))
	}
	s.answer = o.answerType(s.results)
	return s
}

func (s *shape) addArgument(typ reflect.Type, o *Operation) {
	if o.Argument != "" {
		typ = structOf(member{o.Argument, typ, o.ArgumentNote, o.ArgumentMost})
	}
	_, s.content = typ.FieldByName("Content")
	if s.content || s.verb == http.MethodGet {
		s.query = typ
	} else {
		s.body = typ
	}
}

func (o *Operation) answerType(results []reflect.Type) reflect.Type {
	switch {
	case o.Accepted != "":
		return reflect.TypeFor[Accepted]()
	case len(results) == 0:
		return nil
	case o.Results != "":
		var members []member
		for i, name := range strings.Fields(o.Results) {
			members = append(members, member{name: name, typ: results[i]})
		}
		return structOf(members...)
	case o.Page:
		return pageOf(results[0])
	case results[0].Kind() == reflect.Slice:
		return structOf(listObject, member{name: "data", typ: results[0]})
	}
	return results[0]
}

// Describe describes the operation for the OpenAPI document.
func (o *Operation) Describe() reply.Operation {
	d := reply.Operation{Name: o.Name, Tag: o.Tag, Summary: o.Summary, Description: o.Notes, Query: o.query, Body: o.body}
	if o.content {
		d.BodyKind = "application/octet-stream"
	}
	if o.Tag == "agents" {
		d.Access = reply.AccessAgent
	}
	d.Answers = []reply.Answer{{Status: o.status(), Body: o.answer, Name: o.Schema, Kinds: o.Kinds}}
	return d
}

func (o *Operation) status() int {
	switch {
	case o.Status != 0:
		return o.Status
	case o.answer == nil && o.Kinds == nil:
		return http.StatusNoContent
	}
	return http.StatusOK
}

// Invoke calls the method of an owner. The arguments follow the context; each result is a pointer.
func (o *Operation) Invoke(ctx context.Context, owner Owner, arguments []any, results ...any) error {
	in := []reflect.Value{reflect.ValueOf(owner), reflect.ValueOf(ctx)}
	for _, argument := range arguments {
		in = append(in, reflect.ValueOf(argument))
	}
	out := reflect.ValueOf(o.Call).Call(in)
	for i := range results {
		reflect.ValueOf(results[i]).Elem().Set(out[i])
	}
	err, _ := out[len(out)-1].Interface().(error)
	return err
}

// newResults returns a pointer for each result.
func (o *Operation) newResults() []any {
	var all []any
	for _, typ := range o.results {
		all = append(all, reflect.New(typ).Interface())
	}
	return all
}
