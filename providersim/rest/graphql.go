package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Connection is a list of a GraphQL schema. It gets the arguments of its field.
type Connection func(arguments url.Values) (Object, Answer)

// AnswerQuery answers a query of GraphQL that is sent by POST, with the members of root that the query selects and no
// others. It knows names, arguments, variables and nested selections. A query that it cannot read, an unknown member,
// an object without a selection and a selection of something else are refused as BadParameter.
func (s *Service) AnswerQuery(r *http.Request, root Object) Answer {
	var body struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		return s.Refuse(r, BadParameter, "query")
	}
	q := &graphQuery{words: graphWord.FindAllString(body.Query, -1), variables: body.Variables}
	if q.next("query") { // its name and the declaration of variables
		for len(q.words) > 0 && q.words[0] != "{" {
			q.words = q.words[1:]
		}
	}
	data := q.object(root)
	switch {
	case q.refusal.Status != 0:
		return q.refusal
	case q.problem != "" || len(q.words) > 0:
		return s.Refuse(r, BadParameter, q.problem)
	}
	return OK(Object{"data": data})
}

var graphWord = regexp.MustCompile(`[$\w]+|"[^"]*"|[^\s,\w]`)

// graphQuery is what is left of a query.
type graphQuery struct {
	words     []string
	variables map[string]any
	problem   string
	refusal   Answer
}

func (q *graphQuery) next(word string) bool {
	if len(q.words) == 0 || q.words[0] != word {
		return false
	}
	q.words = q.words[1:]
	return true
}

// object returns the selected members of an object.
func (q *graphQuery) object(o Object) Object {
	out := Object{}
	if !q.next("{") {
		q.problem = "a selection is missing"
	}
	for q.problem == "" && q.refusal.Status == 0 && !q.next("}") {
		if len(q.words) == 0 {
			q.problem = "the query ends early"
			return out
		}
		name := q.words[0]
		q.words = q.words[1:]
		value, known := o[name]
		if !known {
			q.problem = fmt.Sprintf("Cannot query field %q", name)
		}
		out[name] = q.value(value, q.arguments())
	}
	return out
}

// value returns what the query selects of a value.
func (q *graphQuery) value(value any, arguments url.Values) any {
	selected := len(q.words) > 0 && q.words[0] == "{"
	switch v := value.(type) {
	case Connection:
		list, refusal := v(arguments)
		if q.refusal = refusal; refusal.Status != 0 {
			return nil
		}
		return q.object(list)
	case Object:
		return q.object(v)
	case []Object:
		words, out := q.words, []Object{}
		for _, o := range v {
			q.words = words
			out = append(out, q.object(o))
		}
		if len(v) == 0 {
			q.skip()
		}
		return out
	case nil:
		if selected {
			q.skip()
		}
		return nil
	}
	if selected {
		q.problem = "a selection of a value"
	}
	return value
}

// skip passes over a selection of something that does not exist.
func (q *graphQuery) skip() {
	for depth := 0; len(q.words) > 0; {
		word := q.words[0]
		q.words = q.words[1:]
		if word == "{" {
			depth++
		} else if word == "}" {
			if depth--; depth == 0 {
				return
			}
		}
	}
}

// arguments reads the arguments of a field. An object stays the words that it is written with.
func (q *graphQuery) arguments() url.Values {
	out := url.Values{}
	if !q.next("(") {
		return out
	}
	name, depth := "", 0
	for len(q.words) > 0 {
		word := q.words[0]
		q.words = q.words[1:]
		depth += strings.Count("{[", word) - strings.Count("}]", word)
		switch {
		case word == ")" && depth == 0:
			return out
		case depth == 0 && len(q.words) > 0 && q.words[0] == ":":
			name = word
			q.words = q.words[1:]
		case strings.HasPrefix(word, "$"):
			if v := q.variables[word[1:]]; v != nil {
				out.Set(name, fmt.Sprint(v))
			}
		default:
			out.Set(name, strings.TrimSpace(out.Get(name)+" "+strings.Trim(word, `"`)))
		}
	}
	q.problem = "arguments do not end"
	return out
}
