package document

import (
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// Template is a member that may contain a template. The zero Template is an absent member.
type Template struct {
	*expression.Template
}

// IsSet reports whether the document has the member.
func (t Template) IsSet() bool { return t.Template != nil }

// Input is a value that a request sends: a template, a value without templates, a list or an object.
type Input struct {
	Template Template
	Literal  *Node   // a scalar that is not a text
	List     []Input // of a list
	Entries  Entries // of an object
	IsList   bool
	IsObject bool
}

// Entry is a member of an Input. Its name may be a template.
type Entry struct {
	Name  Template
	Value Input
}

// Entries are the members of an object.
type Entries []Entry

// Inputs are request options: an object, or one text as a whole.
type Inputs struct {
	Text    Template
	Entries Entries
}

// IsSet reports whether there is anything to send.
func (i Inputs) IsSet() bool { return i.Text.IsSet() || len(i.Entries) > 0 }

// settings are the variables that every template may use.
var settings = expression.ScopeOf(expression.Config, expression.Parameters)

// scopes are the variables that templates may use, by the place of their member.
var scopes = map[string]expression.Scope{
	"setup":   settings,
	"login":   settings | expression.ScopeOf(expression.SessionToken),
	"request": settings | expression.ScopeOf(expression.StreamSlice, expression.NextPageToken),
	"paging": settings | expression.ScopeOf(expression.Response, expression.Headers, expression.LastRecord,
		expression.LastPageSize),
	"answer":   settings | expression.ScopeOf(expression.Response, expression.Headers),
	"record":   settings | expression.ScopeOf(expression.Record, expression.StreamSlice, expression.NextPageToken),
	"property": settings | expression.ScopeOf(expression.Property),
}
