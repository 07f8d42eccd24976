package expression

import (
	"math"
	"math/big"
	"strings"
)

// maxDigits is the greatest number of decimal digits of an integer.
const maxDigits = 4300

// compare evaluates a comparison.
func compare(operator string, left, right Value) (bool, error) {
	switch operator {
	case "==":
		return equal(left, right), nil
	case "!=":
		return !equal(left, right), nil
	case "in":
		return contains(right, left)
	case "not in":
		found, err := contains(right, left)
		return !found, err
	}
	order, comparable, err := order(left, right)
	if err != nil || !comparable {
		return false, err
	}
	switch operator {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

// equal reports whether two values are equal, numbers by their value.
func equal(a, b Value) bool {
	if a.isNumber() && b.isNumber() {
		n, comparable := orderNumbers(a, b)
		return comparable && n == 0
	}
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case String:
		return a.text == b.text
	case Array:
		return equalLists(a.ref.(*list), b.ref.(*list))
	case Object:
		return equalMembers(a.ref.(*members), b.ref.(*members))
	case dateTime, date:
		x, y := a.ref.(*moment), b.ref.(*moment)
		return x.aware == y.aware && x.time.Equal(y.time)
	case span:
		return a.ref.(*duration).equal(b.ref.(*duration))
	case namespace:
		return a.ref == b.ref
	}
	return true
}

func equalLists(a, b *list) bool {
	if a == b {
		return true
	}
	if a.form != b.form || a.form == generator || len(a.items) != len(b.items) {
		return false
	}
	for i := range a.items {
		if !equal(a.items[i], b.items[i]) {
			return false
		}
	}
	return true
}

func equalMembers(a, b *members) bool {
	if a.size() != b.size() {
		return false
	}
	for i, key := range a.keys {
		other, ok := b.find(key)
		if !ok || !equal(a.values[i], other) {
			return false
		}
	}
	return true
}

// orderNumbers compares two numbers. A NaN is not comparable.
func orderNumbers(a, b Value) (int, bool) {
	if a.kind != Float && b.kind != Float {
		if a.text == "" && b.text == "" {
			switch {
			case a.num < b.num:
				return -1, true
			case a.num > b.num:
				return 1, true
			}
			return 0, true
		}
		return a.bigInt().Cmp(b.bigInt()), true
	}
	x, y := a.number(), b.number()
	switch {
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, x == y
}

// order compares two values of kinds that have an order.
func order(a, b Value) (int, bool, error) {
	switch {
	case a.isNumber() && b.isNumber():
		n, comparable := orderNumbers(a, b)
		return n, comparable, nil
	case a.kind == Undefined || b.kind == Undefined:
		return 0, false, undefinedError("a value that is absent has no order")
	case a.kind != b.kind:
	case a.kind == String:
		return strings.Compare(a.text, b.text), true, nil
	case a.kind == Array:
		return orderLists(a.ref.(*list), b.ref.(*list))
	case a.kind == dateTime || a.kind == date:
		x, y := a.ref.(*moment), b.ref.(*moment)
		if x.aware == y.aware {
			return x.time.Compare(y.time), true, nil
		}
	case a.kind == span:
		x, y := a.ref.(*duration), b.ref.(*duration)
		if !x.calendar && !y.calendar {
			n, comparable := orderNumbers(IntValue(x.micros), IntValue(y.micros))
			return n, comparable, nil
		}
	}
	return 0, false, typeError("%s and %s have no order", article(a.kind), article(b.kind))
}

func orderLists(a, b *list) (int, bool, error) {
	if a.form != b.form || a.form > tuple {
		return 0, false, typeError("these lists have no order")
	}
	for i := range min(len(a.items), len(b.items)) {
		if !equal(a.items[i], b.items[i]) {
			return order(a.items[i], b.items[i])
		}
	}
	n, comparable := orderNumbers(IntValue(int64(len(a.items))), IntValue(int64(len(b.items))))
	return n, comparable, nil
}

// contains evaluates item in container.
func contains(container, item Value) (bool, error) {
	switch container.kind {
	case Undefined:
		return false, nil
	case String:
		if item.kind != String {
			return false, typeError("a text contains texts only, not %s", article(item.kind))
		}
		return strings.Contains(container.text, item.text), nil
	case Array:
		for _, candidate := range container.ref.(*list).items {
			if equal(candidate, item) {
				return true, nil
			}
		}
		return false, nil
	case Object:
		key, ok := encodeKey(item)
		if !ok {
			return false, typeError("%s cannot be the name of a member", article(item.kind))
		}
		_, found := container.ref.(*members).find(key)
		return found, nil
	}
	return false, typeError("%s contains nothing", article(container.kind))
}

// operate evaluates an arithmetic operation.
func operate(f *frame, operator string, a, b Value) (Value, error) {
	if operator == "%" && a.kind == String {
		return formatPercent(f, a.text, b)
	}
	switch {
	case a.kind == Undefined || b.kind == Undefined:
		return Value{}, undefinedError("a value that is absent has no %s", operator)
	case a.isNumber() && b.isNumber():
		return calculate(operator, a, b)
	case operator == "+" && a.kind == String && b.kind == String:
		return sized(a.text + b.text)
	case operator == "+" && a.kind == Array && b.kind == Array:
		return joinLists(f, a.ref.(*list), b.ref.(*list))
	case operator == "*" && b.isInteger():
		if v, ok, err := repeat(f, a, b); ok || err != nil {
			return v, err
		}
	case operator == "*" && a.isInteger():
		if v, ok, err := repeat(f, b, a); ok || err != nil {
			return v, err
		}
	}
	if v, ok, err := operateTimes(operator, a, b); ok || err != nil {
		return v, err
	}
	return Value{}, typeError("%s %s %s is not possible", article(a.kind), operator, article(b.kind))
}

func joinLists(f *frame, a, b *list) (Value, error) {
	if a.form != b.form || a.form > tuple {
		return Value{}, typeError("these lists cannot be joined")
	}
	if err := f.step((len(a.items) + len(b.items)) / 64); err != nil {
		return Value{}, err
	}
	return listOf(append(append(make([]Value, 0, len(a.items)+len(b.items)), a.items...), b.items...), a.form), nil
}

// repeat evaluates a text or list times an integer.
func repeat(f *frame, v, times Value) (Value, bool, error) {
	n := times.num
	if times.text != "" && (v.kind == String || v.kind == Array) {
		return Value{}, true, valueError("%s is too large a number of times", times.text)
	}
	n = max(n, 0)
	switch v.kind {
	case String:
		if v.text == "" {
			return v, true, nil
		}
		if n > int64(MaxResult/len(v.text)) {
			return Value{}, true, errResult
		}
		return StringValue(strings.Repeat(v.text, int(n))), true, nil
	case Array:
		l := v.ref.(*list)
		if l.form > tuple {
			return Value{}, false, nil
		}
		if len(l.items) == 0 {
			return listOf(nil, l.form), true, nil
		}
		if n > int64(MaxSteps/len(l.items)) {
			return Value{}, true, errSteps
		}
		var items []Value
		for len(items) < len(l.items)*int(n) {
			items = append(items, l.items...)
		}
		return listOf(items, l.form), true, f.step(len(items))
	}
	return Value{}, false, nil
}

func calculate(operator string, a, b Value) (Value, error) {
	if operator == "/" {
		return divide(a, b)
	}
	if a.kind == Float || b.kind == Float {
		return calculateFloat(operator, a.number(), b.number())
	}
	if a.text == "" && b.text == "" {
		if v, ok := calculateSmall(operator, a.num, b.num); ok {
			return v, nil
		}
	}
	return calculateBig(operator, a.bigInt(), b.bigInt())
}

// calculateSmall adds, subtracts and multiplies numbers that cannot overflow.
func calculateSmall(operator string, a, b int64) (Value, bool) {
	const limit = 1 << 31
	if a >= limit || a <= -limit || b >= limit || b <= -limit {
		return Value{}, false
	}
	switch operator {
	case "+":
		return IntValue(a + b), true
	case "-":
		return IntValue(a - b), true
	case "*":
		return IntValue(a * b), true
	}
	return Value{}, false
}

func calculateBig(operator string, a, b *big.Int) (Value, error) {
	result := new(big.Int)
	switch operator {
	case "+":
		result.Add(a, b)
	case "-":
		result.Sub(a, b)
	case "*":
		result.Mul(a, b)
	case "//", "%":
		if b.Sign() == 0 {
			return Value{}, valueError("a division by zero")
		}
		remainder := new(big.Int)
		result.QuoRem(a, b, remainder)
		if remainder.Sign() != 0 && remainder.Sign() != b.Sign() {
			result.Sub(result, big.NewInt(1))
			remainder.Add(remainder, b)
		}
		if operator == "%" {
			result = remainder
		}
	case "**":
		return power(a, b)
	}
	if result.BitLen() > maxDigits*4 || len(result.String()) > maxDigits {
		return Value{}, valueError("an integer of more than %d digits", maxDigits)
	}
	return bigValue(result), nil
}

func power(a, b *big.Int) (Value, error) {
	if b.Sign() < 0 {
		if a.Sign() == 0 {
			return Value{}, valueError("a division by zero")
		}
		x, _ := new(big.Float).SetInt(a).Float64()
		y, _ := new(big.Float).SetInt(b).Float64()
		return FloatValue(math.Pow(x, y)), nil
	}
	if a.BitLen() > 1 && (!b.IsInt64() || b.Int64() > int64(maxDigits*4/(a.BitLen()-1))) {
		return Value{}, valueError("an integer of more than %d digits", maxDigits)
	}
	return bigValue(new(big.Int).Exp(a, b, nil)), nil
}

func calculateFloat(operator string, a, b float64) (Value, error) {
	switch operator {
	case "+":
		return FloatValue(a + b), nil
	case "-":
		return FloatValue(a - b), nil
	case "*":
		return FloatValue(a * b), nil
	case "**":
		result := math.Pow(a, b)
		if a == 0 && b < 0 || math.IsInf(result, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) || math.IsNaN(result) {
			return Value{}, valueError("the power has no value")
		}
		return FloatValue(result), nil
	}
	if b == 0 {
		return Value{}, valueError("a division by zero")
	}
	remainder := math.Mod(a, b)
	quotient := (a - remainder) / b
	if remainder != 0 && (remainder < 0) != (b < 0) {
		remainder += b
		quotient--
	}
	if operator == "%" {
		if remainder == 0 {
			remainder = math.Copysign(0, b)
		}
		return FloatValue(remainder), nil
	}
	return FloatValue(math.Round(quotient)), nil
}

func divide(a, b Value) (Value, error) {
	if !b.truth() {
		return Value{}, valueError("a division by zero")
	}
	if a.kind == Float || b.kind == Float || a.text == "" && b.text == "" {
		return FloatValue(a.number() / b.number()), nil
	}
	quotient, _ := new(big.Rat).SetFrac(a.bigInt(), b.bigInt()).Float64()
	return FloatValue(quotient), nil
}
