package expression

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// filters are the filters of the language.
var filters = map[string]*filter{
	"abs":                   {needs(0), absolute},
	"base64binascii_decode": {needs(0), base64Encode},
	"base64decode":          {needs(0), base64Decode},
	"base64encode":          {needs(0), base64Encode},
	"capitalize":            {needs(0), textFilter(capitalize)},
	"count":                 {needs(0), length},
	"d":                     {needs(0, "default_value", "boolean"), defaultTo},
	"default":               {needs(0, "default_value", "boolean"), defaultTo},
	"first":                 {needs(0), first},
	"float":                 {needs(0, "default"), toFloat},
	"hash":                  {needs(0, "hash_type", "salt"), hashText},
	"hmac":                  {needs(1, "key", "hash_type"), authenticate},
	"int":                   {needs(0, "default", "base"), toInt},
	"items":                 {needs(0), itemsFilter},
	"join":                  {needs(0, "d", "attribute"), joinFilter},
	"last":                  {needs(0), last},
	"length":                {needs(0), length},
	"list":                  {needs(0), toList},
	"lower":                 {needs(0), textFilter(strings.ToLower)},
	"map":                   {anyArguments, mapFilter},
	"max":                   {needs(0), func(of Value, c *call) (Value, error) { return extremeItem(of, c, 1) }},
	"min":                   {needs(0), func(of Value, c *call) (Value, error) { return extremeItem(of, c, -1) }},
	"regex_replace":         {needs(2, "regex", "replacement"), regexReplace},
	"regex_search":          {needs(1, "regex"), regexSearch},
	"reject":                {anyArguments, selectFilter(false, false)},
	"rejectattr":            {anyArguments, selectFilter(true, false)},
	"replace":               {needs(2, "old", "new", "count"), replaceFilter},
	"reverse":               {needs(0), reverse},
	"round":                 {needs(0, "precision"), round},
	"select":                {anyArguments, selectFilter(false, true)},
	"selectattr":            {anyArguments, selectFilter(true, true)},
	"sort":                  {needs(0, "reverse", "case_sensitive", "attribute"), sortFilter},
	"string":                {needs(0), toString},
	"sum":                   {needs(0, "attribute", "start"), sum},
	"title":                 {needs(0), textFilter(titleWords)},
	"tojson":                {needs(0), toJSON},
	"trim":                  {needs(0, "chars"), trim},
	"unique":                {needs(0, "case_sensitive", "attribute"), unique},
	"upper":                 {needs(0), textFilter(strings.ToUpper)},
	"urlencode":             {needs(0), urlEncode},
}

func textFilter(f func(string) string) func(Value, *call) (Value, error) {
	return func(of Value, c *call) (Value, error) {
		text, err := c.frame.text(of)
		if err != nil {
			return Value{}, err
		}
		return sized(f(text))
	}
}

// titleWords capitalizes each word. In contrast to the method title, only spaces, dashes and opening brackets separate
// words.
func titleWords(text string) string {
	var b strings.Builder
	start := true
	for _, r := range text {
		separates := unicode.IsSpace(r) || strings.ContainsRune("-({[<", r)
		if start && !separates {
			b.WriteRune(unicode.ToUpper(r))
		} else {
			b.WriteRune(unicode.ToLower(r))
		}
		start = separates
	}
	return b.String()
}

func absolute(of Value, _ *call) (Value, error) {
	switch {
	case of.kind == Float:
		return FloatValue(math.Abs(of.float())), nil
	case of.isInteger():
		n := of.bigInt()
		return bigValue(n.Abs(n)), nil
	}
	return Value{}, typeError("%s is not a number", article(of.kind))
}

func length(of Value, _ *call) (Value, error) {
	switch of.kind {
	case Undefined:
		return IntValue(0), nil
	case String:
		return IntValue(int64(len([]rune(of.text)))), nil
	case Array:
		if of.ref.(*list).form != generator {
			return IntValue(int64(of.Len())), nil
		}
	case Object:
		return IntValue(int64(of.Len())), nil
	}
	return Value{}, typeError("%s has no length", article(of.kind))
}

func defaultTo(of Value, c *call) (Value, error) {
	otherwise, ok := c.argument(0, "default_value")
	if !ok {
		otherwise = StringValue("")
	}
	empty, _ := c.argument(1, "boolean")
	if of.kind == Undefined || empty.truth() && !of.truth() {
		return otherwise, nil
	}
	return of, nil
}

func first(of Value, _ *call) (Value, error) {
	items, err := iterate(of)
	if err != nil || len(items) == 0 {
		return Value{}, err
	}
	return items[0], nil
}

func last(of Value, _ *call) (Value, error) {
	items, err := iterate(of)
	if err != nil || len(items) == 0 {
		return Value{}, err
	}
	if of.kind == Array && of.ref.(*list).form == generator {
		return Value{}, typeError("a lazy list has no last item; add | list")
	}
	return items[len(items)-1], nil
}

// textNumber reads an integer as Python's int does.
func textNumber(text string, base int) (Value, bool) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "_") || strings.HasSuffix(text, "_") || strings.Contains(text, "__") {
		return Value{}, false
	}
	digits := strings.ReplaceAll(text, "_", "")
	if len(digits) > maxDigits {
		return Value{}, false
	}
	if base == 10 {
		return digitsValue(digits)
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return Value{}, false
	}
	return bigValue(n), true
}

// textFloat reads a float as Python's float does.
func textFloat(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "xXpP") || strings.HasPrefix(text, "_") || strings.HasSuffix(text, "_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil && err.(*strconv.NumError).Err != strconv.ErrRange {
		return 0, false
	}
	return f, true
}

// truncate returns the integer part of a float.
func truncate(f float64) (Value, error) {
	if f-f != 0 {
		return Value{}, valueError("%v has no integer part", f)
	}
	n, _ := big.NewFloat(f).Int(nil)
	return bigValue(n), nil
}

func toInt(of Value, c *call) (Value, error) {
	otherwise, ok := c.argument(0, "default")
	if !ok {
		otherwise = IntValue(0)
	}
	switch of.kind {
	case Undefined:
		return Value{}, undefinedError("a value that is absent is not a number")
	case Bool, Int:
		return Value{kind: Int, num: of.num, text: of.text}, nil
	case Float:
		if v, err := truncate(of.float()); err == nil {
			return v, nil
		}
	case String:
		base := 10
		if v, ok := c.argument(1, "base"); ok && v.num >= 2 && v.num <= 36 {
			base = int(v.num)
		}
		if v, ok := textNumber(of.text, base); ok {
			return v, nil
		}
		if f, ok := textFloat(of.text); ok {
			if v, err := truncate(f); err == nil {
				return v, nil
			}
		}
	}
	return otherwise, nil
}

func toFloat(of Value, c *call) (Value, error) {
	otherwise, ok := c.argument(0, "default")
	if !ok {
		otherwise = FloatValue(0)
	}
	switch {
	case of.kind == Undefined:
		return Value{}, undefinedError("a value that is absent is not a number")
	case of.isNumber():
		return FloatValue(of.number()), nil
	case of.kind == String:
		if f, ok := textFloat(of.text); ok {
			return FloatValue(f), nil
		}
	}
	return otherwise, nil
}

func toList(of Value, c *call) (Value, error) {
	items, err := iterate(of)
	if err != nil {
		return Value{}, err
	}
	return listOf(slices.Clone(items), plainList), c.frame.step(len(items) / 16)
}

func itemsFilter(of Value, c *call) (Value, error) {
	if of.kind == Undefined {
		return listOf(nil, generator), nil
	}
	if of.kind != Object {
		return Value{}, typeError("items needs an object")
	}
	return viewOf(itemsView)(of, c)
}

func joinFilter(of Value, c *call) (Value, error) {
	separator := ""
	if v, ok := c.argument(0, "d"); ok {
		var err error
		if separator, err = c.frame.text(v); err != nil {
			return Value{}, err
		}
	}
	items, err := iterate(of)
	if err != nil {
		return Value{}, err
	}
	name, byMember := c.argument(1, "attribute")
	var b []byte
	for i, item := range items {
		if err := c.frame.step(1); err != nil {
			return Value{}, err
		}
		if i > 0 {
			b = append(b, separator...)
		}
		if byMember {
			if item, err = memberPath(item, name, Value{}); err != nil {
				return Value{}, err
			}
		}
		if b, err = c.frame.appendText(b, item); err != nil {
			return Value{}, err
		}
	}
	return sized(string(b))
}

func replaceFilter(of Value, c *call) (Value, error) {
	var texts [3]string
	for i, v := range []Value{of, c.required(0, "old"), c.required(1, "new")} {
		text, err := c.frame.text(v)
		if err != nil {
			return Value{}, err
		}
		texts[i] = text
	}
	most := -1
	if limit, ok := c.argument(2, "count"); ok && limit.isInteger() {
		most = int(limit.num)
	}
	return replaceBounded(texts[0], texts[1], texts[2], most)
}

func trim(of Value, c *call) (Value, error) {
	text, err := c.frame.text(of)
	if err != nil {
		return Value{}, err
	}
	if chars, ok := c.argument(0, "chars"); ok && chars.kind == String {
		return StringValue(strings.Trim(text, chars.text)), nil
	}
	return StringValue(strings.TrimFunc(text, unicode.IsSpace)), nil
}

func urlEncode(of Value, c *call) (Value, error) {
	if of.kind != Array && of.kind != Object && of.kind != Undefined {
		text, err := c.frame.text(of)
		if err != nil {
			return Value{}, err
		}
		return sized(escapeURL(text, "/"))
	}
	pairs, err := iterate(of)
	if err != nil {
		return Value{}, err
	}
	var parts []string
	size := 0
	for _, pair := range pairs {
		both := []Value{pair}
		if of.kind == Object {
			key, _ := encodeKey(pair)
			value, _ := of.ref.(*members).find(key)
			both = append(both, value)
		} else if both, err = iterate(pair); err != nil {
			return Value{}, err
		}
		if len(both) != 2 {
			return Value{}, valueError("urlencode needs pairs")
		}
		var texts [2]string
		for i := range both {
			text, err := c.frame.text(both[i])
			if err != nil {
				return Value{}, err
			}
			texts[i] = strings.ReplaceAll(escapeURL(text, ""), "%20", "+")
		}
		parts = append(parts, texts[0]+"="+texts[1])
		if size += len(texts[0]) + len(texts[1]) + 2; size > MaxResult {
			return Value{}, errResult
		}
	}
	return sized(strings.Join(parts, "&"))
}

func round(of Value, c *call) (Value, error) {
	precision, _ := c.argument(0, "precision")
	switch {
	case of.isInteger():
		return Value{kind: Int, num: of.num, text: of.text}, nil
	case of.kind != Float:
		return Value{}, typeError("%s is not a number", article(of.kind))
	}
	digits := int(precision.num)
	if digits < 0 || digits > 300 {
		return Value{}, valueError("the precision must be between 0 and 300")
	}
	f, _ := strconv.ParseFloat(strconv.FormatFloat(of.float(), 'f', digits, 64), 64)
	return FloatValue(f), nil
}

func extremeItem(of Value, c *call, direction int) (Value, error) {
	items, err := iterate(of)
	if err != nil || len(items) == 0 {
		return Value{}, err
	}
	return extreme(&call{frame: c.frame, args: []Value{listOf(items, plainList)}}, direction)
}
