package expression

func (n *slice) eval(f *frame) (Value, error) {
	of, err := n.of.eval(f)
	if err != nil {
		return Value{}, err
	}
	if of.kind == Undefined {
		return Value{}, undefinedError("a value that is absent has no items")
	}
	var bounds [3]*int
	for i, part := range []node{n.from, n.to, n.step} {
		if part == nil {
			continue
		}
		v, err := part.eval(f)
		if err != nil {
			return Value{}, err
		}
		if v.kind == Null {
			continue
		}
		if !v.isInteger() || v.text != "" {
			return Value{}, typeError("%s is not a place in a list", article(v.kind))
		}
		number := int(v.num)
		bounds[i] = &number
	}
	return sliceOf(f, of, bounds)
}

func sliceOf(f *frame, of Value, bounds [3]*int) (Value, error) {
	var items []Value
	var runes []rune
	var l *list
	length := 0
	switch of.kind {
	case String:
		runes = []rune(of.text)
		length = len(runes)
	case Array:
		l = of.ref.(*list)
		if l.form > tuple {
			return Value{}, typeError("a lazy list has no parts; add | list")
		}
		length = len(l.items)
	default:
		return Value{}, typeError("%s has no parts", article(of.kind))
	}
	var text []rune
	places, err := slicePlaces(bounds, length)
	if err != nil {
		return Value{}, err
	}
	if err := f.step(1 + len(places)/64); err != nil {
		return Value{}, err
	}
	for _, i := range places {
		if l != nil {
			items = append(items, l.items[i])
		} else {
			text = append(text, runes[i])
		}
	}
	if l != nil {
		return listOf(items, l.form), nil
	}
	return StringValue(string(text)), nil
}

// slicePlaces returns the places that from:to:step selects.
func slicePlaces(bounds [3]*int, length int) ([]int, error) {
	step := 1
	if bounds[2] != nil {
		step = *bounds[2]
	}
	if step == 0 {
		return nil, valueError("the step of a slice is zero")
	}
	low, high := 0, length
	if step < 0 {
		low, high = -1, length-1
	}
	clamp := func(bound *int, otherwise int) int {
		if bound == nil {
			return otherwise
		}
		i := *bound
		if i < 0 {
			i += length
		}
		return min(max(i, low), high)
	}
	var places []int
	if step > 0 {
		from, to := clamp(bounds[0], 0), clamp(bounds[1], length)
		for i := from; i < to; i += step {
			places = append(places, i)
		}
		return places, nil
	}
	from, to := clamp(bounds[0], length-1), clamp(bounds[1], -1)
	for i := from; i > to; i += step {
		places = append(places, i)
	}
	return places, nil
}
