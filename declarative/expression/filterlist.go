package expression

import (
	"slices"
	"sort"
	"strings"
)

// memberPath returns the member of a value that a path with points names. Numbers in it are indexes.
func memberPath(of, path, otherwise Value) (Value, error) {
	if path.kind == Int {
		return elementOf(of, path)
	}
	for part := range strings.SplitSeq(path.text, ".") {
		key := StringValue(part)
		if isDigits(part) {
			key, _ = digitsValue(part)
		}
		var err error
		if of, err = elementOf(of, key); err != nil {
			return Value{}, err
		}
		if of.kind == Undefined && otherwise.kind != Undefined {
			of = otherwise
		}
	}
	return of, nil
}

// iterateTrue returns the items of a value, and none for any value that counts as false.
func iterateTrue(v Value) ([]Value, error) {
	if !v.truth() {
		return nil, nil
	}
	return iterate(v)
}

func mapFilter(of Value, c *call) (Value, error) {
	items, err := iterateTrue(of)
	if err != nil {
		return Value{}, err
	}
	name, byMember := c.argument(-1, "attribute")
	otherwise, _ := c.argument(-1, "default")
	if !byMember && c.filter == nil {
		return Value{}, valueError("map needs a filter or attribute=")
	}
	rest := &call{frame: c.frame, names: c.names, named: c.named}
	if len(c.args) > 1 {
		rest.args = c.args[1:]
	}
	result := make([]Value, len(items))
	for i, item := range items {
		if err := c.frame.step(1); err != nil {
			return Value{}, err
		}
		if c.filter != nil {
			result[i], err = c.filter.run(item, rest)
		} else {
			result[i], err = memberPath(item, name, otherwise)
		}
		if err != nil {
			return Value{}, err
		}
	}
	return listOf(result, generator), nil
}

// selectFilter returns select, reject, selectattr or rejectattr.
func selectFilter(byMember, keep bool) func(Value, *call) (Value, error) {
	return func(of Value, c *call) (Value, error) {
		items, err := iterateTrue(of)
		if err != nil {
			return Value{}, err
		}
		skip := 1
		if byMember {
			skip = 2
			if len(c.args) == 0 {
				return Value{}, valueError("selectattr and rejectattr need the name of a member")
			}
		}
		rest := &call{frame: c.frame}
		if len(c.args) > skip {
			rest.args = c.args[skip:]
		}
		var kept []Value
		for _, item := range items {
			if err := c.frame.step(1); err != nil {
				return Value{}, err
			}
			tested := item
			if byMember {
				if tested, err = memberPath(item, c.args[0], Value{}); err != nil {
					return Value{}, err
				}
			}
			holds := tested.truth()
			if c.test != nil {
				if holds, err = c.test.run(tested, rest); err != nil {
					return Value{}, err
				}
			}
			if holds == keep {
				kept = append(kept, item)
			}
		}
		return listOf(kept, generator), nil
	}
}

// sortKey returns what unique and sort compare: texts without case, if that is not asked for.
func sortKey(item Value, c *call, sensitive, attribute int) (Value, error) {
	if name, ok := c.argument(attribute, "attribute"); ok {
		var err error
		if item, err = memberPath(item, name, Value{}); err != nil {
			return Value{}, err
		}
	}
	if exact, _ := c.argument(sensitive, "case_sensitive"); item.kind == String && !exact.truth() {
		return StringValue(strings.ToLower(item.text)), nil
	}
	return item, nil
}

func unique(of Value, c *call) (Value, error) {
	items, err := iterate(of)
	if err != nil {
		return Value{}, err
	}
	seen := map[string]bool{}
	var kept []Value
	for _, item := range items {
		if err := c.frame.step(1); err != nil {
			return Value{}, err
		}
		by, err := sortKey(item, c, 0, 1)
		if err != nil {
			return Value{}, err
		}
		key, ok := encodeKey(by)
		if !ok {
			return Value{}, typeError("unique needs texts or numbers")
		}
		if !seen[key] {
			seen[key] = true
			kept = append(kept, item)
		}
	}
	return listOf(kept, generator), nil
}

func sortFilter(of Value, c *call) (Value, error) {
	items, err := iterate(of)
	if err != nil {
		return Value{}, err
	}
	if err := c.frame.step(len(items)); err != nil {
		return Value{}, err
	}
	type keyed struct{ item, by Value }
	pairs := make([]keyed, len(items))
	for i, item := range items {
		by, err := sortKey(item, c, 1, 2)
		if err != nil {
			return Value{}, err
		}
		pairs[i] = keyed{item, by}
	}
	back, _ := c.argument(0, "reverse")
	var problem error
	sort.SliceStable(pairs, func(i, j int) bool {
		n, _, err := order(pairs[i].by, pairs[j].by)
		if err != nil {
			problem = err
		}
		if back.truth() {
			return n > 0
		}
		return n < 0
	})
	sorted := make([]Value, len(pairs))
	for i := range pairs {
		sorted[i] = pairs[i].item
	}
	return listOf(sorted, plainList), problem
}

func reverse(of Value, c *call) (Value, error) {
	items, err := iterate(of)
	if err != nil {
		return Value{}, valueError("%s cannot be reversed", article(of.kind))
	}
	items = slices.Clone(items)
	slices.Reverse(items)
	if of.kind != String {
		return listOf(items, generator), nil
	}
	return joinFilter(listOf(items, plainList), &call{frame: c.frame})
}

func sum(of Value, c *call) (Value, error) {
	items, err := iterate(of)
	if err != nil {
		return Value{}, err
	}
	total := IntValue(0)
	if start, ok := c.argument(1, "start"); ok {
		total = start
	}
	name, byMember := c.argument(0, "attribute")
	for _, item := range items {
		if err := c.frame.step(1); err != nil {
			return Value{}, err
		}
		if byMember && name.kind != Null {
			if item, err = memberPath(item, name, Value{}); err != nil {
				return Value{}, err
			}
		}
		if total, err = operate(c.frame, "+", total, item); err != nil {
			return Value{}, err
		}
	}
	return total, nil
}
