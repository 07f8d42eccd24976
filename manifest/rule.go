package manifest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// fieldRule contains the constraints of a single field. It is parsed from the struct tag of the same name, a
// comma-separated list of
//
//	required         the key must be present
//	min=N, max=N     limits of a number, or of a list's length
//	unique           a list repeats no value
//	object           raw JSON is an object
//	pattern=NAME     a string, or each string of a list, matches patterns[NAME]
//
// For lists, pattern applies to the elements and the other words to the list.
type fieldRule struct {
	required bool
	min      int
	max      int // 0: no upper limit
	unique   bool
	object   bool
	pattern  *stringPattern
}

// stringPattern is a regular expression that a string must match, and its description.
type stringPattern struct {
	re  *regexp.Regexp
	fix string
}

var patterns = map[string]*stringPattern{
	"key": {
		regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`),
		"use at most 64 lower-case letters, digits, underscores and hyphens, beginning with a letter",
	},
	"stream": {
		regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`),
		"use at most 64 lower-case letters, digits and underscores, beginning with a letter",
	},
	"env": {
		regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`),
		"use upper-case letters, digits and underscores, beginning with a letter",
	},
	"host": {
		regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`),
		"give the bare name of a host in lower case, such as example.com",
	},
	"web": {regexp.MustCompile(`^https?://\S+$`), "give a full http or https address"},
}

// nonBlank applies to every string without a pattern.
var nonBlank = stringPattern{regexp.MustCompile(`\S`), "set a value or remove the key"}

var (
	rawType        = reflect.TypeFor[json.RawMessage]()
	primaryKeyType = reflect.TypeFor[PrimaryKey]()
	searchType     = reflect.TypeFor[Search]()
	variableType   = reflect.TypeFor[EnvironmentVariable]()
	pathsType      = reflect.TypeFor[LocalPaths]()
	homeType       = reflect.TypeFor[homePaths]()
)

// closedObjects report unknown keys as problems instead of warnings.
var closedObjects = map[reflect.Type]bool{reflect.TypeFor[RefreshPolicy](): true}

// documentField is one key of an object of the document.
type documentField struct {
	name  string
	index int // index of the struct field
	rule  fieldRule
	doc   string
}

// manifestFields are the keys of every struct type in a manifest.
var manifestFields = fieldsWithin(map[reflect.Type][]documentField{}, reflect.TypeFor[Manifest]())

// fieldsWithin adds t and the types that it contains to known.
func fieldsWithin(known map[reflect.Type][]documentField, t reflect.Type) map[reflect.Type][]documentField {
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

// fieldsOf returns the keys of a struct type in order of declaration. Callers must not change the list.
func fieldsOf(t reflect.Type) []documentField {
	if fields, known := manifestFields[t]; known {
		return fields
	}
	return readFields(t)
}

func readFields(t reflect.Type) []documentField {
	fields := make([]documentField, t.NumField())
	for i := range fields {
		tag := t.Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		fields[i] = documentField{name: name, index: i, rule: parseRule(tag.Get("rule")), doc: tag.Get("doc")}
	}
	return fields
}

// parseRule panics on an invalid tag. Every test of the package would detect that.
func parseRule(tag string) fieldRule {
	var r fieldRule
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

// limits describes the numbers that the rule allows.
func (r fieldRule) limits() string {
	if r.max > 0 {
		return fmt.Sprintf("use a whole number from %d to %d", r.min, r.max)
	}
	return fmt.Sprintf("use a whole number of at least %d", r.min)
}

func (r fieldRule) allows(n int64) bool {
	return n >= int64(r.min) && (r.max == 0 || n <= int64(r.max))
}
