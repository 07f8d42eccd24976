package expression

import (
	"fmt"
	"regexp"
	"slices"
)

// postfix parses what follows an expression: members, indexes, slices and calls.
func (p *parser) postfix(n node) (node, error) {
	for {
		var err error
		switch {
		case p.skip(operatorToken, "."):
			n, err = p.member(n)
		case p.skip(operatorToken, "["):
			n, err = p.subscript(n)
		case p.current().is(operatorToken, "("):
			n, err = p.call(n)
		default:
			return n, nil
		}
		if err != nil {
			return nil, err
		}
		p.notePath(n)
	}
}

func (p *parser) call(n node) (node, error) {
	if m, ok := n.(*member); ok && !methodNames[m.name] {
		return nil, &UnknownError{Offset: p.current().at, What: "method", Name: m.name}
	}
	args, err := p.arguments()
	return &methodCall{n, args}, err
}

func (p *parser) member(n node) (node, error) {
	switch t := p.next(); t.kind {
	case nameToken:
		return &member{of: n, name: t.text, plain: !isMethod(Object, t.text)}, nil
	case intToken:
		return &element{n, &constant{t.value}}, nil
	}
	p.at--
	return nil, p.errorf("expected a name or a number after the point, found %s", p.current())
}

func (p *parser) subscript(n node) (node, error) {
	var err error
	var from node
	if !p.current().is(operatorToken, ":") {
		if from, err = p.condition(); err != nil {
			return nil, err
		}
		if p.skip(operatorToken, "]") {
			if c, ok := from.(*constant); ok && c.value.kind == String {
				return &member{of: n, name: c.value.text, index: true, plain: !isMethod(Object, c.value.text)}, nil
			}
			return &element{n, from}, nil
		}
	}
	s := &slice{of: n, from: from}
	if err = p.expect(operatorToken, ":"); err != nil {
		return nil, err
	}
	for _, part := range []*node{&s.to, &s.step} {
		if !p.current().is(operatorToken, ":") && !p.current().is(operatorToken, "]") {
			if *part, err = p.condition(); err != nil {
				return nil, err
			}
		}
		if !p.skip(operatorToken, ":") {
			break
		}
	}
	return s, p.expect(operatorToken, "]")
}

// filters parses the filters and tests after an expression.
func (p *parser) filters(n node) (node, error) {
	for {
		var err error
		switch {
		case p.skip(operatorToken, "|"):
			n, err = p.filter(n)
		case p.skip(nameToken, "is"):
			n, err = p.test(n)
		case p.current().is(operatorToken, "("):
			n, err = p.call(n)
		default:
			return n, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *parser) filter(n node) (node, error) {
	t := p.next()
	if t.kind != nameToken {
		p.at--
		return nil, p.errorf("expected the name of a filter, found %s", t)
	}
	found, ok := filters[t.text]
	if !ok {
		return nil, &UnknownError{Offset: t.at, What: "filter", Name: t.text}
	}
	args, err := p.optionalArguments()
	if err != nil {
		return nil, err
	}
	if err := checkArguments(t, found.signature, args); err != nil {
		return nil, err
	}
	if err := resolvePassed(t, &args); err != nil {
		return nil, err
	}
	p.calls["|"+t.text] = true
	return &filterCall{n, t.text, found, args}, nil
}

// resolvePassed finds the filter or test that is an argument of a filter, such as map('trim').
func resolvePassed(t token, args *arguments) error {
	position := 0
	switch t.text {
	case "map", "select", "reject":
	case "selectattr", "rejectattr":
		position = 1
	case "regex_search", "regex_replace":
		return compilePattern(t, args)
	default:
		return nil
	}
	if position >= len(args.positional) {
		return nil
	}
	c, ok := args.positional[position].(*constant)
	if !ok || c.value.kind != String {
		return &SyntaxError{Offset: t.at, Message: "the name that " + t.text + " applies must be a text in quotes"}
	}
	what := "test"
	if t.text == "map" {
		what = "filter"
		args.filter, ok = filters[c.value.text]
	} else {
		args.test, ok = tests[c.value.text]
	}
	if !ok {
		return &UnknownError{Offset: t.at, What: what, Name: c.value.text}
	}
	return nil
}

// compilePattern compiles a regular expression that is a literal.
func compilePattern(t token, args *arguments) error {
	if len(args.positional) == 0 {
		return nil
	}
	c, ok := args.positional[0].(*constant)
	if !ok || c.value.kind != String {
		return nil
	}
	pattern, err := regexp.Compile(c.value.text)
	if err != nil {
		return &SyntaxError{Offset: t.at, Message: fmt.Sprintf("the regular expression %q is not supported: %v",
			c.value.text, err)}
	}
	args.regexp = pattern
	return nil
}

// checkArguments compares the arguments of a call with those that the function or filter has.
func checkArguments(t token, s signature, args arguments) error {
	if s.open {
		return nil
	}
	if len(args.positional) > len(s.names) {
		return &SyntaxError{Offset: t.at, Message: fmt.Sprintf("%s has at most %d arguments", t.text, len(s.names))}
	}
	for _, name := range args.names {
		if !slices.Contains(s.names[len(args.positional):], name) {
			return &SyntaxError{Offset: t.at, Message: fmt.Sprintf("%s has no argument %s here", t.text, name)}
		}
	}
	for i, name := range s.names[:s.required] {
		if i >= len(args.positional) && !slices.Contains(args.names, name) {
			return &SyntaxError{Offset: t.at, Message: fmt.Sprintf("%s needs the argument %s", t.text, name)}
		}
	}
	return nil
}

func (p *parser) test(n node) (node, error) {
	negated := p.skip(nameToken, "not")
	t := p.next()
	if t.kind != nameToken {
		p.at--
		return nil, p.errorf("expected the name of a test, found %s", t)
	}
	found, ok := tests[t.text]
	if !ok {
		return nil, &UnknownError{Offset: t.at, What: "test", Name: t.text}
	}
	args, err := p.testArguments()
	if err != nil {
		return nil, err
	}
	n = &testCall{n, found, args}
	if negated {
		n = &negation{n}
	}
	return n, nil
}

// testArguments parses the arguments of a test, which may be one expression without parentheses.
func (p *parser) testArguments() (arguments, error) {
	t := p.current()
	switch {
	case t.is(operatorToken, "("):
		return p.arguments()
	case t.is(nameToken, "else"), t.is(nameToken, "or"), t.is(nameToken, "and"):
		return arguments{}, nil
	case t.is(nameToken, "is"):
		return arguments{}, p.errorf("a test cannot follow a test; use parentheses")
	case t.kind == nameToken, t.kind == stringToken, t.kind == intToken, t.kind == floatToken,
		t.is(operatorToken, "["), t.is(operatorToken, "{"):
		n, err := p.primary()
		if err == nil {
			n, err = p.postfix(n)
		}
		return arguments{positional: []node{n}}, err
	}
	return arguments{}, nil
}

func (p *parser) optionalArguments() (arguments, error) {
	if p.current().is(operatorToken, "(") {
		return p.arguments()
	}
	return arguments{}, nil
}

// arguments parses the arguments of a call with their parentheses.
func (p *parser) arguments() (arguments, error) {
	var a arguments
	p.next()
	for first := true; !p.skip(operatorToken, ")"); first = false {
		if !first {
			if err := p.expect(operatorToken, ","); err != nil {
				return a, err
			}
			if p.skip(operatorToken, ")") {
				break
			}
		}
		name := ""
		if p.current().kind == nameToken && p.look().is(operatorToken, "=") {
			name = p.next().text
			p.next()
		}
		n, err := p.condition()
		if err != nil {
			return a, err
		}
		switch {
		case name != "":
			a.names, a.named = append(a.names, name), append(a.named, n)
		case len(a.names) > 0:
			return a, p.errorf("an argument without a name follows one with a name")
		default:
			a.positional = append(a.positional, n)
		}
	}
	return a, nil
}

// notePath records which member of an input an expression reads, so that describe can follow secrets.
func (p *parser) notePath(n node) {
	var names []string
	for {
		switch of := n.(type) {
		case *member:
			names = append(names, of.name)
			n = of.of
		case *methodCall:
			get, ok := of.of.(*member)
			if !ok || get.name != "get" || len(of.args.positional) == 0 {
				return
			}
			c, ok := of.args.positional[0].(*constant)
			if !ok || c.value.kind != String {
				return
			}
			names = append(names, c.value.text)
			n = get.of
		case *input:
			path := Path{Variable: of.variable}
			for i := len(names) - 1; i >= 0; i-- {
				path.Members = append(path.Members, names[i])
			}
			p.paths = append(p.paths, path)
			return
		default:
			return
		}
	}
}
