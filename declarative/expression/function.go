package expression

import (
	"fmt"
	"strings"
	"unicode"
)

// signature names the arguments of a function or filter.
type signature struct {
	names    []string
	required int
	open     bool // any arguments
}

// function is a function of the language.
type function struct {
	signature
	run func(c *call) (Value, error)
}

// filter is a filter of the language.
type filter struct {
	signature
	run func(of Value, c *call) (Value, error)
}

func needs(required int, names ...string) signature {
	return signature{names: names, required: required}
}

var anyArguments = signature{open: true}

// functions are the functions of the language.
var functions = map[string]*function{
	"now_utc": {needs(0), func(c *call) (Value, error) { return awareMoment(c.frame.context.Now.UTC()), nil }},
	"today_utc": {needs(0), func(c *call) (Value, error) {
		return dateValue(c.frame.context.Now.UTC()), nil
	}},
	"today_with_timezone":      {needs(1, "timezone"), todayInZone},
	"day_delta":                {needs(1, "num_days", "format"), dayDelta},
	"duration":                 {needs(1, "datestring"), durationOf},
	"format_datetime":          {needs(2, "dt", "format", "input_format"), formatDatetime},
	"str_to_datetime":          {needs(1, "s"), strToDatetime},
	"timestamp":                {needs(1, "dt"), timestampOf},
	"max":                      {anyArguments, func(c *call) (Value, error) { return extreme(c, 1) }},
	"min":                      {anyArguments, func(c *call) (Value, error) { return extreme(c, -1) }},
	"sanitize_url":             {needs(1, "value"), sanitizeURL},
	"camel_case_to_snake_case": {needs(1, "value"), snakeCase},
	"generate_uuid":            {needs(0), generateID},
	"namespace":                {anyArguments, newNamespace},
	"dict":                     {anyArguments, newDict},
}

// required returns an argument that the parser has checked to be there.
func (c *call) required(i int, name string) Value {
	v, _ := c.argument(i, name)
	return v
}

func todayInZone(c *call) (Value, error) {
	name := c.required(0, "timezone")
	if name.kind == Undefined {
		return Value{}, undefinedError("a time zone that is absent has no date")
	}
	if c.frame.context.Zone == nil || name.kind != String {
		return Value{}, valueError("there is no time zone %s here", Literal(name))
	}
	zone, err := c.frame.context.Zone(name.text)
	if err != nil {
		return Value{}, valueError("there is no time zone %q", name.text)
	}
	return dateValue(c.frame.context.Now.In(zone)), nil
}

func dayDelta(c *call) (Value, error) {
	days := c.required(0, "num_days")
	layout, ok := c.argument(1, "format")
	if !ok {
		layout = StringValue("%Y-%m-%dT%H:%M:%S.%f%z")
	}
	if days.kind == Undefined {
		return Value{}, typeError("day_delta needs a number")
	}
	if !days.isNumber() || layout.kind != String {
		return Value{}, typeError("day_delta needs a number and a format")
	}
	delta, _, err := scaleSpan("*", &duration{micros: microsPerDay}, days)
	if err != nil {
		return Value{}, err
	}
	shifted, err := shift(awareMoment(c.frame.context.Now.UTC()), delta.ref.(*duration), false)
	if err != nil {
		return Value{}, err
	}
	text, err := strftime(shifted.ref.(*moment), false, layout.text)
	return StringValue(text), err
}

func durationOf(c *call) (Value, error) {
	text := c.required(0, "datestring")
	if text.kind != String {
		return Value{}, typeError("duration needs a text such as 'P1D'")
	}
	d, err := parseDuration(text.text)
	if err != nil {
		return Value{}, err
	}
	return d.value(), nil
}

func formatDatetime(c *call) (Value, error) {
	of, layout := c.required(0, "dt"), c.required(1, "format")
	reading, given := c.argument(2, "input_format")
	given = given && reading.truth()
	if layout.kind != String {
		return Value{}, typeError("format_datetime needs a format")
	}
	if of.kind == dateTime {
		text, err := strftime(of.ref.(*moment), false, layout.text)
		return StringValue(text), err
	}
	m, err := readDatetime(of, reading, given)
	if err != nil {
		return Value{}, err
	}
	m.aware = true
	text, err := formatMoment(m, layout.text)
	return StringValue(text), err
}

// readDatetime reads the time of a text or an integer for format_datetime.
func readDatetime(of, reading Value, given bool) (*moment, error) {
	switch {
	case of.isInteger():
		format := "%s"
		if given {
			format = reading.text
		}
		t, err := ParseTime(printText(Value{kind: Int, num: of.num, text: of.text}), format)
		return &moment{time: t, aware: true}, err
	case given && of.kind == String && reading.kind == String:
		return strptime(of.text, reading.text)
	case given:
		return nil, typeError("format_datetime needs a text, not %s", article(of.kind))
	}
	return isoMoment(of)
}

func isoMoment(v Value) (*moment, error) {
	switch v.kind {
	case String:
		return parseISO(v.text)
	case Undefined:
		return nil, undefinedError("a time that is absent cannot be read")
	case Array, Object:
		if v.Len() < 4 { // the original takes the list for a text that is too short
			return nil, valueError("%s is not a text with a time", article(v.kind))
		}
	}
	return nil, typeError("%s is not a text with a time", article(v.kind))
}

func strToDatetime(c *call) (Value, error) {
	m, err := isoMoment(c.required(0, "s"))
	if err != nil {
		return Value{}, err
	}
	return m.value(), nil
}

func timestampOf(c *call) (Value, error) {
	v := c.required(0, "dt")
	if v.isNumber() {
		if v.kind == Float {
			return truncate(v.float())
		}
		return Value{kind: Int, num: v.num, text: v.text}, nil
	}
	m, err := isoMoment(v)
	if err != nil {
		return Value{}, err
	}
	return FloatValue(m.seconds()), nil
}

// extreme returns the greatest (direction 1) or least (-1) argument, or item of the one argument.
func extreme(c *call, direction int) (Value, error) {
	items := c.args
	switch len(items) {
	case 0:
		return Value{}, typeError("max and min need an argument")
	case 1:
		var err error
		if items, err = iterate(items[0]); err != nil {
			return Value{}, err
		}
		if len(items) == 0 {
			return Value{}, valueError("max and min need a list that is not empty")
		}
	}
	best := items[0]
	for _, item := range items[1:] {
		if err := c.frame.step(1); err != nil {
			return Value{}, err
		}
		n, comparable, err := order(item, best)
		if err != nil {
			return Value{}, err
		}
		if comparable && n*direction > 0 {
			best = item
		}
	}
	return best, nil
}

func sanitizeURL(c *call) (Value, error) {
	v := c.required(0, "value")
	if v.kind != String {
		return Value{}, typeError("sanitize_url needs a text")
	}
	return sized(strings.ReplaceAll(escapeURL(v.text, " "), " ", "+"))
}

// escapeURL escapes everything but letters, digits, _.-~ and the characters of safe.
func escapeURL(text, safe string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; isWordByte(c) || strings.IndexByte(".-~", c) >= 0 || strings.IndexByte(safe, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func snakeCase(c *call) (Value, error) {
	v := c.required(0, "value")
	if v.kind != String {
		return Value{}, typeError("camel_case_to_snake_case needs a text")
	}
	var b strings.Builder
	for i, r := range v.text {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return sized(b.String())
}

func generateID(c *call) (Value, error) {
	if c.frame.context.NewID == nil {
		return Value{}, valueError("generate_uuid has no value here")
	}
	return StringValue(c.frame.context.NewID()), nil
}

func newNamespace(c *call) (Value, error) {
	v, err := newDict(c)
	return Value{kind: namespace, ref: v.ref}, err
}

func newDict(c *call) (Value, error) {
	m := &members{owned: true}
	if len(c.args) == 1 && c.args[0].kind == Object {
		m = c.args[0].ref.(*members).copy()
	} else if len(c.args) > 0 {
		return Value{}, typeError("dict needs an object or named arguments")
	}
	for i, name := range c.names {
		m.put(name, c.named[i])
	}
	return Value{kind: Object, ref: m}, nil
}
