package expression

import "slices"

// statements parses the parts of a template until a block that is named in ends. It leaves the parser behind that
// block's name and returns the name, or "" at the end of the template.
func (p *parser) statements(ends ...string) ([]statement, string, error) {
	if err := p.enter(); err != nil {
		return nil, "", err
	}
	defer func() { p.depth-- }()
	var parts []statement
	for {
		switch t := p.next(); t.kind {
		case endToken:
			if len(ends) > 0 {
				return nil, "", p.errorf("the block is never closed; end it with %s", ends[len(ends)-1])
			}
			return parts, "", nil
		case dataToken:
			parts = append(parts, &textPart{t.text})
		case printToken:
			n, err := p.tuple(false)
			if err == nil {
				err = p.endBraces()
			}
			if err != nil {
				return nil, "", err
			}
			parts = append(parts, &printPart{n})
		case blockToken:
			name := p.next()
			if slices.Contains(ends, name.text) {
				return parts, name.text, nil
			}
			part, err := p.block(name)
			if err != nil {
				return nil, "", err
			}
			parts = append(parts, part)
		default:
			p.at--
			return nil, "", p.errorf("unexpected %s", p.current())
		}
	}
}

func (p *parser) endBraces() error {
	if p.current().kind != closeToken {
		return p.errorf("unexpected %s; the expression should end here", p.current())
	}
	p.next()
	return nil
}

// endHead ends the first braces of a block, which may have a colon.
func (p *parser) endHead() error {
	p.skip(operatorToken, ":")
	return p.endBraces()
}

func (p *parser) block(name token) (statement, error) {
	switch name.text {
	case "if":
		return p.ifBlock()
	case "for":
		return p.forBlock()
	case "set":
		return p.setBlock()
	}
	p.at--
	return nil, &UnknownError{Offset: name.at, What: "statement", Name: name.text}
}

func (p *parser) ifBlock() (statement, error) {
	part := &ifPart{}
	p.locals.branch = &localBranch{p.locals.branch}
	defer func() { p.locals.branch = p.locals.branch.outer }()
	end := "elif"
	for end == "elif" {
		test, err := p.tuple(false)
		if err == nil {
			err = p.endHead()
		}
		if err != nil {
			return nil, err
		}
		var body []statement
		if body, end, err = p.statements("elif", "else", "endif"); err != nil {
			return nil, err
		}
		part.tests, part.bodies = append(part.tests, test), append(part.bodies, body)
	}
	if end == "else" {
		if err := p.endHead(); err != nil {
			return nil, err
		}
		body, _, err := p.statements("endif")
		if err != nil {
			return nil, err
		}
		part.bodies = append(part.bodies, body)
	}
	return part, p.endBraces()
}

func (p *parser) setBlock() (statement, error) {
	part := &setPart{}
	var names []token
	for {
		t := p.next()
		if t.kind != nameToken {
			p.at--
			return nil, p.errorf("expected a name to set, found %s", t)
		}
		if p.skip(operatorToken, ".") {
			slot, ok := p.locals.find(t.text)
			if !ok {
				return nil, &UnknownError{Offset: t.at, What: "variable", Name: t.text}
			}
			part.targets = append(part.targets, target{slot, p.next().text})
		} else {
			names = append(names, t)
			part.targets = append(part.targets, target{slot: -1})
		}
		if !p.skip(operatorToken, ",") {
			break
		}
	}
	var err error
	if p.skip(operatorToken, "=") {
		if part.of, err = p.tuple(false); err != nil {
			return nil, err
		}
	} else {
		if err := p.endBraces(); err != nil {
			return nil, err
		}
		if part.body, _, err = p.statements("endset"); err != nil {
			return nil, err
		}
	}
	for i, t := range part.targets {
		if t.slot < 0 {
			if part.targets[i].slot, err = p.assign(names[0]); err != nil {
				return nil, err
			}
			names = names[1:]
		}
	}
	return part, p.endBraces()
}

// assign returns the slot of a name that a set statement changes in the current scope.
func (p *parser) assign(t token) (int, error) {
	if slot, ok := p.locals.names[t.text]; ok {
		return slot, nil
	}
	outer, known := p.locals.find(t.text)
	if p.locals.branch != nil && !known {
		if variable, ok := variableNames[t.text]; !ok || !p.scope.Has(variable) {
			p.pending = append(p.pending, pendingName{t, p.locals.outer})
		}
	}
	slot := p.newSlot(t.text)
	if !known {
		outer = -1
	}
	p.locals.resets[slot] = outer
	return slot, nil
}

// pendingName is a name that an if sets. A scope around it must set the name as well.
type pendingName struct {
	token
	outer *localScope
}

// checkPending finds names that have no value without an if.
func (p *parser) checkPending() error {
	for _, name := range p.pending {
		if _, ok := name.outer.find(name.text); !ok {
			return &SyntaxError{Offset: name.at, Message: name.text + " is set inside an if and has no value without it; " +
				"set it before the if"}
		}
	}
	return nil
}

func (p *parser) newSlot(name string) int {
	slot := p.slots
	p.slots++
	p.locals.names[name] = slot
	return slot
}

func (p *parser) openScope() {
	p.locals = &localScope{outer: p.locals, names: map[string]int{}, resets: map[int]int{}}
}

func (p *parser) forBlock() (statement, error) {
	part := &forPart{}
	var names []string
	bracket := p.skip(operatorToken, "(")
	for {
		t := p.next()
		if t.kind != nameToken {
			p.at--
			return nil, p.errorf("expected a name for the items of the loop, found %s", t)
		}
		names = append(names, t.text)
		if !p.skip(operatorToken, ",") {
			break
		}
	}
	if bracket {
		if err := p.expect(operatorToken, ")"); err != nil {
			return nil, err
		}
	}
	if err := p.expect(nameToken, "in"); err != nil {
		return nil, err
	}
	var err error
	if part.over, err = p.or(); err != nil {
		return nil, err
	}
	p.openScope()
	for _, name := range names {
		part.targets = append(part.targets, p.newSlot(name))
	}
	part.loop = p.newSlot("loop")
	if p.skip(nameToken, "if") {
		if part.filter, err = p.condition(); err != nil {
			return nil, err
		}
	}
	if err := p.endHead(); err != nil {
		return nil, err
	}
	body, end, err := p.statements("else", "endfor")
	part.body, part.resets = body, p.locals.resets
	p.locals = p.locals.outer
	if err == nil && end == "else" {
		if err = p.endHead(); err == nil {
			part.otherwise, _, err = p.statements("endfor")
		}
	}
	if err != nil {
		return nil, err
	}
	return part, p.endBraces()
}
