package expression

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"regexp"
	"slices"
	"strings"
)

// hashes are the hash functions of the hash filter.
var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224,
	"sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}

func hashText(of Value, c *call) (Value, error) {
	name := "md5"
	if v, ok := c.argument(0, "hash_type"); ok {
		name = v.text
	}
	newHash, ok := hashes[name]
	if !ok {
		return Value{}, valueError("there is no hash %q; use md5, sha1, sha256 or sha512", name)
	}
	text, err := c.frame.text(of)
	if err != nil {
		return Value{}, err
	}
	if salt, ok := c.argument(1, "salt"); ok && salt.truth() {
		added, err := c.frame.text(salt)
		if err != nil {
			return Value{}, err
		}
		text += added
	}
	h := newHash()
	h.Write([]byte(text))
	return StringValue(hex.EncodeToString(h.Sum(nil))), nil
}

func authenticate(of Value, c *call) (Value, error) {
	if name, ok := c.argument(1, "hash_type"); ok && name.text != "sha256" {
		return Value{}, valueError("hmac has the hash sha256 only")
	}
	key, err := c.frame.text(c.required(0, "key"))
	if err != nil {
		return Value{}, err
	}
	text, err := c.frame.text(of)
	if err != nil {
		return Value{}, err
	}
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(text))
	return StringValue(hex.EncodeToString(h.Sum(nil))), nil
}

// textOf returns the text that an encoding needs.
func textOf(v Value) (string, error) {
	switch v.kind {
	case String:
		return v.text, nil
	case Undefined:
		return "", undefinedError("a value that is absent has no text")
	}
	return "", valueError("%s is not a text", article(v.kind))
}

func base64Encode(of Value, _ *call) (Value, error) {
	text, err := textOf(of)
	if err != nil {
		return Value{}, err
	}
	return sized(base64.StdEncoding.EncodeToString([]byte(text)))
}

func base64Decode(of Value, _ *call) (Value, error) {
	text, err := textOf(of)
	if err != nil {
		return Value{}, err
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return Value{}, valueError("the text is not base64")
	}
	return StringValue(string(decoded)), nil
}

// pattern returns the regular expression of a call, compiled once if it is a literal.
func (c *call) pattern() (*regexp.Regexp, error) {
	if c.regexp != nil {
		return c.regexp, nil
	}
	source, err := c.text(0, "regex")
	if err != nil {
		return nil, err
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return nil, valueError("the regular expression %q is not supported", source)
	}
	return compiled, nil
}

// searched returns the text that a regular expression is applied to.
func searched(v Value) (string, error) {
	if v.kind != String {
		return "", typeError("a regular expression needs a text, not %s", article(v.kind))
	}
	return v.text, nil
}

func regexSearch(of Value, c *call) (Value, error) {
	pattern, err := c.pattern()
	if err != nil {
		return Value{}, err
	}
	text, err := searched(of)
	if err != nil {
		return Value{}, err
	}
	found := pattern.FindStringSubmatchIndex(text)
	switch {
	case len(found) < 4:
		return StringValue(""), nil
	case found[2] < 0:
		return None, nil
	}
	return StringValue(text[found[2]:found[3]]), nil
}

var groupReference = regexp.MustCompile(`\\(\d|g<\w+>)`)

func regexReplace(of Value, c *call) (Value, error) {
	pattern, err := c.pattern()
	if err != nil {
		return Value{}, err
	}
	text, err := searched(of)
	if err != nil {
		return Value{}, err
	}
	replacement, err := c.text(1, "replacement")
	if err != nil {
		return Value{}, err
	}
	replacement = groupReference.ReplaceAllStringFunc(strings.ReplaceAll(replacement, "$", "$$"), func(s string) string {
		return "${" + strings.Trim(s, `\g<>`) + "}"
	})
	var b []byte
	from := 0
	for _, found := range pattern.FindAllStringSubmatchIndex(text, -1) {
		b = append(b, text[from:found[0]]...)
		b = pattern.ExpandString(b, replacement, text, found)
		from = found[1]
		if len(b) > MaxResult {
			return Value{}, errResult
		}
	}
	return sized(string(append(b, text[from:]...)))
}

// toString leaves a text as it is and turns everything else into a JSON text in quotes, which is read back as a text.
func toString(of Value, c *call) (Value, error) {
	if of.kind == String {
		return of, nil
	}
	w := jsonWriter{}
	w.write(of)
	if w.problem != nil {
		return Value{}, w.problem
	}
	return sized(`"""` + string(w.out) + `"""`)
}

// htmlSafe escapes what tojson must not print in a page.
var htmlSafe = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`)

func toJSON(of Value, c *call) (Value, error) {
	w := jsonWriter{sorted: true}
	w.write(of)
	if w.problem != nil {
		return Value{}, w.problem
	}
	return sized(htmlSafe.Replace(string(w.out)))
}

// jsonWriter writes JSON as Python does: with spaces after separators, and only ASCII.
type jsonWriter struct {
	out     []byte
	sorted  bool
	problem error
}

func (w *jsonWriter) write(v Value) {
	if len(w.out) > MaxResult {
		w.problem = errResult
	}
	if w.problem != nil {
		return
	}
	switch v.kind {
	case Null:
		w.out = append(w.out, "null"...)
	case Bool:
		w.out = append(w.out, strings.ToLower(printText(v))...)
	case Int:
		w.out = append(w.out, printText(v)...)
	case Float:
		w.out = append(w.out, strings.NewReplacer("nan", "NaN", "inf", "Infinity").Replace(printText(v))...)
	case String:
		w.quote(v.text)
	case Array:
		w.list(v.ref.(*list))
	case Object:
		w.object(v)
	default:
		w.problem = typeError("%s is not part of JSON", article(v.kind))
	}
}

func (w *jsonWriter) list(l *list) {
	if l.form > tuple {
		w.problem = typeError("this list is not part of JSON")
		return
	}
	w.out = append(w.out, '[')
	for i, item := range l.items {
		if i > 0 {
			w.out = append(w.out, ", "...)
		}
		w.write(item)
	}
	w.out = append(w.out, ']')
}

func (w *jsonWriter) object(v Value) {
	type pair struct {
		name  string
		value Value
	}
	var pairs []pair
	v.Each(func(name string, member Value) bool {
		pairs = append(pairs, pair{name, member})
		return true
	})
	if w.sorted {
		slices.SortStableFunc(pairs, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	}
	w.out = append(w.out, '{')
	for i, p := range pairs {
		if i > 0 {
			w.out = append(w.out, ", "...)
		}
		w.quote(p.name)
		w.out = append(w.out, ": "...)
		w.write(p.value)
	}
	w.out = append(w.out, '}')
}

func (w *jsonWriter) quote(text string) {
	w.out = append(w.out, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			w.out = append(w.out, '\\', byte(r))
		case r == '\n':
			w.out = append(w.out, `\n`...)
		case r == '\r':
			w.out = append(w.out, `\r`...)
		case r == '\t':
			w.out = append(w.out, `\t`...)
		case r == '\b':
			w.out = append(w.out, `\b`...)
		case r == '\f':
			w.out = append(w.out, `\f`...)
		case r >= ' ' && r < 0x7f:
			w.out = append(w.out, byte(r))
		case r > 0xffff:
			w.out = fmt.Appendf(w.out, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			w.out = fmt.Appendf(w.out, `\u%04x`, r)
		}
	}
	w.out = append(w.out, '"')
}
