package readapi

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

const (
	defaultLimit = 25
	maxLimit     = 100
	maxFilters   = 10
	maxFields    = 200
	maxValue     = 1024
	maxText      = 256
)

// beginning is the value of changes_since that asks for everything.
const beginning = "beginning"

// query is what the address asks for. A route allows some of it.
type query struct {
	connection string
	stream     string // of a search; other routes have it in their path
	text       string
	limit      int
	cursor     string
	newest     bool
	fields     []string
	where      []store.FieldValue // by field
	compare    []store.Comparison // by field and operator; their kind is the view's
	sum        store.AggregateQuery
	changes    bool
	since      string // where the changes begin; empty for all
	expand     []string
	// expandLimit is how many records of each relationship are wanted; zero means the usual number.
	expandLimit int
}

// parseQuery reads the query of an address strictly. It rejects unknown parameters instead of ignoring them: an ignored
// limit would return more than requested.
func parseQuery(r *http.Request, allowed ...string) (query, error) {
	q := query{limit: defaultLimit}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, invalidRequest("", "The query of the address cannot be read.", "Encode it as form data.")
	}
	for name, given := range values {
		word, field, _ := strings.Cut(name, "[")
		if !slices.Contains(allowed, word) || (word == "filter") != strings.HasSuffix(name, "]") || word != "filter" &&
			word != name {
			return q, invalidRequest(boundedName(name), "This address does not know the parameter.", "Leave it out.")
		}
		if len(given) != 1 {
			return q, invalidRequest(boundedName(name), "The parameter is given more than once.", "Give it once.")
		}
		if err := q.set(word, strings.TrimSuffix(field, "]"), given[0]); err != nil {
			return q, err
		}
	}
	if q.expandLimit > 0 && len(q.expand) == 0 {
		return q, invalidRequest("expand_limit", "It is not said what to expand.", "Name relationships with expand.")
	}
	if q.changes && len(q.expand) > 0 {
		return q, invalidRequest("expand", "Changes are not expanded.", "Leave it out.")
	}
	if q.changes && (q.cursor != "" || q.newest || len(q.where)+len(q.compare) > 0) {
		return q, invalidRequest("changes_since", "Changes come in their own order, unfiltered.",
			"Leave cursor, order and filters out.")
	}
	slices.SortFunc(q.where, func(a, b store.FieldValue) int { return cmp.Compare(a.Field, b.Field) })
	slices.SortFunc(q.compare, func(a, b store.Comparison) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Op, b.Op))
	})
	return q, nil
}

// set stores the value of a parameter. Field is the part in brackets of a filter.
func (q *query) set(name, field, value string) error {
	switch name {
	case "filter":
		return q.setFilter(field, value)
	case "limit", "cursor", "order", "changes_since":
		return q.setPaging(name, value)
	case "metric", "field", "group_by", "granularity", "groups":
		return q.setAggregate(name, value)
	default:
		return q.setSelection(name, value)
	}
}

func (q *query) setSelection(name, value string) (err error) {
	switch name {
	case "connection_id":
		if q.connection = value; value == "" || len(value) > maxValue {
			return invalidRequest(name, "The connection is empty or too long.", "Use a connection_id of GET /v1/streams.")
		}
	case "stream":
		if q.stream = value; value == "" || len(value) > maxValue {
			return invalidRequest(name, "The stream is empty or too long.", "Use a name of GET /v1/streams.")
		}
	case "q":
		if q.text = strings.TrimSpace(value); q.text == "" || len(value) > maxText {
			return invalidRequest(name, "The words to search for are missing or too many.", "Search for a few words.")
		}
	case "fields":
		if q.fields = strings.Split(value, ","); len(q.fields) > maxFields || slices.Contains(q.fields, "") {
			return invalidRequest(name, "The list of fields is empty, has a blank or is too long.", "Write fields=a,b.")
		}
	case "expand":
		q.expand = strings.Split(value, ",")
		if len(q.expand) > maxExpansions || slices.Contains(q.expand, "") ||
			len(slices.Compact(slices.Sorted(slices.Values(q.expand)))) < len(q.expand) {
			return invalidRequest(name, "The list of relationships is empty, has a blank, one of them twice or too many.",
				"Write expand=a,b with at most 5 names.")
		}
	case "expand_limit":
		q.expandLimit, err = parseNumber(value, maxLimit, invalidRequest(name, "The limit is not a number from 1 to 100.",
			"Leave it out for as many as the stream declares."))
	}
	return err
}

func (q *query) setPaging(name, value string) (err error) {
	switch name {
	case "limit":
		q.limit, err = parseNumber(value, maxLimit, invalidRequest(name, "The limit is not a number from 1 to 100.",
			"Leave it out for 25."))
	case "cursor":
		if q.cursor = value; value == "" {
			return grants.Refused(grants.CodeInvalidCursor, name, "The cursor is empty.", "Leave it out to begin.")
		}
	case "order":
		if value != "asc" && value != "desc" {
			return invalidRequest(name, "The order is neither asc nor desc.", "Leave it out for asc.")
		}
		q.newest = value == "desc"
	case "changes_since":
		if q.changes = true; value == "" {
			return invalidRequest(name, "It is not said since when.", "Begin with changes_since="+beginning+".")
		}
		if value != beginning {
			q.since = value
		}
	}
	return err
}

func (q *query) setFilter(field, value string) error {
	field, op, compared := manifest.CutOperator(field)
	if field == "" || len(value) > maxValue || len(q.where)+len(q.compare) == maxFilters {
		return invalidRequest("filter", "A filter has no field or too long a value, or there are too many.",
			"Write filter[field]=value, or filter[field][gte]=value.")
	}
	if compared {
		q.compare = append(q.compare, store.Comparison{Field: field, Op: op, Value: value})
	} else {
		q.where = append(q.where, store.FieldValue{Field: field, Value: value})
	}
	return nil
}

func (q *query) setAggregate(name, value string) (err error) {
	switch name {
	case "metric":
		q.sum.Metric = store.Metric(value)
	case "field":
		q.sum.Field = value
	case "group_by":
		q.sum.GroupBy = value
	case "granularity":
		q.sum.Granularity = store.Granularity(value)
	case "groups":
		q.sum.Limit, err = parseNumber(value, store.MaxGroups,
			invalidRequest(name, "The number of groups is not one from 1 to 1000.",
				"Leave it out for 100."))
	}
	return err
}

// parseNumber parses an integer from 1 to most. It returns invalid for any other text.
func parseNumber(text string, most int, invalid error) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, invalid
	}
	return n, nil
}

// check validates the fields of a query against the views. An unknown field and an ungranted field return different
// errors. The error for an ungranted field reveals nothing else.
func (q *query) check(views []grants.StreamView) error {
	for _, v := range views {
		for _, f := range q.fields {
			if err := checkReadable(v, f, "fields", v.Has(f)); err != nil {
				return err
			}
		}
		for _, w := range q.where {
			if err := checkReadable(v, w.Field, "filter", v.Filters(w.Field)); err != nil {
				return err
			}
		}
		if _, err := q.comparisons(v); err != nil {
			return err
		}
	}
	return nil
}

// comparisons are those of the query as a view's stream declares them.
func (q *query) comparisons(v grants.StreamView) ([]store.Comparison, error) {
	made := make([]store.Comparison, len(q.compare))
	for i, c := range q.compare {
		var why *store.InvalidQuery
		made[i], why = v.Comparison(c.Field, c.Op, c.Value)
		if err := checkDeclared(v, why, c.Field); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// checkDeclared returns an error for a question that the stream does not allow, and another for a field that was not
// granted. The latter reveals nothing else.
func checkDeclared(v grants.StreamView, why *store.InvalidQuery, fields ...string) error {
	for _, f := range fields {
		if err := checkReadable(v, f, "filter", why == nil || !why.Undeclared || v.Has(f)); f != "" && err != nil {
			return err
		}
	}
	switch {
	case why == nil:
		return nil
	case why.Undeclared:
		return grants.Refused(grants.CodeUnknownField, why.Param, why.Message, why.Next)
	}
	return invalidRequest(why.Param, why.Message, why.Next)
}

func checkReadable(v grants.StreamView, field, param string, possible bool) error {
	switch {
	case !v.Shows(field) && (possible || v.Has(field)):
		return grants.Refused(grants.CodeInsufficientScope, param, "The grant does not cover one of the fields.",
			"Use fields that GET /v1/schema shows.")
	case !possible:
		return grants.Refused(grants.CodeUnknownField, param, "A field is not there, or cannot be used here.",
			"Use fields that GET /v1/schema shows.")
	}
	return nil
}

func invalidRequest(param, message, next string) error {
	return grants.Refused(grants.CodeInvalidRequest, param, message, next)
}

// boundedName returns the name of a client's parameter, bounded.
func boundedName(name string) string { return text.Cut(strings.ToValidUTF8(name, "?"), 40) }
