package expression

import (
	"fmt"
	"slices"
)

// maxNesting is the greatest depth of brackets and blocks.
const maxNesting = 100

// parser builds the parts of a template from its tokens.
type parser struct {
	tokens []token
	at     int
	scope  Scope
	depth  int
	locals *localScope
	slots  int
	uses   Scope
	calls  map[string]bool
	paths  []Path

	pending []pendingName
}

// localScope holds the names that a template set. A loop has a scope of its own.
type localScope struct {
	outer  *localScope
	names  map[string]int
	resets map[int]int
	branch *localBranch
}

// localBranch is an if inside a scope. Names that its bodies set first are not known after it.
type localBranch struct{ outer *localBranch }

func (s *localScope) find(name string) (int, bool) {
	for ; s != nil; s = s.outer {
		if slot, ok := s.names[name]; ok {
			return slot, true
		}
	}
	return 0, false
}

func (p *parser) current() token { return p.tokens[p.at] }

func (p *parser) look() token { return p.tokens[min(p.at+1, len(p.tokens)-1)] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if p.at < len(p.tokens)-1 {
		p.at++
	}
	return t
}

func (p *parser) skip(kind tokenKind, text string) bool {
	if p.current().is(kind, text) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(kind tokenKind, text string) error {
	if !p.skip(kind, text) {
		return p.errorf("expected %q, found %s", text, p.current())
	}
	return nil
}

func (p *parser) errorf(format string, args ...any) error {
	return &SyntaxError{Offset: p.current().at, Message: fmt.Sprintf(format, args...)}
}

func (p *parser) enter() error {
	p.depth++
	if p.depth > maxNesting {
		return p.errorf("the template is nested more than %d deep", maxNesting)
	}
	return nil
}

// condition parses an expression.
func (p *parser) condition() (node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	then, err := p.or()
	if err != nil {
		return nil, err
	}
	for p.skip(nameToken, "if") {
		test, err := p.or()
		if err != nil {
			return nil, err
		}
		c := &conditional{test: test, then: then}
		if p.skip(nameToken, "else") {
			if c.otherwise, err = p.condition(); err != nil {
				return nil, err
			}
		}
		then = c
	}
	return then, nil
}

func (p *parser) or() (node, error) {
	left, err := p.and()
	for err == nil && p.skip(nameToken, "or") {
		var right node
		if right, err = p.and(); err == nil {
			left = &logical{left, right, true}
		}
	}
	return left, err
}

func (p *parser) and() (node, error) {
	left, err := p.not()
	for err == nil && p.skip(nameToken, "and") {
		var right node
		if right, err = p.not(); err == nil {
			left = &logical{left, right, false}
		}
	}
	return left, err
}

func (p *parser) not() (node, error) {
	if !p.skip(nameToken, "not") {
		return p.compare()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	of, err := p.not()
	return &negation{of}, err
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (p *parser) compare() (node, error) {
	first, err := p.sum()
	if err != nil {
		return nil, err
	}
	c := &comparison{first: first}
	for {
		t := p.current()
		operator := t.text
		switch {
		case t.kind == operatorToken && slices.Contains(comparisons, t.text), t.is(nameToken, "in"):
			p.next()
		case t.is(nameToken, "not") && p.look().is(nameToken, "in"):
			p.next()
			p.next()
			operator = "not in"
		default:
			if len(c.operators) == 0 {
				return first, nil
			}
			return c, nil
		}
		operand, err := p.sum()
		if err != nil {
			return nil, err
		}
		c.operators, c.operands = append(c.operators, operator), append(c.operands, operand)
	}
}

func (p *parser) sum() (node, error) { return p.binary([]string{"+", "-"}, p.concat) }

func (p *parser) concat() (node, error) {
	first, err := p.product()
	if err != nil || !p.current().is(operatorToken, "~") {
		return first, err
	}
	c := &concatenation{parts: []node{first}}
	for p.skip(operatorToken, "~") {
		part, err := p.product()
		if err != nil {
			return nil, err
		}
		c.parts = append(c.parts, part)
	}
	return c, nil
}

func (p *parser) product() (node, error) { return p.binary([]string{"*", "/", "//", "%"}, p.power) }

func (p *parser) power() (node, error) {
	return p.binary([]string{"**"}, func() (node, error) { return p.unary(true) })
}

func (p *parser) binary(operators []string, operand func() (node, error)) (node, error) {
	left, err := operand()
	for err == nil && p.current().kind == operatorToken && slices.Contains(operators, p.current().text) {
		operator := p.next().text
		var right node
		if right, err = operand(); err == nil {
			left = &arithmetic{operator, left, right}
		}
	}
	return left, err
}

func (p *parser) unary(filters bool) (n node, err error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	t := p.current()
	if t.is(operatorToken, "-") || t.is(operatorToken, "+") {
		p.next()
		if n, err = p.unary(false); err != nil {
			return nil, err
		}
		n = &sign{n, t.text == "-"}
	} else if n, err = p.primary(); err != nil {
		return nil, err
	}
	if n, err = p.postfix(n); err != nil || !filters {
		return n, err
	}
	return p.filters(n)
}

func (p *parser) primary() (node, error) {
	t := p.current()
	switch t.kind {
	case nameToken:
		return p.name()
	case stringToken:
		text := p.next().text
		for p.current().kind == stringToken {
			text += p.next().text
		}
		return &constant{StringValue(text)}, nil
	case intToken, floatToken:
		return &constant{p.next().value}, nil
	case operatorToken:
		switch t.text {
		case "(":
			p.next()
			n, err := p.tuple(true)
			if err != nil {
				return nil, err
			}
			return n, p.expect(operatorToken, ")")
		case "[":
			p.next()
			items, err := p.sequence("]")
			return &listLiteral{items, plainList}, err
		case "{":
			return p.object()
		}
	}
	return nil, p.errorf("unexpected %s; an expression is expected here", t)
}

var keywords = map[string]Value{"true": BoolValue(true), "True": BoolValue(true), "false": BoolValue(false),
	"False": BoolValue(false), "none": None, "None": None}

func (p *parser) name() (node, error) {
	t := p.current()
	if v, ok := keywords[t.text]; ok {
		p.next()
		return &constant{v}, nil
	}
	if slot, ok := p.locals.find(t.text); ok {
		p.next()
		return &local{slot}, nil
	}
	if variable, ok := variableNames[t.text]; ok && p.scope.Has(variable) {
		p.next()
		p.uses |= ScopeOf(variable)
		return &input{variable}, nil
	}
	if t.text == "self" { // the template itself, which has no members here
		p.next()
		return &objectLiteral{}, nil
	}
	if call, ok := functions[t.text]; ok {
		return p.function(t.text, call)
	}
	return nil, p.unknownName(t)
}

func (p *parser) unknownName(t token) error {
	what := "variable"
	if p.look().is(operatorToken, "(") {
		what = "function"
	}
	e := &UnknownError{Offset: t.at, What: what, Name: t.text}
	if variable, ok := variableNames[t.text]; ok {
		e.Elsewhere = !p.scope.Has(variable)
	}
	return e
}

func (p *parser) function(name string, call *function) (node, error) {
	t := p.next()
	if !p.current().is(operatorToken, "(") {
		return nil, p.errorf("%s is a function; call it with ()", name)
	}
	args, err := p.arguments()
	if err != nil {
		return nil, err
	}
	if err := checkArguments(t, call.signature, args); err != nil {
		return nil, err
	}
	p.calls[name] = true
	return &functionCall{name, call, args}, nil
}

// tuple parses expressions separated by commas. One expression without a comma is not a tuple.
func (p *parser) tuple(parenthesized bool) (node, error) {
	var items []node
	comma := false
	for !p.tupleEnd() {
		n, err := p.condition()
		if err != nil {
			return nil, err
		}
		items = append(items, n)
		if comma = p.skip(operatorToken, ","); !comma {
			break
		}
	}
	switch {
	case len(items) == 1 && !comma:
		return items[0], nil
	case len(items) == 0 && !parenthesized:
		return nil, p.errorf("unexpected %s; an expression is expected here", p.current())
	}
	return &listLiteral{items, tuple}, nil
}

func (p *parser) tupleEnd() bool {
	t := p.current()
	return t.kind == closeToken || t.is(operatorToken, ")") || t.kind == endToken
}

func (p *parser) sequence(closing string) ([]node, error) {
	var items []node
	for !p.skip(operatorToken, closing) {
		if len(items) > 0 {
			if err := p.expect(operatorToken, ","); err != nil {
				return nil, err
			}
			if p.skip(operatorToken, closing) {
				break
			}
		}
		n, err := p.condition()
		if err != nil {
			return nil, err
		}
		items = append(items, n)
	}
	return items, nil
}

func (p *parser) object() (node, error) {
	p.next()
	o := &objectLiteral{}
	for !p.skip(operatorToken, "}") {
		if len(o.keys) > 0 {
			if err := p.expect(operatorToken, ","); err != nil {
				return nil, err
			}
			if p.skip(operatorToken, "}") {
				break
			}
		}
		key, err := p.condition()
		if err != nil {
			return nil, err
		}
		if err := p.expect(operatorToken, ":"); err != nil {
			return nil, err
		}
		value, err := p.condition()
		if err != nil {
			return nil, err
		}
		o.keys, o.values = append(o.keys, key), append(o.values, value)
	}
	return o, nil
}
