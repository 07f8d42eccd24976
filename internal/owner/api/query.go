package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fields of a query have a tag like query:"limit". One for a text or for true and false may list
// its values: query:"order,desc,asc". The first is what an absent parameter means.

// queryField is the parameter of a field.
type queryField struct {
	name  string // filter for the two maps of conditions
	words []string
	value reflect.Value
}

func queryFields(query reflect.Value) []queryField {
	var fields []queryField
	for i := range query.NumField() {
		tag := query.Type().Field(i).Tag
		text := tag.Get("query")
		if text == "" {
			text, _, _ = strings.Cut(tag.Get("json"), ",")
		}
		if text == "" {
			continue
		}
		name, list, _ := strings.Cut(text, ",")
		f := queryField{name: name, value: query.Field(i)}
		switch {
		case list != "":
			f.words = strings.Split(list, ",")
		case f.value.Kind() == reflect.Bool:
			f.words = []string{"false", "true"}
		}
		fields = append(fields, f)
	}
	return fields
}

// ReadQuery reads the parameters of a request into a struct. It rejects parameters that the struct does not have,
// because ignoring a misspelt parameter would return the wrong result.
func ReadQuery(r *http.Request, into any) error {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return Invalid("", "The part of the address after the question mark cannot be read.", "Escape it as a query.")
	}
	fields := queryFields(reflect.ValueOf(into).Elem())
	for name, values := range given {
		known := name
		if _, filter := filterField(name); filter {
			known = "filter"
		}
		if !slices.ContainsFunc(fields, func(f queryField) bool { return f.name == known }) {
			return Invalid(name, "This address does not take that parameter.", "Leave it out.")
		}
		if len(values) > 1 {
			return Invalid(name, "That parameter occurs more than once.", "Use it once.")
		}
	}
	for _, f := range fields {
		if err := f.read(given); err != nil {
			return err
		}
	}
	return nil
}

func (f queryField) read(given url.Values) error {
	text := given.Get(f.name)
	switch into := f.value.Addr().Interface().(type) {
	case *map[string]string:
		*into = equalities(given)
		return nil
	case *Comparisons:
		*into = comparisons(given)
		return nil
	case *time.Time:
		at, ok := ParseMoment(text)
		if text != "" && !ok {
			return Invalid(f.name, "That is not a time.", "Use one like 2026-03-04T05:06:07Z, or a date like 2026-03-04.")
		}
		*into = at
		return nil
	case **time.Time:
		if text == "" {
			return nil
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return Invalid(f.name, "That is not a time.", "Write it like 2026-03-04T05:06:07Z.")
		}
		*into = &at
		return nil
	case *[]string:
		if text != "" && json.Unmarshal([]byte(text), into) != nil {
			return Invalid(f.name, "That is not a list of "+f.name+".", `Write it as JSON, like ["a1","a2"].`)
		}
		return nil
	}
	return f.readScalar(text)
}

func (f queryField) readScalar(text string) error {
	if f.words != nil {
		if text == "" {
			text = f.words[0]
		}
		if !slices.Contains(f.words, text) {
			return Invalid(f.name, "That value is not known here.", "Use one of: "+strings.Join(f.words, ", ")+".")
		}
	}
	switch f.value.Kind() {
	case reflect.String:
		f.value.SetString(text)
	case reflect.Bool:
		f.value.SetBool(text == f.words[1])
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if text != "" && (err != nil || n < 0) {
			return Invalid(f.name, "That is not a number from 0 upwards.", "Give a whole number, or leave it out.")
		}
		if f.value.Kind() == reflect.Int {
			n = min(n, 1<<30)
		}
		f.value.SetInt(n)
	}
	return nil
}

// writeQuery returns the parameters of a struct; those with a zero value are left out.
func writeQuery(query reflect.Value) (url.Values, error) {
	values := url.Values{}
	for _, f := range queryFields(query) {
		if f.value.IsZero() {
			continue
		}
		switch value := f.value.Interface().(type) {
		case map[string]string:
			for field, text := range value {
				values.Set("filter["+field+"]", text)
			}
		case Comparisons:
			for by, text := range value {
				values.Set("filter["+by.Field+"]["+by.Operator+"]", text)
			}
		case time.Time:
			values.Set(f.name, value.UTC().Format(time.RFC3339Nano))
		case *time.Time:
			values.Set(f.name, value.UTC().Format(time.RFC3339Nano))
		case []string:
			text, err := json.Marshal(value)
			if err != nil {
				return nil, err
			}
			values.Set(f.name, string(text))
		case bool:
			values.Set(f.name, f.words[1])
		case string:
			values.Set(f.name, value)
		default:
			values.Set(f.name, strconv.FormatInt(f.value.Int(), 10))
		}
	}
	return values, nil
}

// filterField returns the field of a parameter like filter[author].
func filterField(name string) (string, bool) {
	rest, is := strings.CutPrefix(name, "filter[")
	if !is {
		return "", false
	}
	return strings.CutSuffix(rest, "]")
}

// equalities returns the parameters like filter[author]; nil when there is none.
func equalities(given url.Values) map[string]string {
	var all map[string]string
	for name := range given {
		field, is := filterField(name)
		if _, compared := CutComparison(field); is && !compared {
			if all == nil {
				all = map[string]string{}
			}
			all[field] = given.Get(name)
		}
	}
	return all
}

// comparisons returns the parameters like filter[amount][gte]; nil when there is none.
func comparisons(given url.Values) Comparisons {
	var all Comparisons
	for name := range given {
		field, is := filterField(name)
		if by, compared := CutComparison(field); is && compared {
			if all == nil {
				all = Comparisons{}
			}
			all[by] = given.Get(name)
		}
	}
	return all
}
