package expression

import (
	"slices"
	"strings"
	"unicode"
)

// methodFunc is a method of a value.
type methodFunc func(of Value, c *call) (Value, error)

// methods are the methods by kind. A nil method exists in the original and is not supported: its name hides a member.
var methods = map[Kind]map[string]methodFunc{
	String: {
		"split": split, "rsplit": nil, "join": join, "replace": replace, "strip": strip(true, true),
		"lstrip": strip(true, false), "rstrip": strip(false, true), "lower": mapText(strings.ToLower),
		"upper": mapText(strings.ToUpper), "title": mapText(titleCase), "capitalize": mapText(capitalize),
		"startswith": affix(strings.HasPrefix), "endswith": affix(strings.HasSuffix), "count": countIn,
		"find": findIn, "index": indexIn, "format": formatBraces, "zfill": zeroFill, "splitlines": splitLines,
		"isdigit": everyRune(unicode.IsDigit), "isalpha": everyRune(unicode.IsLetter), "removeprefix": nil,
		"removesuffix": nil, "rfind": nil, "rindex": nil, "casefold": nil, "center": nil, "encode": nil,
		"expandtabs": nil, "format_map": nil, "isalnum": nil, "isascii": nil, "isdecimal": nil, "isidentifier": nil,
		"islower": nil, "isnumeric": nil, "isprintable": nil, "isspace": nil, "istitle": nil, "isupper": nil,
		"ljust": nil, "maketrans": nil, "partition": nil, "rjust": nil, "rpartition": nil, "swapcase": nil,
		"translate": nil,
	},
	Array: {
		"append": appendItem, "extend": extendList, "index": indexOf, "count": countOf, "pop": nil, "insert": nil,
		"remove": nil, "reverse": nil, "sort": nil, "clear": nil, "copy": nil,
	},
	Object: {
		"get": getMember, "items": viewOf(itemsView), "keys": viewOf(keysView), "values": viewOf(valuesView),
		"update": updateObject, "pop": popMember, "copy": copyObject, "setdefault": nil, "clear": nil, "popitem": nil,
		"fromkeys": nil,
	},
	dateTime: {
		"strftime": formatTimeMethod, "isoformat": isoFormat, "timestamp": timestampMethod, "date": dateOf,
		"weekday": weekdayOf(0), "isoweekday": weekdayOf(1), "replace": replaceTime, "time": nil, "astimezone": nil,
		"utcoffset": nil, "timetuple": nil, "ctime": nil, "isocalendar": nil, "toordinal": nil, "tzname": nil,
	},
	date: {
		"strftime": formatTimeMethod, "isoformat": isoFormat, "weekday": weekdayOf(0), "isoweekday": weekdayOf(1),
		"replace": replaceTime, "ctime": nil, "isocalendar": nil, "toordinal": nil, "timetuple": nil,
	},
	span: {"total_seconds": totalSeconds},
}

// methodNames are the names of all supported methods.
var methodNames = func() map[string]bool {
	names := map[string]bool{}
	for _, ofKind := range methods {
		for name, m := range ofKind {
			names[name] = names[name] || m != nil
		}
	}
	return names
}()

func methodOf(k Kind, name string) methodFunc { return methods[k][name] }

// isMethod reports whether the original has a method of the name, supported here or not.
func isMethod(k Kind, name string) bool {
	_, ok := methods[k][name]
	return ok
}

// text returns argument i if it is a text.
func (c *call) text(i int, name string) (string, error) {
	v, ok := c.argument(i, name)
	if !ok || v.kind != String {
		return "", typeError("the argument %s must be a text", name)
	}
	return v.text, nil
}

func (c *call) textValues(parts []string) (Value, error) {
	if err := c.frame.step(len(parts)); err != nil {
		return Value{}, err
	}
	items := make([]Value, len(parts))
	for i, part := range parts {
		items[i] = StringValue(part)
	}
	return listOf(items, plainList), nil
}

func split(of Value, c *call) (Value, error) {
	separator, ok := c.argument(0, "sep")
	most := -1
	if limit, ok := c.argument(1, "maxsplit"); ok {
		if !limit.isInteger() {
			return Value{}, typeError("the number of splits must be an integer")
		}
		if limit.num >= 0 {
			most = int(limit.num) + 1
		}
	}
	switch {
	case !ok || separator.kind == Null:
		parts := strings.Fields(of.text)
		if most > 0 && len(parts) > most {
			parts = limitedFields(of.text, most)
		}
		return c.textValues(parts)
	case separator.kind != String:
		return Value{}, typeError("the separator must be a text")
	case separator.text == "":
		return Value{}, valueError("the separator is empty")
	}
	return c.textValues(strings.SplitN(of.text, separator.text, most))
}

func limitedFields(text string, most int) []string {
	var parts []string
	for len(parts) < most-1 {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		end := strings.IndexFunc(text, unicode.IsSpace)
		parts, text = append(parts, text[:end]), text[end:]
	}
	return append(parts, strings.TrimLeftFunc(text, unicode.IsSpace))
}

func splitLines(of Value, c *call) (Value, error) {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(of.text)
	if text == "" {
		return c.textValues(nil)
	}
	return c.textValues(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
}

func join(of Value, c *call) (Value, error) {
	if len(c.args) != 1 {
		return Value{}, typeError("join needs one list")
	}
	if c.args[0].kind == Undefined {
		return StringValue(""), nil
	}
	items, err := iterate(c.args[0])
	if err != nil {
		return Value{}, err
	}
	if err := c.frame.step(len(items)); err != nil {
		return Value{}, err
	}
	parts := make([]string, len(items))
	size := 0
	for i, item := range items {
		if item.kind != String {
			return Value{}, typeError("join needs texts, not %s", article(item.kind))
		}
		parts[i] = item.text
		size += len(item.text) + len(of.text)
	}
	if size > MaxResult+len(of.text) {
		return Value{}, errResult
	}
	return sized(strings.Join(parts, of.text))
}

func replace(of Value, c *call) (Value, error) {
	from, err := c.text(0, "old")
	if err != nil {
		return Value{}, err
	}
	to, err := c.text(1, "new")
	if err != nil {
		return Value{}, err
	}
	most := -1
	if limit, ok := c.argument(2, "count"); ok && limit.isInteger() {
		most = int(limit.num)
	}
	return replaceBounded(of.text, from, to, most)
}

func replaceBounded(text, from, to string, most int) (Value, error) {
	if count := strings.Count(text, from); len(text)+count*max(len(to)-len(from), 0) > MaxResult {
		return Value{}, errResult
	}
	return sized(strings.Replace(text, from, to, most))
}

func strip(left, right bool) methodFunc {
	return func(of Value, c *call) (Value, error) {
		cut := unicode.IsSpace
		if chars, ok := c.argument(0, "chars"); ok && chars.kind != Null {
			if chars.kind != String {
				return Value{}, typeError("the characters must be a text")
			}
			cut = func(r rune) bool { return strings.ContainsRune(chars.text, r) }
		}
		text := of.text
		if left {
			text = strings.TrimLeftFunc(text, cut)
		}
		if right {
			text = strings.TrimRightFunc(text, cut)
		}
		return StringValue(text), nil
	}
}

func mapText(f func(string) string) methodFunc {
	return func(of Value, c *call) (Value, error) {
		if len(c.args) > 0 {
			return Value{}, typeError("the method has no arguments")
		}
		return sized(f(of.text))
	}
}

func capitalize(text string) string {
	for i, r := range text {
		if i == 0 {
			return string(unicode.ToTitle(r)) + strings.ToLower(text[len(string(r)):])
		}
	}
	return text
}

func titleCase(text string) string {
	var b strings.Builder
	inside := false
	for _, r := range text {
		if inside {
			b.WriteRune(unicode.ToLower(r))
		} else {
			b.WriteRune(unicode.ToTitle(r))
		}
		inside = unicode.IsLetter(r)
	}
	return b.String()
}

func affix(has func(string, string) bool) methodFunc {
	return func(of Value, c *call) (Value, error) {
		v, ok := c.argument(0, "")
		switch {
		case ok && v.kind == String:
			return BoolValue(has(of.text, v.text)), nil
		case ok && v.kind == Array && v.ref.(*list).form == tuple:
			for _, item := range v.ref.(*list).items {
				if item.kind != String {
					return Value{}, typeError("the beginning or end must be a text")
				}
				if has(of.text, item.text) {
					return BoolValue(true), nil
				}
			}
			return BoolValue(false), nil
		}
		return Value{}, typeError("the beginning or end must be a text")
	}
}

func everyRune(is func(rune) bool) methodFunc {
	return func(of Value, c *call) (Value, error) {
		return BoolValue(of.text != "" && strings.IndexFunc(of.text, func(r rune) bool { return !is(r) }) < 0), nil
	}
}

func countIn(of Value, c *call) (Value, error) {
	part, err := c.text(0, "sub")
	if err != nil {
		return Value{}, err
	}
	return IntValue(int64(strings.Count(of.text, part))), nil
}

func findIn(of Value, c *call) (Value, error) {
	part, err := c.text(0, "sub")
	if err != nil {
		return Value{}, err
	}
	at := strings.Index(of.text, part)
	if at > 0 {
		at = len([]rune(of.text[:at]))
	}
	return IntValue(int64(at)), nil
}

func indexIn(of Value, c *call) (Value, error) {
	v, err := findIn(of, c)
	if err == nil && v.num < 0 {
		return Value{}, valueError("the text is not found")
	}
	return v, err
}

func zeroFill(of Value, c *call) (Value, error) {
	width, ok := c.argument(0, "width")
	if !ok || !width.isInteger() {
		return Value{}, typeError("zfill needs a width")
	}
	if width.text != "" || width.num > MaxResult {
		return Value{}, errResult
	}
	text, mark := of.text, ""
	if text != "" && (text[0] == '-' || text[0] == '+') {
		mark, text = text[:1], text[1:]
	}
	missing := int(width.num) - len([]rune(of.text))
	if missing <= 0 {
		return of, nil
	}
	return sized(mark + strings.Repeat("0", missing) + text)
}

// formatBraces evaluates '{} {0} {name}'.format(...). Conversions and format specifications are not supported.
func formatBraces(of Value, c *call) (Value, error) {
	var b []byte
	next := 0
	text := of.text
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "{{"), strings.HasPrefix(text[i:], "}}"):
			b = append(b, text[i])
			i++
		case text[i] == '}':
			return Value{}, valueError("the format has a } without {")
		case text[i] == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return Value{}, valueError("the format has a { without }")
			}
			v, err := c.field(text[i+1:i+end], &next)
			if err != nil {
				return Value{}, err
			}
			if b, err = c.frame.appendText(b, v); err != nil {
				return Value{}, err
			}
			i += end
		default:
			b = append(b, text[i])
		}
	}
	return sized(string(b))
}

func (c *call) field(name string, next *int) (Value, error) {
	at := -1
	switch n, isNumber := digitsValue(name); {
	case name == "":
		at = *next
		*next++
	case isNumber:
		at = int(n.num)
	case strings.ContainsAny(name, ":!.["):
		return Value{}, valueError("the format {%s} is not supported", name)
	default:
		i := slices.Index(c.names, name)
		if i < 0 {
			return Value{}, valueError("the format has no value %q", name)
		}
		return c.named[i], nil
	}
	if at < 0 || at >= len(c.args) {
		return Value{}, valueError("the format has more places than values")
	}
	return c.args[at], nil
}
