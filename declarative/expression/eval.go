package expression

func (n *constant) eval(*frame) (Value, error) { return n.value, nil }

func (n *input) eval(f *frame) (Value, error) { return f.context.inputs[n.variable], nil }

func (n *local) eval(f *frame) (Value, error) { return f.locals[n.slot], nil }

func (n *member) eval(f *frame) (Value, error) {
	if err := f.step(1); err != nil {
		return Value{}, err
	}
	of, err := n.of.eval(f)
	if err != nil {
		return Value{}, err
	}
	if of.kind == Object && (n.plain || n.index) {
		v, ok := of.ref.(*members).get(n.name)
		if ok || n.plain {
			return v, nil
		}
	}
	return memberOf(of, n.name, n.index)
}

// memberOf returns a member of a value. With index, an object's member comes before a method of the same name.
func memberOf(of Value, name string, index bool) (Value, error) {
	switch of.kind {
	case Undefined:
		return Value{}, undefinedError("a value that is absent has no member %q", name)
	case Object:
		m := of.ref.(*members)
		if index || !isMethod(Object, name) {
			if v, ok := m.get(name); ok {
				return v, nil
			}
		}
	case namespace:
		v, _ := of.ref.(*members).get(name)
		return v, nil
	}
	if v, ok := attribute(of, name); ok {
		return v, nil
	}
	if isMethod(of.kind, name) {
		return Value{kind: method, text: name}, nil
	}
	return Value{}, nil
}

func (n *element) eval(f *frame) (Value, error) {
	if err := f.step(1); err != nil {
		return Value{}, err
	}
	of, err := n.of.eval(f)
	if err != nil {
		return Value{}, err
	}
	key, err := n.key.eval(f)
	if err != nil {
		return Value{}, err
	}
	return elementOf(of, key)
}

func elementOf(of, key Value) (Value, error) {
	switch {
	case of.kind == Undefined:
		return Value{}, undefinedError("a value that is absent has no item")
	case of.kind == Object:
		if k, ok := encodeKey(key); ok {
			if v, ok := of.ref.(*members).find(k); ok {
				return v, nil
			}
		}
	case of.kind == Array && key.isInteger():
		l := of.ref.(*list)
		if i, ok := position(key, len(l.items)); ok && l.form <= tuple {
			return l.items[i], nil
		}
		return Value{}, nil
	case of.kind == String && key.isInteger():
		runes := []rune(of.text)
		if i, ok := position(key, len(runes)); ok {
			return StringValue(string(runes[i])), nil
		}
		return Value{}, nil
	}
	if key.kind == String && of.kind != namespace {
		return memberOf(of, key.text, true)
	}
	return Value{}, nil
}

// position returns the place of an index, which may count from the end.
func position(key Value, length int) (int, bool) {
	if key.text != "" {
		return 0, false
	}
	i := key.num
	if i < 0 {
		i += int64(length)
	}
	return int(i), i >= 0 && i < int64(length)
}

func (n *listLiteral) eval(f *frame) (Value, error) {
	if err := f.step(1); err != nil {
		return Value{}, err
	}
	items := make([]Value, len(n.items))
	for i, item := range n.items {
		v, err := item.eval(f)
		if err != nil {
			return Value{}, err
		}
		items[i] = v
	}
	return listOf(items, n.form), nil
}

func (n *objectLiteral) eval(f *frame) (Value, error) {
	if err := f.step(1); err != nil {
		return Value{}, err
	}
	m := &members{owned: true}
	for i := range n.keys {
		key, err := n.keys[i].eval(f)
		if err != nil {
			return Value{}, err
		}
		value, err := n.values[i].eval(f)
		if err != nil {
			return Value{}, err
		}
		k, ok := encodeKey(key)
		if !ok {
			return Value{}, typeError("%s cannot be the name of a member", article(key.kind))
		}
		m.put(k, value)
	}
	return Value{kind: Object, ref: m}, nil
}

func (n *conditional) eval(f *frame) (Value, error) {
	v, err := n.test.eval(f)
	switch {
	case err != nil:
		return Value{}, err
	case v.truth():
		return n.then.eval(f)
	case n.otherwise == nil:
		return Value{}, nil
	}
	return n.otherwise.eval(f)
}

func (n *logical) eval(f *frame) (Value, error) {
	left, err := n.left.eval(f)
	if err != nil || left.truth() == n.or {
		return left, err
	}
	return n.right.eval(f)
}

func (n *negation) eval(f *frame) (Value, error) {
	v, err := n.of.eval(f)
	return BoolValue(!v.truth()), err
}

func (n *comparison) eval(f *frame) (Value, error) {
	left, err := n.first.eval(f)
	if err != nil {
		return Value{}, err
	}
	for i, operator := range n.operators {
		if err := f.step(1); err != nil {
			return Value{}, err
		}
		right, err := n.operands[i].eval(f)
		if err != nil {
			return Value{}, err
		}
		holds, err := compare(operator, left, right)
		if err != nil || !holds {
			return BoolValue(false), err
		}
		left = right
	}
	return BoolValue(true), nil
}

func (n *arithmetic) eval(f *frame) (Value, error) {
	if err := f.step(1); err != nil {
		return Value{}, err
	}
	left, err := n.left.eval(f)
	if err != nil {
		return Value{}, err
	}
	right, err := n.right.eval(f)
	if err != nil {
		return Value{}, err
	}
	return operate(f, n.operator, left, right)
}

func (n *sign) eval(f *frame) (Value, error) {
	v, err := n.of.eval(f)
	if err != nil {
		return Value{}, err
	}
	switch {
	case v.kind == Undefined:
		return Value{}, undefinedError("a value that is absent has no sign")
	case v.kind == span && n.minus:
		return v.ref.(*duration).negated().value(), nil
	case !v.isNumber():
		return Value{}, typeError("%s has no sign", article(v.kind))
	case v.kind == Float:
		if n.minus {
			return FloatValue(-v.float()), nil
		}
		return v, nil
	case n.minus:
		whole := v.bigInt()
		return bigValue(whole.Neg(whole)), nil
	}
	return Value{kind: Int, num: v.num, text: v.text}, nil
}

func (n *concatenation) eval(f *frame) (Value, error) {
	var b []byte
	for _, part := range n.parts {
		if err := f.step(1); err != nil {
			return Value{}, err
		}
		v, err := part.eval(f)
		if err != nil {
			return Value{}, err
		}
		if b, err = f.appendText(b, v); err != nil {
			return Value{}, err
		}
	}
	return StringValue(string(b)), nil
}

func (n *functionCall) eval(f *frame) (Value, error) {
	if err := f.step(1); err != nil {
		return Value{}, err
	}
	c, err := n.args.evaluate(f)
	defer f.endCall(c)
	if err != nil {
		return Value{}, err
	}
	return n.call.run(c)
}

func (n *methodCall) eval(f *frame) (Value, error) {
	if err := f.step(1); err != nil {
		return Value{}, err
	}
	m, ok := n.of.(*member)
	if !ok {
		callee, err := n.of.eval(f)
		if err != nil {
			return Value{}, err
		}
		return notCallable(callee)
	}
	of, err := m.of.eval(f)
	if err != nil {
		return Value{}, err
	}
	found := methodOf(of.kind, m.name)
	if found == nil || m.index && of.kind == Object && of.Member(m.name).kind != Undefined {
		callee, err := memberOf(of, m.name, m.index)
		if err != nil {
			return Value{}, err
		}
		return notCallable(callee)
	}
	if m.name == "get" && of.kind == Object && len(n.args.positional) <= 2 && len(n.args.positional) > 0 &&
		len(n.args.named) == 0 {
		return n.get(f, of)
	}
	c, err := n.args.evaluate(f)
	defer f.endCall(c)
	if err != nil {
		return Value{}, err
	}
	return found(of, c)
}

// get is the commonest call, made without a list of arguments.
func (n *methodCall) get(f *frame, of Value) (Value, error) {
	key, err := n.args.positional[0].eval(f)
	if err != nil {
		return Value{}, err
	}
	otherwise := None
	if len(n.args.positional) == 2 {
		if otherwise, err = n.args.positional[1].eval(f); err != nil {
			return Value{}, err
		}
	}
	return objectGet(of, key, otherwise)
}

func notCallable(v Value) (Value, error) {
	switch v.kind {
	case Undefined:
		return Value{}, undefinedError("a value that is absent cannot be called")
	case method:
		return Value{}, valueError("the method %q is not supported here", v.text)
	}
	return Value{}, typeError("%s cannot be called", article(v.kind))
}

func (n *filterCall) eval(f *frame) (Value, error) { return evalCall(f, n.of, &n.args, n.call.run) }

func (n *testCall) eval(f *frame) (Value, error) {
	holds, err := evalCall(f, n.of, &n.args, n.call.run)
	return BoolValue(holds), err
}

// evalCall runs a filter or a test with its operand and its arguments.
func evalCall[R any](f *frame, operand node, args *arguments, run func(Value, *call) (R, error)) (none R, err error) {
	if err := f.step(1); err != nil {
		return none, err
	}
	of, err := operand.eval(f)
	if err != nil {
		return none, err
	}
	c, err := args.evaluate(f)
	defer f.endCall(c)
	if err != nil {
		return none, err
	}
	return run(of, c)
}
