package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// rule is the part of a field's contract that concerns the field alone. It is
// read from the struct tag of the same name, a comma-separated list of
//
//	required         the key must be there
//	min=N, max=N     limits of a number, or of a list's length
//	unique           a list repeats no value
//	object           raw JSON is an object
//	pattern=NAME     a string, or each one of a list, matches patterns[NAME]
//
// Lists apply pattern to their elements and the other words to themselves.
type rule struct {
	required bool
	min      int
	max      int // 0: no upper limit
	unique   bool
	object   bool
	pattern  *pattern
}

// pattern is a spelling that a string must have, and how to say so.
type pattern struct {
	re   *regexp.Regexp
	mend string
}

var patterns = map[string]*pattern{
	"key":    {regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`), "use at most 64 lower-case letters, digits, underscores and hyphens, beginning with a letter"},
	"stream": {regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`), "use at most 64 lower-case letters, digits and underscores, beginning with a letter"},
	"env":    {regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`), "use upper-case letters, digits and underscores, beginning with a letter"},
	"host":   {regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`), "give the bare name of a host in lower case, such as example.com"},
	"web":    {regexp.MustCompile(`^https?://\S+$`), "give a full http or https address"},
}

// nonBlank is what every string without a pattern matches.
var nonBlank = pattern{regexp.MustCompile(`\S`), "give it a value or leave the key out"}

var (
	rawType        = reflect.TypeFor[json.RawMessage]()
	primaryKeyType = reflect.TypeFor[PrimaryKey]()
	searchType     = reflect.TypeFor[Search]()
	variableType   = reflect.TypeFor[EnvironmentVariable]()
	pathsType      = reflect.TypeFor[LocalPaths]()
	homeType       = reflect.TypeFor[homePaths]()
)

// closed are the objects whose unknown keys are faults rather than warnings.
var closed = map[reflect.Type]bool{reflect.TypeFor[RefreshPolicy](): true}

// field is one key of an object of the document.
type field struct {
	name  string
	index int // of the struct field
	rule  rule
	doc   string
}

// manifestFields are the keys of every struct type that a manifest is made of.
var manifestFields = fieldsWithin(map[reflect.Type][]field{}, reflect.TypeFor[Manifest]())

// fieldsWithin adds the types that one is made of to those that are known.
func fieldsWithin(known map[reflect.Type][]field, t reflect.Type) map[reflect.Type][]field {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return fieldsWithin(known, t.Elem())
	case reflect.Struct:
		if known[t] == nil {
			known[t] = readFields(t)
			for i := range t.NumField() {
				fieldsWithin(known, t.Field(i).Type)
			}
		}
	}
	return known
}

// fieldsOf lists the keys of a struct type in the order of declaration. Nobody changes the list.
func fieldsOf(t reflect.Type) []field {
	if fields, known := manifestFields[t]; known {
		return fields
	}
	return readFields(t)
}

func readFields(t reflect.Type) []field {
	fields := make([]field, t.NumField())
	for i := range fields {
		tag := t.Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		fields[i] = field{name: name, index: i, rule: parseRule(tag.Get("rule")), doc: tag.Get("doc")}
	}
	return fields
}

// parseRule panics on a misspelt tag, which any test of the package meets.
func parseRule(tag string) rule {
	var r rule
	if tag == "" {
		return r
	}
	for word := range strings.SplitSeq(tag, ",") {
		name, arg, _ := strings.Cut(word, "=")
		switch name {
		case "required":
			r.required = true
		case "unique":
			r.unique = true
		case "object":
			r.object = true
		case "min":
			r.min = mustInt(arg)
		case "max":
			r.max = mustInt(arg)
		case "pattern":
			if r.pattern = patterns[arg]; r.pattern == nil {
				panic("manifest: no pattern " + arg)
			}
		default:
			panic("manifest: no rule " + word)
		}
	}
	return r
}

func mustInt(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("manifest: rule with bad number " + s)
	}
	return n
}

// limits says in words which numbers the rule allows.
func (r rule) limits() string {
	if r.max > 0 {
		return fmt.Sprintf("use a whole number from %d to %d", r.min, r.max)
	}
	return fmt.Sprintf("use a whole number of at least %d", r.min)
}

func (r rule) allows(n int64) bool {
	return n >= int64(r.min) && (r.max == 0 || n <= int64(r.max))
}
