package expression

import "regexp"

// node is a compiled expression.
type node interface {
	eval(f *frame) (Value, error)
}

// statement is a compiled part of a template: text, an expression to print, or a statement.
type statement interface {
	run(f *frame) error
}

type (
	// constant is a literal.
	constant struct{ value Value }
	// input is a variable of the Context.
	input struct{ variable Variable }
	// local is a variable that the template set.
	local struct{ slot int }
	// member is a.name or a['name'].
	member struct {
		of    node
		name  string
		index bool // a['name']: the member comes before a method of that name
		plain bool // objects have no method of that name
	}
	// element is a[key] with a key that is computed.
	element struct{ of, key node }
	// slice is a[from:to:step].
	slice struct{ of, from, to, step node }
	// listLiteral is [a, b] or (a, b).
	listLiteral struct {
		items []node
		form  form
	}
	// objectLiteral is {a: b}.
	objectLiteral struct{ keys, values []node }
	// conditional is a if b else c.
	conditional struct{ test, then, otherwise node }
	// logical is a and b, or a or b.
	logical struct {
		left, right node
		or          bool
	}
	// negation is not a.
	negation struct{ of node }
	// comparison is a < b <= c.
	comparison struct {
		first     node
		operators []string
		operands  []node
	}
	// arithmetic is a + b and the like.
	arithmetic struct {
		operator    string
		left, right node
	}
	// sign is -a or +a.
	sign struct {
		of    node
		minus bool
	}
	// concatenation is a ~ b.
	concatenation struct{ parts []node }
	// functionCall is a call of a function in the table.
	functionCall struct {
		name string
		call *function
		args arguments
	}
	// methodCall is a call of anything else: of.name(...).
	methodCall struct {
		of   node
		args arguments
	}
	// filterCall is a | name(...).
	filterCall struct {
		of   node
		name string
		call *filter
		args arguments
	}
	// testCall is a is name(...).
	testCall struct {
		of   node
		call *test
		args arguments
	}
)

// arguments are the arguments of a call.
type arguments struct {
	positional []node
	names      []string
	named      []node
	filter     *filter // the filter that map applies
	test       *test   // the test that select and its relatives apply
	regexp     *regexp.Regexp
}

// call holds evaluated arguments.
type call struct {
	frame *frame
	args  []Value
	names []string
	named []Value

	filter *filter
	test   *test
	regexp *regexp.Regexp
}

// argument returns the positional argument i or the one with the name.
func (c *call) argument(i int, name string) (Value, bool) {
	if i >= 0 && i < len(c.args) {
		return c.args[i], true
	}
	for k, n := range c.names {
		if n == name {
			return c.named[k], true
		}
	}
	return Value{}, false
}

// evaluate returns the values of the arguments. The caller ends the call with endCall, also after an error.
func (a *arguments) evaluate(f *frame) (*call, error) {
	c := f.newCall()
	c.frame, c.names, c.filter, c.test, c.regexp = f, a.names, a.filter, a.test, a.regexp
	for _, n := range a.positional {
		v, err := n.eval(f)
		if err != nil {
			return c, err
		}
		c.args = append(c.args, v)
	}
	for _, n := range a.named {
		v, err := n.eval(f)
		if err != nil {
			return c, err
		}
		c.named = append(c.named, v)
	}
	return c, nil
}

type (
	// textPart is text outside of braces.
	textPart struct{ text string }
	// printPart is {{ expression }}.
	printPart struct{ of node }
	// ifPart is an if with its elifs and else.
	ifPart struct {
		tests  []node
		bodies [][]statement // one for each test, and one more for else
	}
	// setPart is {% set a = b %}, or {% set a %}text{% endset %}.
	setPart struct {
		targets []target
		of      node
		body    []statement
	}
	// forPart is a loop.
	forPart struct {
		targets   []int
		over      node
		filter    node
		body      []statement
		otherwise []statement
		loop      int         // slot of loop, or -1
		resets    map[int]int // slots set in the body, and the outer slot that they start with, or -1
	}
)

// target is what a set statement changes: a slot, or a member of a namespace.
type target struct {
	slot   int
	member string
}
