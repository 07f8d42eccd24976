package expression

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Print returns v as the language prints it: None, True, 1.0, ['a'], {'b': 2}. An absent value prints as nothing.
func Print(v Value) string { return printText(v) }

// Literal returns v as a literal of the language. In contrast to Print, a text has quotes.
func Literal(v Value) string {
	p := printer{}
	p.print(v, true)
	return string(p.out)
}

func printText(v Value) string {
	if v.kind == String {
		return v.text
	}
	p := printer{}
	p.print(v, false)
	return string(p.out)
}

// printer prints values. It stops when the text exceeds the bound.
type printer struct {
	out     []byte
	problem error
	depth   int
}

func (p *printer) print(v Value, quoted bool) {
	if p.problem != nil {
		return
	}
	switch v.kind {
	case Undefined:
		if quoted {
			p.out = append(p.out, "Undefined"...)
		}
	case Null:
		p.out = append(p.out, "None"...)
	case Bool:
		if v.num != 0 {
			p.out = append(p.out, "True"...)
		} else {
			p.out = append(p.out, "False"...)
		}
	case Int:
		if v.text != "" {
			p.out = append(p.out, v.text...)
		} else {
			p.out = strconv.AppendInt(p.out, v.num, 10)
		}
	case Float:
		p.out = appendFloat(p.out, v.float())
	case String:
		if quoted {
			p.out = appendLiteral(p.out, v.text)
		} else {
			p.out = append(p.out, v.text...)
		}
	case Array:
		p.list(v.ref.(*list))
	case Object:
		p.members(v.ref.(*members))
	case dateTime, date:
		m := v.ref.(*moment)
		if quoted {
			p.out = append(p.out, m.literal(v.kind == date)...)
		} else {
			p.out = append(p.out, m.String(v.kind == date)...)
		}
	case span:
		p.out = append(p.out, v.ref.(*duration).print(quoted)...)
	default:
		p.problem = valueError("%s cannot be printed; call it with ()", article(v.kind))
	}
	if len(p.out) > MaxResult {
		p.problem = errResult
	}
}

var listBrackets = map[form][2]string{plainList: {"[", "]"}, tuple: {"(", ")"}, set: {"{", "}"},
	keysView: {"dict_keys([", "])"}, valuesView: {"dict_values([", "])"}, itemsView: {"dict_items([", "])"}}

func (p *printer) list(l *list) {
	if l.form == generator {
		p.problem = valueError("a lazy list cannot be printed; add | list")
		return
	}
	if l.form == set && len(l.items) == 0 {
		p.out = append(p.out, "set()"...)
		return
	}
	if p.depth++; p.depth > maxNesting*10 {
		p.problem = errResult
		return
	}
	brackets := listBrackets[l.form]
	p.out = append(p.out, brackets[0]...)
	for i, item := range l.items {
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		if p.print(item, true); p.problem != nil {
			return
		}
	}
	if l.form == tuple && len(l.items) == 1 {
		p.out = append(p.out, ',')
	}
	p.out = append(p.out, brackets[1]...)
	p.depth--
}

func (p *printer) members(m *members) {
	m.expand()
	if p.depth++; p.depth > maxNesting*10 {
		p.problem = errResult
		return
	}
	p.out = append(p.out, '{')
	for i, key := range m.keys {
		if i > 0 {
			p.out = append(p.out, ", "...)
		}
		p.print(decodeKey(key), true)
		p.out = append(p.out, ": "...)
		if p.print(m.values[i], true); p.problem != nil {
			return
		}
	}
	p.out = append(p.out, '}')
	p.depth--
}

// appendFloat appends the shortest text that reads back as f, with a point or an exponent.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	}
	if size := math.Abs(f); f == 0 || size >= 1e-4 && size < 1e16 {
		start := len(b)
		b = strconv.AppendFloat(b, f, 'f', -1, 64)
		if !strings.Contains(string(b[start:]), ".") {
			b = append(b, ".0"...)
		}
		return b
	}
	return strconv.AppendFloat(b, f, 'e', -1, 64)
}

// appendLiteral appends a text in quotes, with escapes for what cannot be printed.
func appendLiteral(b []byte, text string) []byte {
	quote := byte('\'')
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = '"'
	}
	b = append(b, quote)
	for _, r := range text {
		switch {
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r <= 0xff:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
	}
	return append(b, quote)
}

// formatPercent evaluates text % values.
func formatPercent(f *frame, layout string, values Value) (Value, error) {
	args := []Value{values}
	if values.kind == Array && values.ref.(*list).form == tuple {
		args = values.ref.(*list).items
	}
	var b []byte
	used := 0
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' {
			b = append(b, layout[i])
			continue
		}
		end := i + 1
		for end < len(layout) && strings.IndexByte("0123456789-+ .#", layout[end]) >= 0 {
			end++
		}
		if end == len(layout) {
			return Value{}, valueError("the format ends inside a directive")
		}
		flags, verb := layout[i+1:end], layout[end]
		i = end
		if verb == '%' {
			b = append(b, '%')
			continue
		}
		if used >= len(args) {
			return Value{}, typeError("the format has more directives than values")
		}
		piece, err := formatDirective(f, flags, verb, args[used])
		if err != nil {
			return Value{}, err
		}
		used++
		b = append(b, piece...)
	}
	isTuple := values.kind == Array && values.ref.(*list).form == tuple
	if used < len(args) && (isTuple || values.kind != Object && values.kind != Array && values.kind != Undefined) {
		return Value{}, typeError("the format has fewer directives than values")
	}
	return sized(string(b))
}

func formatDirective(f *frame, flags string, verb byte, v Value) (string, error) {
	if len(flags) > 6 {
		return "", valueError("the width of a directive is too large")
	}
	switch verb {
	case 's', 'r':
		if verb == 'r' {
			return fmt.Sprintf("%"+flags+"s", Literal(v)), nil
		}
		text, err := f.text(v)
		return fmt.Sprintf("%"+flags+"s", text), err
	case 'd', 'i', 'x', 'X', 'o':
		if !v.isNumber() || v.kind == Float && verb != 'd' && verb != 'i' {
			return "", typeError("%%%c needs a number, not %s", verb, article(v.kind))
		}
		if verb == 'i' {
			verb = 'd'
		}
		if v.kind == Float {
			whole, err := truncate(v.float())
			if err != nil {
				return "", err
			}
			v = whole
		}
		return fmt.Sprintf("%"+flags+string(verb), v.bigInt()), nil
	case 'f', 'F', 'e', 'E', 'g', 'G':
		if !v.isNumber() {
			return "", typeError("%%%c needs a number, not %s", verb, article(v.kind))
		}
		return fmt.Sprintf("%"+flags+string(verb), v.number()), nil
	}
	return "", valueError("the directive %%%c is not supported", verb)
}
