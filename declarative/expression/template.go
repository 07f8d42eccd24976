package expression

import (
	"fmt"
	"strings"
	"time"
)

// The bounds of a template.
const (
	MaxLength = 8 << 10 // bytes of source
	MaxSteps  = 20_000  // operations of one evaluation
	MaxResult = 1 << 20 // bytes of a text that an evaluation makes
)

// Variable is an input of a template.
type Variable uint8

// The variables of the language.
const (
	Config Variable = iota
	Parameters
	StreamSlice
	Response
	Headers
	LastRecord
	LastPageSize
	NextPageToken
	Record
	Property     // the value that RemoveFields may remove
	SessionToken // the token of a login request
	variableCount
)

var variableNames = map[string]Variable{"config": Config, "parameters": Parameters, "stream_slice": StreamSlice,
	"stream_partition": StreamSlice, "stream_interval": StreamSlice, "response": Response, "headers": Headers,
	"last_record": LastRecord, "last_page_size": LastPageSize, "next_page_token": NextPageToken, "record": Record,
	"property": Property, "session_token": SessionToken}

// String returns the name of v.
func (v Variable) String() string {
	for name, variable := range variableNames {
		if variable == v && name != "stream_partition" && name != "stream_interval" {
			return name
		}
	}
	return "unknown"
}

// Scope is a set of variables.
type Scope uint16

// ScopeOf returns the set of the variables.
func ScopeOf(variables ...Variable) Scope {
	var s Scope
	for _, v := range variables {
		s |= 1 << v
	}
	return s
}

// Has reports whether v is in s.
func (s Scope) Has(v Variable) bool { return s&(1<<v) != 0 }

// Path is a member of an input that a template reads, such as config.credentials.token.
type Path struct {
	Variable Variable
	Members  []string
}

// String returns the path with points.
func (p Path) String() string {
	return strings.Join(append([]string{p.Variable.String()}, p.Members...), ".")
}

// Context holds the inputs of an evaluation. A variable that is not set is undefined.
type Context struct {
	// Now is the current time for now_utc, today_utc and day_delta.
	Now time.Time
	// Zone returns the location for today_with_timezone. Nil makes that function fail.
	Zone func(name string) (*time.Location, error)
	// NewID returns the text for generate_uuid. Nil makes that function fail.
	NewID func() string

	inputs [variableCount]Value
}

// Set sets a variable.
func (c *Context) Set(v Variable, value Value) { c.inputs[v] = value }

// Get returns a variable.
func (c *Context) Get(v Variable) Value { return c.inputs[v] }

// Reading is which literals a printed text is read back as. A text that is no such literal stays a text.
type Reading uint8

// The readings.
const (
	AnyLiteral Reading = iota
	TextOrList         // for query parameters and form fields: "12" stays a text
	TextOnly           // for their names
	readingCount
)

type fixedValues [readingCount]Value

// Template is a compiled template. It is safe for concurrent use.
type Template struct {
	source string
	parts  []statement
	single node // the whole template is {{ single }}
	slots  int
	uses   Scope
	calls  map[string]bool
	paths  []Path
	fixed  *fixedValues // the values of a text without braces
}

// Compile compiles a template that may use the variables of the scope. The error is a *SyntaxError or *UnknownError.
func Compile(source string, scope Scope) (*Template, error) {
	if len(source) > MaxLength {
		return nil, &SyntaxError{Offset: MaxLength, Message: fmt.Sprintf(
			"the template has %d characters; shorten it to at most %d", len(source), MaxLength)}
	}
	if strings.Contains(source, "stream_state") {
		return nil, &UnknownError{Offset: strings.Index(source, "stream_state"), What: "variable", Name: "stream_state"}
	}
	tokens, err := tokenize(source)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, scope: scope, calls: map[string]bool{}}
	p.openScope()
	parts, _, err := p.statements()
	if err == nil {
		err = p.checkPending()
	}
	if err != nil {
		return nil, err
	}
	t := &Template{source: source, parts: parts, slots: p.slots, uses: p.uses, calls: p.calls, paths: p.paths}
	t.simplify()
	return t, nil
}

// simplify prepares the two commonest shapes: plain text and one expression.
func (t *Template) simplify() {
	if len(t.parts) == 1 {
		if part, ok := t.parts[0].(*printPart); ok {
			t.single = part.of
		}
	}
	text := ""
	for _, part := range t.parts {
		data, ok := part.(*textPart)
		if !ok {
			return
		}
		text += data.text
	}
	t.fixed = &fixedValues{}
	for reading := range t.fixed {
		t.fixed[reading] = Reading(reading).read(text)
	}
}

// Source returns the text of the template.
func (t *Template) Source() string { return t.source }

// Uses returns the variables that the template reads.
func (t *Template) Uses() Scope { return t.uses }

// Paths returns the members of the inputs that the template reads, as far as their names are literal.
func (t *Template) Paths() []Path { return t.paths }

// Calls reports whether the template calls a function. A filter has its name with a leading |.
func (t *Template) Calls(name string) bool { return t.calls[name] }

// IsFixed reports whether the template has no braces, and therefore always the same value.
func (t *Template) IsFixed() bool { return t.fixed != nil }

// Value evaluates the template as a single member of a component: the printed text is read back as a literal. An
// operation on a wrong kind results in the text of the template itself, as in the original interpreter.
func (t *Template) Value(c *Context) (Value, error) {
	v, err := t.evaluate(c, AnyLiteral)
	if err == nil && v.kind == Undefined {
		return StringValue(""), nil
	}
	return v, err
}

// Entry evaluates the template as a value in a map, such as a query parameter. The difference to Value is that an empty
// or undefined result is null.
func (t *Template) Entry(c *Context) (Value, error) { return t.EntryAs(c, AnyLiteral) }

// EntryAs evaluates the template as Entry does, with another reading.
func (t *Template) EntryAs(c *Context, r Reading) (Value, error) {
	v, err := t.evaluate(c, r)
	if err != nil && classOf(err) == undefinedClass || err == nil && v.kind == Undefined {
		return None, nil
	}
	return v, err
}

// Bool evaluates the template as a condition. Only false, zero, and empty lists, objects and texts are false, and the
// texts that print them. A null is true, as in the original interpreter.
func (t *Template) Bool(c *Context) (bool, error) {
	v, err := t.evaluate(c, AnyLiteral)
	if err != nil {
		if classOf(err) == undefinedClass {
			return false, nil
		}
		return false, err
	}
	return conditionHolds(v), nil
}

func conditionHolds(v Value) bool {
	switch v.kind {
	case Undefined:
		return false
	case String:
		switch v.text {
		case "", "False", "false", "{}", "[]", "()", "0", "0.0":
			return false
		}
		return true
	case Null:
		return true
	}
	return v.truth()
}

// Text evaluates the template as Value does and prints the result.
func (t *Template) Text(c *Context) (string, error) {
	v, err := t.Value(c)
	if err != nil {
		return "", err
	}
	return Print(v), nil
}

// evaluate returns the value of the template, or Undefined if its text is empty.
func (t *Template) evaluate(c *Context, r Reading) (Value, error) {
	if t.fixed != nil {
		return t.fixed[r], nil
	}
	f := newFrame(c, t.slots)
	v, err := t.render(f, r)
	f.release()
	if err == nil {
		return v, nil
	}
	switch classOf(err) {
	case typeClass:
		return r.read(t.source), nil
	case undefinedClass:
		return Value{}, &failure{undefinedClass, "evaluate " + abbreviate(t.source) + ": " + err.Error()}
	case boundClass:
		return Value{}, &failure{boundClass, "evaluate " + abbreviate(t.source) + ": " + err.Error()}
	}
	return Value{}, fmt.Errorf("evaluate %s: %w", abbreviate(t.source), err)
}

func (t *Template) render(f *frame, r Reading) (Value, error) {
	if t.single != nil {
		v, err := t.single.eval(f)
		if err != nil {
			return Value{}, err
		}
		if v.kind != String && r.accepts(v) && survives(v) {
			return v, nil
		}
		text, err := f.text(v)
		if err != nil {
			return Value{}, err
		}
		return r.read(text), nil
	}
	if err := runAll(t.parts, f); err != nil {
		return Value{}, err
	}
	return r.read(string(f.out)), nil
}

// survives reports whether v comes back unchanged when it is printed and read as a literal.
func survives(v Value) bool {
	switch v.kind {
	case Null, Bool, Int:
		return true
	case Float:
		f := v.float()
		return f-f == 0
	case Array:
		l := v.ref.(*list)
		if l.form > tuple {
			return false
		}
		for _, item := range l.items {
			if item.kind != String && !survives(item) {
				return false
			}
		}
		return true
	case Object:
		m := v.ref.(*members)
		m.expand()
		for _, item := range m.values {
			if item.kind != String && !survives(item) {
				return false
			}
		}
		return true
	}
	return false
}

// read returns the value of a printed text: its literal, the text itself, or Undefined if it is empty.
func (r Reading) read(text string) Value {
	if text == "" {
		return Value{}
	}
	if v, ok := readLiteral(text); ok && r.accepts(v) {
		return v
	}
	return StringValue(text)
}

// accepts reports whether a literal is one that the reading keeps.
func (r Reading) accepts(v Value) bool {
	switch r {
	case TextOnly:
		return v.kind == String
	case TextOrList:
		return v.kind == String || v.kind == Array && v.ref.(*list).form == plainList
	}
	return true
}

func abbreviate(source string) string {
	const most = 60
	if runes := []rune(source); len(runes) > most {
		source = string(runes[:most]) + "..."
	}
	return fmt.Sprintf("%q", source)
}
