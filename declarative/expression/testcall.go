package expression

import (
	"strings"
)

// test is a test of the language, such as "is defined".
type test struct {
	run func(of Value, c *call) (bool, error)
}

// tests are the tests of the language.
var tests = map[string]*test{
	"defined":     {func(of Value, _ *call) (bool, error) { return of.kind != Undefined, nil }},
	"undefined":   {func(of Value, _ *call) (bool, error) { return of.kind == Undefined, nil }},
	"none":        isKind(Null),
	"boolean":     isKind(Bool),
	"integer":     isKind(Int),
	"float":       isKind(Float),
	"string":      isKind(String),
	"mapping":     isKind(Object),
	"true":        {func(of Value, _ *call) (bool, error) { return of.kind == Bool && of.num == 1, nil }},
	"false":       {func(of Value, _ *call) (bool, error) { return of.kind == Bool && of.num == 0, nil }},
	"number":      {func(of Value, _ *call) (bool, error) { return of.isNumber(), nil }},
	"iterable":    {isIterable},
	"sequence":    {isSequence},
	"callable":    isKind(method),
	"eq":          compares("=="),
	"equalto":     compares("=="),
	"ne":          compares("!="),
	"lt":          compares("<"),
	"lessthan":    compares("<"),
	"le":          compares("<="),
	"gt":          compares(">"),
	"greaterthan": compares(">"),
	"ge":          compares(">="),
	"in":          compares("in"),
	"odd":         {func(of Value, _ *call) (bool, error) { return remainderIs(of, 2, 1) }},
	"even":        {func(of Value, _ *call) (bool, error) { return remainderIs(of, 2, 0) }},
	"divisibleby": {isDivisible},
	"lower":       {func(of Value, c *call) (bool, error) { return hasCase(of, c, strings.ToLower, strings.ToUpper) }},
	"upper":       {func(of Value, c *call) (bool, error) { return hasCase(of, c, strings.ToUpper, strings.ToLower) }},
}

func isKind(k Kind) *test {
	return &test{func(of Value, _ *call) (bool, error) { return of.kind == k, nil }}
}

func compares(operator string) *test {
	return &test{func(of Value, c *call) (bool, error) {
		if len(c.args) != 1 {
			return false, typeError("the test needs one value")
		}
		return compare(operator, of, c.args[0])
	}}
}

func isIterable(of Value, _ *call) (bool, error) {
	_, err := iterate(of)
	return err == nil, nil
}

func isSequence(of Value, _ *call) (bool, error) {
	switch of.kind {
	case Undefined, String, Object:
		return true, nil
	case Array:
		return of.ref.(*list).form <= tuple, nil
	}
	return false, nil
}

func remainderIs(of Value, by, want int64) (bool, error) {
	v, err := operate(nil, "%", of, IntValue(by))
	if err != nil {
		return false, err
	}
	return equal(v, IntValue(want)), nil
}

func isDivisible(of Value, c *call) (bool, error) {
	if len(c.args) != 1 {
		return false, typeError("divisibleby needs one number")
	}
	v, err := operate(c.frame, "%", of, c.args[0])
	if err != nil {
		return false, err
	}
	return equal(v, IntValue(0)), nil
}

func hasCase(of Value, c *call, own, other func(string) string) (bool, error) {
	text, err := c.frame.text(of)
	if err != nil {
		return false, err
	}
	return text == own(text) && text != other(text), nil
}
