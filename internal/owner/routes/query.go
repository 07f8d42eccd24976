package routes

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// queryOf reads the parameters of an address. It refuses those that the address does not
// know: one that is misspelt would otherwise give an answer to another question.
func queryOf(r *http.Request, known ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, api.Invalid("", "The part of the address after the question mark cannot be read.", "Escape it as a query.")
	}
	for name, values := range q {
		_, filter := filterField(name)
		if !slices.Contains(known, name) && !(filter && slices.Contains(known, "filter")) {
			return nil, api.Invalid(name, "This address does not take that parameter.", "Leave it out.")
		}
		if len(values) > 1 {
			return nil, api.Invalid(name, "That parameter is given more than once.", "Give it once.")
		}
	}
	return q, nil
}

// filterField gives the field of a parameter like filter[author].
func filterField(name string) (string, bool) {
	rest, is := strings.CutPrefix(name, "filter[")
	if !is {
		return "", false
	}
	return strings.CutSuffix(rest, "]")
}

func filters(q url.Values) map[string]string {
	var where map[string]string
	for name := range q {
		field, is := filterField(name)
		if _, compared := api.CutComparison(field); is && !compared {
			if where == nil {
				where = map[string]string{}
			}
			where[field] = q.Get(name)
		}
	}
	return where
}

// comparisons are the parameters like filter[amount][gte].
func comparisons(q url.Values) api.Comparisons {
	var all api.Comparisons
	for name := range q {
		field, is := filterField(name)
		if by, compared := api.CutComparison(field); is && compared {
			if all == nil {
				all = api.Comparisons{}
			}
			all[by] = q.Get(name)
		}
	}
	return all
}

// number reads a parameter that counts; zero when it is not given.
func number(q url.Values, name string) (int64, error) {
	text := q.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, api.Invalid(name, "That is not a number from 0 upwards.", "Give a whole number, or leave it out.")
	}
	return n, nil
}

func limit(q url.Values) (int, error) {
	n, err := number(q, "limit")
	return int(min(n, 1<<30)), err
}

// oneOf reads a parameter with few values; the first is what it is when not given.
func oneOf(q url.Values, name string, values ...string) (string, error) {
	got := q.Get(name)
	switch {
	case got == "":
		return values[0], nil
	case slices.Contains(values, got):
		return got, nil
	}
	return "", api.Invalid(name, "That value is not known here.", "Use one of: "+strings.Join(values, ", ")+".")
}

// id is the thing that an address names.
func id(r *http.Request) string { return r.PathValue("id") }
