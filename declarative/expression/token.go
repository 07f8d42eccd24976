package expression

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	endToken      tokenKind = iota
	dataToken               // text outside of braces
	printToken              // {{
	blockToken              // {%
	closeToken              // }} or %}
	nameToken               // an identifier or keyword
	stringToken             // a quoted text, decoded
	intToken                // an integer
	floatToken              // a number with a fraction or exponent
	operatorToken           // an operator or bracket
)

// token is a part of a template's source.
type token struct {
	kind  tokenKind
	text  string
	value Value // of intToken and floatToken
	at    int
}

func (t token) is(kind tokenKind, text string) bool { return t.kind == kind && t.text == text }

func (t token) String() string {
	switch t.kind {
	case endToken:
		return "the end of the template"
	case closeToken:
		return "the end of the braces"
	}
	return strconv.Quote(t.text)
}

// lexer splits a template into tokens.
type lexer struct {
	source string
	at     int
	tokens []token
}

// tokenize returns the tokens of a template, with an endToken at the end.
func tokenize(source string) ([]token, error) {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	source = strings.TrimSuffix(source, "\n")
	l := &lexer{source: source}
	trim := false
	for l.at < len(l.source) {
		open := l.nextOpening()
		data := l.source[l.at:open]
		if trim {
			data = strings.TrimLeftFunc(data, unicode.IsSpace)
		}
		trimBefore := open+2 < len(l.source) && l.source[open+2] == '-'
		if trimBefore {
			data = strings.TrimRightFunc(data, unicode.IsSpace)
		}
		if data != "" {
			l.add(dataToken, data)
		}
		l.at = open
		if open == len(l.source) {
			break
		}
		var err error
		if trim, err = l.braces(trimBefore); err != nil {
			return nil, err
		}
	}
	l.add(endToken, "")
	return l.tokens, nil
}

// nextOpening returns the position of the next opening braces, or the end.
func (l *lexer) nextOpening() int {
	for i := l.at; i+1 < len(l.source); i++ {
		if l.source[i] == '{' {
			switch l.source[i+1] {
			case '{', '%', '#':
				return i
			}
		}
	}
	return len(l.source)
}

func (l *lexer) add(kind tokenKind, text string) {
	l.tokens = append(l.tokens, token{kind: kind, text: text, at: l.at})
}

func (l *lexer) errorf(at int, format string, args ...any) error {
	return &SyntaxError{Offset: at, Message: fmt.Sprintf(format, args...)}
}

// braces reads {{ }}, {% %} or {# #}. It reports whether the white space that follows is dropped.
func (l *lexer) braces(signed bool) (bool, error) {
	start, kind := l.at, l.source[l.at+1]
	if kind == '#' {
		return l.comment()
	}
	if kind == '{' {
		l.add(printToken, "{{")
	} else {
		l.add(blockToken, "{%")
	}
	l.at += 2
	if signed || l.at < len(l.source) && l.source[l.at] == '+' && kind == '%' {
		l.at++
	}
	closing := "}}"
	if kind == '%' {
		closing = "%}"
	}
	var open []byte
	for {
		l.at += len(l.source[l.at:]) - len(strings.TrimLeftFunc(l.source[l.at:], unicode.IsSpace))
		rest := l.source[l.at:]
		if rest == "" {
			return false, l.errorf(start, "the braces are never closed; end them with %s", closing)
		}
		if len(open) == 0 {
			for _, mark := range []string{"-", "+", ""} {
				if strings.HasPrefix(rest, mark+closing) && (mark != "+" || kind == '%') {
					l.add(closeToken, closing)
					l.at += len(mark) + 2
					return mark == "-", nil
				}
			}
		}
		var err error
		if open, err = l.inner(rest, open); err != nil {
			return false, err
		}
	}
}

func (l *lexer) comment() (bool, error) {
	end := strings.Index(l.source[l.at+2:], "#}")
	if end < 0 {
		return false, l.errorf(l.at, "the comment is never closed; end it with #}")
	}
	body := l.source[l.at+2 : l.at+2+end]
	l.at += end + 4
	return strings.HasSuffix(body, "-"), nil
}

// inner reads one token inside braces. Open holds the closing brackets that are awaited.
func (l *lexer) inner(rest string, open []byte) ([]byte, error) {
	c := rest[0]
	switch {
	case c == '\'' || c == '"':
		return open, l.quoted(rest, c)
	case c >= '0' && c <= '9':
		return open, l.number(rest)
	}
	if r, _ := utf8.DecodeRuneInString(rest); r == '_' || unicode.IsLetter(r) {
		end := strings.IndexFunc(rest, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		if end < 0 {
			end = len(rest)
		}
		l.add(nameToken, rest[:end])
		l.at += end
		return open, nil
	}
	for _, operator := range operators {
		if !strings.HasPrefix(rest, operator) {
			continue
		}
		switch operator {
		case "(":
			open = append(open, ')')
		case "[":
			open = append(open, ']')
		case "{":
			open = append(open, '}')
		case ")", "]", "}":
			if len(open) == 0 || open[len(open)-1] != operator[0] {
				return open, l.errorf(l.at, "unexpected %q; remove it or add the bracket that opens it", operator)
			}
			open = open[:len(open)-1]
		}
		l.add(operatorToken, operator)
		l.at += len(operator)
		return open, nil
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return open, l.errorf(l.at, "unexpected character %q", r)
}

// operators are the operators, the longest first.
var operators = []string{"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}",
	">", "<", "=", ".", ":", "|", ",", ";"}

// number reads an integer or float.
func (l *lexer) number(rest string) error {
	if len(rest) > 2 && rest[0] == '0' && strings.ContainsRune("xXoObB", rune(rest[1])) {
		end := 2
		for end < len(rest) && (isHex(rest[end]) || rest[end] == '_') {
			end++
		}
		n, err := strconv.ParseInt(rest[:end], 0, 64)
		if err != nil {
			return l.errorf(l.at, "%q is not a number", rest[:end])
		}
		return l.addNumber(intToken, rest[:end], IntValue(n))
	}
	end := digitsEnd(rest, 0)
	kind := intToken
	if fraction := digitsEnd(rest, end+1); end < len(rest) && rest[end] == '.' && fraction > end+1 {
		kind, end = floatToken, fraction
	}
	if end < len(rest) && (rest[end] == 'e' || rest[end] == 'E') {
		sign := end + 1
		if sign < len(rest) && (rest[sign] == '+' || rest[sign] == '-') {
			sign++
		}
		if exponent := digitsEnd(rest, sign); exponent > sign {
			kind, end = floatToken, exponent
		}
	}
	text := strings.ReplaceAll(rest[:end], "_", "")
	if kind == floatToken {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && f == 0 {
			return l.errorf(l.at, "%q is not a number", text)
		}
		return l.addNumber(kind, rest[:end], FloatValue(f))
	}
	if zeros := strings.TrimLeft(text, "0"); zeros != text && zeros != "" {
		// A zero is a number of its own, as in the original, and the digits after it are the next token.
		end = len(text) - len(zeros)
		text = "0"
	}
	v, _ := digitsValue(text)
	return l.addNumber(intToken, rest[:end], v)
}

func (l *lexer) addNumber(kind tokenKind, text string, v Value) error {
	l.tokens = append(l.tokens, token{kind: kind, text: text, value: v, at: l.at})
	l.at += len(text)
	return nil
}

// digitsEnd returns the end of the digits that start at from. Single underscores between digits belong to them.
func digitsEnd(text string, from int) int {
	i := from
	for i < len(text) {
		switch {
		case text[i] >= '0' && text[i] <= '9':
			i++
		case text[i] == '_' && i > from && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			i++
		default:
			return i
		}
	}
	return i
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// quoted reads a quoted text.
func (l *lexer) quoted(rest string, quote byte) error {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case quote:
			text, ok := unescape(rest[1:i])
			if !ok {
				return l.errorf(l.at, "the text has an escape that is not supported")
			}
			l.add(stringToken, text)
			l.at += i + 1
			return nil
		}
	}
	return l.errorf(l.at, "the text is never closed; end it with %c", quote)
}

// simpleEscapes are the escapes of one character.
var simpleEscapes = map[byte]byte{'\\': '\\', '\'': '\'', '"': '"', 'a': 7, 'b': 8, 'f': 12, 'n': 10, 'r': 13, 't': 9,
	'v': 11}

// unescape decodes the escapes of a Python text. An unknown escape keeps its backslash.
func unescape(text string) (string, bool) {
	if !strings.Contains(text, "\\") {
		return text, true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if plain, ok := simpleEscapes[c]; ok {
			b.WriteByte(plain)
			continue
		}
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		switch {
		case c == '\n':
		case digits > 0:
			if i+digits >= len(text) {
				return "", false
			}
			n, err := strconv.ParseUint(text[i+1:i+1+digits], 16, 32)
			if err != nil || n > unicode.MaxRune {
				return "", false
			}
			b.WriteRune(rune(n))
			i += digits
		case c == 'N':
			return "", false
		case c >= '0' && c <= '7':
			end := i + 1
			for end < len(text) && end < i+3 && text[end] >= '0' && text[end] <= '7' {
				end++
			}
			n, _ := strconv.ParseUint(text[i:end], 8, 32)
			b.WriteRune(rune(n))
			i = end - 1
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String(), true
}
