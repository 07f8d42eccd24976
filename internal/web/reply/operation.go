package reply

import "reflect"

// Operation describes a route in the published OpenAPI document. The document is generated from the
// operations of all routes and from the Go types that they name.
type Operation struct {
	Name        string // operationId, unique in the document
	Tag         string // group of the operation
	Summary     string // one sentence without its full stop
	Description string
	Access      Access
	// Query is a struct; its fields with a query tag are the parameters. Nil means none.
	Query reflect.Type
	// Body is the type of the request's body; nil means that only BodyKind describes it.
	Body reflect.Type
	// BodyKind is the media type of the body; empty means JSON where Body is set, and otherwise no body.
	BodyKind     string
	BodyOptional bool
	// OtherBody is a second form of the body; nil means that there is one.
	OtherBody reflect.Type
	// Answers are the successful answers.
	Answers []Answer
}

// Answer is one successful answer of an operation.
type Answer struct {
	Status int
	Body   reflect.Type // nil means that only Kinds describe it, or that there is no body
	Name   string       // name of the schema where Body has none
	Other  reflect.Type // a second form of the body; nil means that there is one
	Kinds  []string     // media types of the body; none means JSON where Body is set
}

// Access is who may call an operation.
type Access string

const (
	AccessOwner  Access = ""       // a session, or an owner token
	AccessAgent  Access = "agent"  // the same; an owner token is usual
	AccessReader Access = "reader" // an owner token, or the token of a grant
	AccessGrant  Access = "grant"  // the token of a grant
	AccessDevice Access = "device" // the token of a device
	AccessEnroll Access = "enroll" // anyone with a code, or a device
	AccessApp    Access = "app"    // anyone; errors have the form of OAuth
	AccessPublic Access = "public" // anyone
)

// Returns describes an answer of JSON.
func Returns[T any](status int) []Answer {
	return []Answer{{Status: status, Body: reflect.TypeFor[T]()}}
}

// Describe sets the operation of each route, by its pattern.
func Describe(routes []Route, operations map[string]Operation) []Route {
	for i := range routes {
		routes[i].Operation = operations[routes[i].Pattern]
	}
	return routes
}
