package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
)

// Arguments of the tools.
type (
	connectionArguments struct {
		Connection string `json:"connection_id,omitempty" jsonschema:"only of this connection"`
	}
	streamArguments struct {
		Stream     string `json:"stream" jsonschema:"name of the stream, from list_streams"`
		Connection string `json:"connection_id,omitempty" jsonschema:"only of this connection"`
	}
	searchArguments struct {
		Words      string `json:"words" jsonschema:"all of these words must occur"`
		Stream     string `json:"stream,omitempty" jsonschema:"only of this stream"`
		Connection string `json:"connection_id,omitempty" jsonschema:"only of this connection"`
		Limit      int    `json:"limit,omitempty" jsonschema:"at most this many records, up to 25"`
		Cursor     string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
	}
	filterArgument struct {
		Field string `json:"field" jsonschema:"one of the fields that describe_stream lists for filters or comparisons"`
		Op    string `json:"op,omitempty" jsonschema:"eq (the default), gt, gte, lt or lte"`
		Value any    `json:"value" jsonschema:"a text, number or time like 2026-06-01T00:00:00Z"`
	}
	recordsArguments struct {
		Stream     string           `json:"stream" jsonschema:"name of the stream, from list_streams"`
		Connection string           `json:"connection_id,omitempty" jsonschema:"only of this connection"`
		Filters    []filterArgument `json:"filters,omitempty" jsonschema:"all of them must hold"`
		Fields     []string         `json:"fields,omitempty" jsonschema:"only these fields"`
		Order      string           `json:"order,omitempty" jsonschema:"desc (newest change first) or asc"`
		Limit      int              `json:"limit,omitempty" jsonschema:"at most this many records, up to 25"`
		Cursor     string           `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
	}
	aggregateArguments struct {
		Stream      string           `json:"stream" jsonschema:"name of the stream, from list_streams"`
		Connection  string           `json:"connection_id,omitempty" jsonschema:"only of this connection"`
		Metric      string           `json:"metric,omitempty" jsonschema:"count (default), count_distinct, sum, min, max"`
		Field       string           `json:"field,omitempty" jsonschema:"what is summed up; not for count"`
		GroupBy     string           `json:"group_by,omitempty" jsonschema:"the field to group by"`
		Granularity string           `json:"granularity,omitempty" jsonschema:"day, month or year, for a time in group_by"`
		Filters     []filterArgument `json:"filters,omitempty" jsonschema:"all of them must hold"`
		Groups      int              `json:"groups,omitempty" jsonschema:"at most this many groups, up to 100"`
	}
	changesArguments struct {
		Stream     string `json:"stream" jsonschema:"name of the stream, from list_streams"`
		Connection string `json:"connection_id,omitempty" jsonschema:"only of this connection"`
		Since      string `json:"since,omitempty" jsonschema:"next of the answer before; leave it out for everything"`
		Limit      int    `json:"limit,omitempty" jsonschema:"at most this many changes, up to 25"`
	}
)

// Answers of the tools.
type (
	recordsAnswer struct {
		Records  []record   `json:"records"`
		HasMore  bool       `json:"has_more"`
		Next     string     `json:"next_cursor,omitempty"`
		Coverage []Coverage `json:"coverage"`
		Missing  []Missing  `json:"missing,omitempty"`
	}
	aggregateAnswer struct {
		Totals   []total    `json:"totals" jsonschema:"one for each connection"`
		Coverage []Coverage `json:"coverage"`
		Missing  []Missing  `json:"missing,omitempty"`
	}
	total struct {
		Connection string     `json:"connection_id"`
		Stream     string     `json:"stream"`
		Groups     []keyValue `json:"groups"`
		Truncated  bool       `json:"truncated" jsonschema:"there are more groups"`
	}
	keyValue struct {
		Key   *string         `json:"key" jsonschema:"null without a group, or for records without a value"`
		Value json.RawMessage `json:"value"`
	}
	change struct {
		Connection string                     `json:"connection_id"`
		Stream     string                     `json:"stream"`
		ID         string                     `json:"id"`
		Deleted    bool                       `json:"deleted"`
		Data       map[string]json.RawMessage `json:"data,omitempty"`
		Cut        []cutField                 `json:"cut,omitempty"`
	}
	changesAnswer struct {
		Changes  []change   `json:"changes"`
		HasMore  bool       `json:"has_more"`
		Next     string     `json:"next" jsonschema:"since for the call after this, also when nothing changed"`
		Coverage []Coverage `json:"coverage"`
		Missing  []Missing  `json:"missing,omitempty"`
	}
	completenessAnswer struct {
		Coverage []Coverage `json:"coverage"`
		Omitted  int        `json:"omitted,omitempty" jsonschema:"streams left out; name a connection"`
		Missing  []Missing  `json:"missing,omitempty"`
	}
)

// addReading adds the tools that read.
func (t *tools) addReading(s *sdk.Server) {
	addTool(s, toolDescription{name: "list_streams", title: "List streams",
		about: "Lists the streams of records that may be read, with what they hold and how fresh they are. Begin here."},
		t.Log, t.listStreams)
	addTool(s, toolDescription{name: "describe_stream", title: "Describe a stream",
		about: "Returns the fields of a stream's records, and by which of them it can be queried."},
		t.Log, t.describeStream)
	addTool(s, toolDescription{name: "search", title: "Search",
		about: "Finds records that contain words, in every searchable stream. The newest change comes first."},
		t.Log, t.search)
	addTool(s, toolDescription{name: "read_records", title: "Read records",
		about: "Reads records of a stream page by page, with filters."}, t.Log, t.readRecords)
	addTool(s, toolDescription{name: "get_record", title: "Get a record",
		about: "Reads one record, or a part of one long field of it with field, offset and length."}, t.Log, t.getRecord)
	addTool(s, toolDescription{name: "aggregate", title: "Aggregate records",
		about: "Counts or sums up the records of a stream, by a field or by day, month or year. Use it for totals."},
		t.Log, t.aggregate)
	addTool(s, toolDescription{name: "changes", title: "Read changes",
		about: "Lists what changed in a stream since a cursor, deletions included."}, t.Log, t.changes)
	addTool(s, toolDescription{name: "completeness", title: "What is held and what is missing",
		about: "Returns how complete each stream is, and what is known to be missing."}, t.Log, t.completeness)
}

// put adds parameters that are not empty.
func put(q url.Values, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
}

// limitOf returns the number of records to ask for.
func limitOf(wanted int) string {
	if wanted < 1 || wanted > maxRecords {
		wanted = maxRecords
	}
	return strconv.Itoa(wanted)
}

// putFilters adds filters in the form of /v1.
func putFilters(q url.Values, filters []filterArgument) error {
	for _, f := range filters {
		name := "filter[" + f.Field + "]"
		switch f.Op {
		case "", "eq", "=":
		case "gt", "gte", "lt", "lte":
			name += "[" + f.Op + "]"
		default:
			return invalidArgument("A filter's op is eq, gt, gte, lt or lte.")
		}
		if strings.ContainsAny(f.Field, "[]") {
			return invalidArgument("A filter names no field that can be filtered by.")
		}
		if q.Has(name) {
			return invalidArgument("The same filter occurs twice.")
		}
		value, err := filterValue(f.Value)
		if err != nil {
			return err
		}
		q.Set(name, value)
	}
	return nil
}

func filterValue(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", invalidArgument("A filter's value is a text, a number, true or false.")
}

// streamPath returns the address of a stream.
func streamPath(stream, rest string) (string, error) {
	if strings.TrimSpace(stream) == "" {
		return "", invalidArgument("Name a stream that list_streams lists.")
	}
	return "/v1/streams/" + url.PathEscape(stream) + rest, nil
}

// known returns the parts of an answer that report how complete it is.
func (t *tools) known(ctx context.Context, measured []grantview.Completeness) ([]Coverage, []Missing, string, error) {
	all := coverageOf(measured)
	covered := shortened(all)
	missing, err := t.missingOf(ctx, covered)
	if err != nil {
		return nil, nil, "", err
	}
	sentence := sentenceOf(all)
	for _, m := range missing {
		if m.Reason != "" {
			sentence += " " + m.Name + ": " + m.Reason
			if !strings.HasSuffix(sentence, ".") {
				sentence += "."
			}
		}
	}
	return covered, missing, sentence, nil
}

// missingOf returns what an owner knows about the connections of a coverage that is not complete.
func (t *tools) missingOf(ctx context.Context, covered []Coverage) ([]Missing, error) {
	if t.Owner == nil {
		return nil, nil
	}
	open := map[string]bool{}
	for _, c := range covered {
		if c.Complete != string(grantview.WholeYes) {
			open[c.Connection] = true
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	all, err := t.Owner.Missing(ctx, "")
	return slices.DeleteFunc(all, func(m Missing) bool { return !open[m.Connection] }), err
}

const nothingHeld = "Nothing in what is held. "

func (t *tools) search(ctx context.Context, in searchArguments) (out toolAnswer[recordsAnswer], err error) {
	q := url.Values{"q": {in.Words}, "limit": {limitOf(in.Limit)}}
	put(q, "stream", in.Stream, "connection_id", in.Connection, "cursor", in.Cursor)
	return t.recordPage(ctx, "/v1/search", q)
}

func (t *tools) readRecords(ctx context.Context, in recordsArguments) (out toolAnswer[recordsAnswer], err error) {
	path, err := streamPath(in.Stream, "/records")
	if err != nil {
		return out, err
	}
	q := url.Values{"limit": {limitOf(in.Limit)}}
	put(q, "connection_id", in.Connection, "order", in.Order, "cursor", in.Cursor, "fields", strings.Join(in.Fields, ","))
	if err := putFilters(q, in.Filters); err != nil {
		return out, err
	}
	return t.recordPage(ctx, path, q)
}

// recordPage reads a page of records.
func (t *tools) recordPage(ctx context.Context, path string, q url.Values) (out toolAnswer[recordsAnswer], err error) {
	var page grantview.RecordPage
	if err := t.Reader.Get(ctx, path, q, &page); err != nil {
		return out, err
	}
	covered, missing, sentence, err := t.known(ctx, page.Completeness)
	if err != nil {
		return out, err
	}
	out.out = fitted(func(length int) recordsAnswer {
		a := recordsAnswer{Records: make([]record, len(page.Data)), HasMore: page.HasMore, Next: page.NextCursor,
			Coverage: covered, Missing: missing}
		for i, r := range page.Data {
			a.Records[i] = recordOf(r, length)
		}
		return a
	})
	out.sentence = plural(len(page.Data), "record") + " of what is held"
	switch {
	case len(page.Data) == 0 && !q.Has("cursor"):
		out.sentence = strings.TrimSuffix(nothingHeld, ". ")
	case page.HasMore:
		out.sentence += ", and there are more"
	}
	out.sentence = strings.TrimSpace(out.sentence + ". " + sentence)
	return out, nil
}

func (t *tools) aggregate(ctx context.Context, in aggregateArguments) (out toolAnswer[aggregateAnswer], err error) {
	path, err := streamPath(in.Stream, "/aggregate")
	if err != nil {
		return out, err
	}
	const most = 100
	q := url.Values{}
	put(q, "connection_id", in.Connection, "metric", in.Metric, "field", in.Field, "group_by", in.GroupBy,
		"granularity", in.Granularity)
	if in.Groups > 0 {
		q.Set("groups", strconv.Itoa(min(in.Groups, most)))
	}
	if err := putFilters(q, in.Filters); err != nil {
		return out, err
	}
	var found grantview.AggregationList
	if err := t.Reader.Get(ctx, path, q, &found); err != nil {
		return out, err
	}
	covered, missing, sentence, err := t.known(ctx, found.Completeness)
	if err != nil {
		return out, err
	}
	out.out = aggregateAnswer{Totals: make([]total, len(found.Data)), Coverage: covered, Missing: missing}
	const longestKey = 120
	groups := most / max(1, len(found.Data)) // of each connection, so that an answer stays small
	for i, a := range found.Data {
		made := total{Connection: a.ConnectionID, Stream: a.Stream, Groups: []keyValue{}, Truncated: a.Truncated}
		for n, g := range a.Groups {
			if n == max(1, groups) {
				made.Truncated = true
				break
			}
			if g.Key != nil {
				key := shortText(*g.Key, longestKey)
				g.Key = &key
			}
			made.Groups = append(made.Groups, keyValue(g))
		}
		out.out.Totals[i] = made
	}
	out.sentence = "Totals of what is held. " + sentence
	return out, nil
}

func (t *tools) changes(ctx context.Context, in changesArguments) (out toolAnswer[changesAnswer], err error) {
	path, err := streamPath(in.Stream, "/records")
	if err != nil {
		return out, err
	}
	since := in.Since
	if since == "" {
		since = "beginning"
	}
	q := url.Values{"limit": {limitOf(in.Limit)}, "changes_since": {since}}
	put(q, "connection_id", in.Connection)
	var page grantview.ChangePage
	if err := t.Reader.Get(ctx, path, q, &page); err != nil {
		return out, err
	}
	covered, missing, sentence, err := t.known(ctx, page.Completeness)
	if err != nil {
		return out, err
	}
	out.out = fitted(func(length int) changesAnswer {
		a := changesAnswer{Changes: make([]change, len(page.Data)), HasMore: page.HasMore, Next: page.NextChangesSince,
			Coverage: covered, Missing: missing}
		for i, c := range page.Data {
			a.Changes[i] = change{Connection: c.ConnectionID, Stream: c.Stream, ID: c.ID, Deleted: c.Deleted}
			if !c.Deleted {
				a.Changes[i].Data, a.Changes[i].Cut = cutData(c.Data, length)
			}
		}
		return a
	})
	out.sentence = plural(len(page.Data), "change") + " in what is held. " + sentence
	if len(page.Data) == 0 {
		out.sentence = "Nothing changed in what is held. " + sentence
	}
	return out, nil
}

func (t *tools) completeness(ctx context.Context, in connectionArguments) (out toolAnswer[completenessAnswer],
	err error) {
	q := url.Values{}
	put(q, "connection_id", in.Connection)
	var list grantview.StreamList
	if err := t.Reader.Get(ctx, "/v1/streams", q, &list); err != nil {
		return out, err
	}
	const most = 100
	all := coverageOf(list.Completeness)
	covered := all[:min(len(all), most)]
	out.out = completenessAnswer{Coverage: covered, Omitted: len(all) - len(covered)}
	out.sentence = sentenceOf(all)
	if t.Owner != nil {
		if out.out.Missing, err = t.Owner.Missing(ctx, in.Connection); err != nil {
			return out, err
		}
		for _, m := range out.out.Missing {
			if m.Reason != "" {
				out.sentence += " " + m.Name + ": " + m.Reason
			}
		}
	}
	return out, nil
}
