package storetest

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"pdpp/internal/keep/store"
	"pdpp/internal/slice"
	"pdpp/manifest"
)

// sample is a value as it is written in a record, and what it is compared by; nil where it
// has no such meaning.
type sample struct {
	json   string
	text   *string
	number *float64
	time   *time.Time
}

func textSample(written, text string) sample { return sample{json: written, text: &text} }

func numberSample(written string, n float64) sample {
	return sample{json: written, text: &written, number: &n}
}

func timeSample(text string, at time.Time) sample {
	return sample{json: `"` + text + `"`, text: &text, time: &at}
}

func utc(year int, month time.Month, day, hour, minute, second, micro int) time.Time {
	return time.Date(year, month, day, hour, minute, second, micro*1000, time.UTC)
}

var longText = strings.Repeat("ö", 199)

var samples = []sample{
	{json: `null`}, {json: `["x"]`}, {json: `{"n":1}`},
	textSample(`true`, "true"), textSample(`false`, "false"), textSample(`""`, ""), textSample(`"B"`, "B"), textSample(`"a"`, "a"),
	textSample(`"\u0061b"`, "ab"), textSample(`"ä"`, "ä"), textSample(`"it's ?"`, "it's ?"), textSample(`"\ud83d\ude00"`, "😀"),
	textSample(`"\ud800x"`, "\uFFFDx"), textSample(`"x\ude00"`, "x\uFFFD"), textSample(`"a\u0000b"`, "a\uFFFDb"),
	textSample(`"\\ud83d\ude00"`, `\ud83d`+"\uFFFD"), textSample(`"\\u0000"`, `\u0000`), textSample(`"1"`, "1"),
	textSample(`"`+longText+`xy"`, longText+"x"), textSample(`"`+longText+`xz"`, longText+"x"),
	numberSample(`0`, 0), numberSample(`-0`, 0), numberSample(`1`, 1), numberSample(`1.50`, 1.5), numberSample(`15e-1`, 1.5), numberSample(`-2`, -2),
	numberSample(`0.1`, 0.1), numberSample(`0.2`, 0.2), numberSample(`1E2`, 100), numberSample(`9007199254740993`, 9007199254740992), numberSample(`1e99`, 1e99),
	textSample(`1e100`, "1e100"), textSample(`1e-400`, "1e-400"),
	timeSample("2026-01-02", utc(2026, 1, 2, 0, 0, 0, 0)), timeSample("2026-01-02T00:00:00Z", utc(2026, 1, 2, 0, 0, 0, 0)),
	timeSample("2026-01-02T03:04:05.1234567+05:30", utc(2026, 1, 1, 21, 34, 5, 123456)), timeSample("2025-12-31T23:59:59.999999-00:30", utc(2026, 1, 1, 0, 29, 59, 999999)),
	timeSample("1969-12-31T23:59:59.5Z", utc(1969, 12, 31, 23, 59, 59, 500000)), timeSample("2024-02-29T00:00:00Z", utc(2024, 2, 29, 0, 0, 0, 0)),
	timeSample("1815-06-18T10:00:00Z", utc(1815, 6, 18, 10, 0, 0, 0)),
	textSample(`"2025-02-29"`, "2025-02-29"), textSample(`"2025-13-01"`, "2025-13-01"), textSample(`"0000-01-01"`, "0000-01-01"), textSample(`"2026-01-02 03:04:05Z"`, "2026-01-02 03:04:05Z"),
	textSample(`"2026-01-02T24:00:00Z"`, "2026-01-02T24:00:00Z"), textSample(`"2026-01-02T03:04:05"`, "2026-01-02T03:04:05"),
	textSample(`"0001-01-01T00:30:00+01:00"`, "0001-01-01T00:30:00+01:00"), textSample(`"9999-12-31T23:30:00-01:00"`, "9999-12-31T23:30:00-01:00"),
}

// querying is a manifest whose stream lets readers compare and sum up its three fields,
// each as another kind.
const querying = `{"protocol_version":"0.1.0","connector_id":"example","version":"1.0.0","display_name":"Example","streams":[
	{"name":"items","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],"properties":{
		"id":{"type":"string"},"it's":{"type":["string","null"]},"number":{"type":["integer","null"]},"time":{"type":"string","format":"date-time"}}},
	"query":{"filter":["it's"],"range_filters":{"it's":["gt"],"number":["gt"],"time":["gt"]},
		"aggregations":{"count":true,"group_by":["it's"],"group_by_time":["time"],"sum":["number"]}}}]}`

const (
	textField   = "it's"
	numberField = "number"
	timeField   = "time"
)

// filed is a record whose three fields hold one sample each.
type filed struct {
	key                string
	text, number, time sample
}

func (f filed) record() slice.Record {
	return slice.Record{Stream: Stream, Key: f.key, EmittedAt: "x", SemanticTime: "2026-01-01T00:00:00.000000Z",
		Data: fmt.Appendf(nil, `{"id":%q,%q:%s,"number":%s,"time":%s,"z":"\ud800 \\u0000"}`, f.key, textField, f.text.json, f.number.json, f.time.json)}
}

// file puts every sample into every field once, and some records more than once.
func file(t testing.TB, s store.Store, connection string) (all []filed) {
	ok := func(err error) { ok(t, err) }
	_, err := s.PutManifest(t.Context(), "example", []byte(querying), Now)
	ok(err)
	l := begin(t, s, connection, "run-"+connection)
	n := len(samples)
	for i := range 2 * n {
		all = append(all, filed{key: fmt.Sprintf("k%03d", i), text: samples[i%n], number: samples[(i*11+i/n)%n], time: samples[(i*5+3)%n]})
	}
	earlier := []slice.Record{{Stream: Stream, Key: "gone", Data: all[0].record().Data, EmittedAt: "x"}}
	for i, f := range all { // what a record was before counts no more
		f.text, f.number = samples[(i+1)%n], samples[(i+2)%n]
		earlier = append(earlier, f.record())
	}
	put(t, s, l, earlier...)
	put(t, s, l, tombstone("gone"))
	refile(t, s, l, all)
	finish(t, s, l, Now)
	return all
}

// refile writes the records as they are now, and puts them into the order of their changes.
func refile(t testing.TB, s store.Store, l store.Lease, all []filed) {
	t.Helper()
	records := make([]slice.Record, len(all))
	for i := range all {
		records[i] = all[i].record()
	}
	put(t, s, l, records...)
	seqs := map[string]int64{}
	for _, r := range changes(t, s, l.ConnectionID) {
		seqs[r.Key] = r.Seq
	}
	slices.SortFunc(all, func(a, b filed) int { return cmp.Compare(seqs[a.key], seqs[b.key]) })
}

// index makes and drops indexes until there is nothing left to do.
func index(t testing.TB, s store.Store, above int64) (steps int) {
	t.Helper()
	for {
		done, err := s.IndexFields(t.Context(), above, Now)
		ok(t, err)
		if done {
			return steps
		}
		steps++
	}
}

func upkeep(t testing.TB, s store.Store, above int64) store.Upkeep {
	t.Helper()
	u, err := s.Upkeep(t.Context(), above)
	ok(t, err)
	return u
}

// testComparisons holds filters and aggregations against a plain evaluation in memory,
// first without any index and then with them.
func testComparisons(t *testing.T, s store.Store) {
	all := file(t, s, "c")
	check := func(rt *rapid.T) {
		q := drawComparisons(rt)
		var want []filed
		for _, f := range all {
			if f.meets(q) {
				want = append(want, f)
			}
		}
		keys := make([]string, len(want))
		for i, f := range want {
			keys[i] = f.key
		}
		same(t, listed(t, s, store.RecordQuery{Part: q.Part, Where: q.Where, Compare: q.Compare, Limit: 1000}), keys)
		slices.Reverse(keys)
		same(t, listed(t, s, store.RecordQuery{Part: q.Part, Where: q.Where, Compare: q.Compare, Limit: 1000, NewestFirst: true}), keys)
		got, err := s.Aggregate(t.Context(), q)
		ok(t, err)
		groups := summed(want, q)
		same(t, got.Truncated, len(groups) > q.Limit)
		same(t, shownGroups(got.Groups), groups[:min(len(groups), q.Limit)])
	}
	rapid.Check(t, check)
	same(t, index(t, s, int64(len(all))+1), 0)
	same(t, index(t, s, int64(len(all))), 3)
	// What is written from here on is in the indexes.
	l := start(t, s, "c", "later", Now)
	for i := range all {
		if i%3 == 0 {
			all[i].text, all[i].number, all[i].time = samples[(i+9)%len(samples)], samples[(i+11)%len(samples)], samples[(i+13)%len(samples)]
		}
	}
	put(t, s, l, tombstone(all[1].key))
	all = slices.Delete(all, 1, 2)
	refile(t, s, l, all)
	rapid.Check(t, check)
	for _, part := range []store.Part{ // a sum is within the limits of its part
		{Keys: []string{all[2].key, all[5].key, "nothing"}}, {Among: &store.FieldAmong{Field: textField, Values: []string{"1", "a"}}},
	} {
		part.ConnectionID, part.Stream = "c", Stream
		got, err := s.Aggregate(t.Context(), store.AggregateQuery{Part: part, Metric: store.MetricCount})
		ok(t, err)
		within := listed(t, s, store.RecordQuery{Part: part, Limit: 1000})
		same(t, len(within) > 1 && len(within) < len(all), true)
		same(t, got.Groups, []store.Group{{Value: jsontext.Value(fmt.Sprint(len(within)))}})
	}
	same(t, changed(t, s, store.RecordQuery{Part: whole, Compare: []store.Comparison{{Field: numberField, Kind: manifest.ValueNumber, Op: manifest.RangeGTE, Value: "1e99"}}, Limit: 1000}),
		listed(t, s, store.RecordQuery{Part: whole, Compare: []store.Comparison{{Field: numberField, Kind: manifest.ValueNumber, Op: manifest.RangeGT, Value: "1e98"}}, Limit: 1000}))
}

func drawComparisons(t *rapid.T) store.AggregateQuery {
	q := store.AggregateQuery{Part: whole, Limit: rapid.SampledFrom([]int{3, 1000}).Draw(t, "limit")}
	if rapid.IntRange(0, 3).Draw(t, "window") == 0 {
		q.Since = rapid.SampledFrom([]string{"2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000001Z"}).Draw(t, "since")
	}
	drawn := func() sample { return rapid.SampledFrom(samples).Draw(t, "value") }
	if v := drawn(); v.text != nil && rapid.IntRange(0, 3).Draw(t, "where") == 0 && !strings.HasPrefix(*v.text, longText) && !strings.Contains(v.json, `\u0000`) {
		q.Where = append(q.Where, store.FieldValue{Field: textField, Value: *v.text})
	}
	for range rapid.IntRange(0, 3).Draw(t, "comparisons") {
		c := store.Comparison{Op: rapid.SampledFrom(manifest.RangeOperators).Draw(t, "operator")}
		v := drawn()
		switch {
		case v.time != nil:
			c.Field, c.Kind, c.Value = timeField, rapid.SampledFrom([]manifest.ValueKind{manifest.ValueTime, manifest.ValueDate}).Draw(t, "kind"), *v.text
		case v.number != nil:
			c.Field, c.Kind, c.Value = numberField, manifest.ValueNumber, *v.text
		case v.text != nil:
			c.Field, c.Kind, c.Value = textField, manifest.ValueText, *v.text
		default:
			continue
		}
		q.Compare = append(q.Compare, c)
	}
	switch rapid.IntRange(0, 2).Draw(t, "grouping") {
	case 1:
		q.GroupBy = rapid.SampledFrom([]string{textField, numberField}).Draw(t, "by")
	case 2:
		q.GroupBy = timeField
		q.Granularity = rapid.SampledFrom([]store.Granularity{store.ByDay, store.ByMonth, store.ByYear}).Draw(t, "granularity")
	}
	q.Metric = rapid.SampledFrom([]store.Metric{store.MetricCount, store.MetricCountDistinct, store.MetricSum, store.MetricMin, store.MetricMax}).Draw(t, "metric")
	switch q.Metric {
	case store.MetricCountDistinct:
		q.Field = textField
	case store.MetricSum:
		q.Field, q.Kind = numberField, manifest.ValueNumber
	case store.MetricMin, store.MetricMax:
		q.Field = rapid.SampledFrom([]string{textField, numberField, timeField}).Draw(t, "of")
		q.Kind = map[string]manifest.ValueKind{textField: manifest.ValueText, numberField: manifest.ValueNumber, timeField: manifest.ValueTime}[q.Field]
	}
	return q
}

func (f filed) of(field string) sample {
	return map[string]sample{textField: f.text, numberField: f.number, timeField: f.time}[field]
}

// against compares a value with another of a kind; not ok when it is none.
func (v sample) against(kind manifest.ValueKind, other sample) (order int, ok bool) {
	switch {
	case kind == manifest.ValueText && v.text != nil:
		return strings.Compare(*v.text, *other.text), true
	case kind == manifest.ValueNumber && v.number != nil:
		return cmp.Compare(*v.number, *other.number), true
	case (kind == manifest.ValueTime || kind == manifest.ValueDate) && v.time != nil:
		return v.time.Compare(*other.time), true
	}
	return 0, false
}

func (f filed) meets(q store.AggregateQuery) bool {
	if q.Since > "2026-01-01T00:00:00.000000Z" {
		return false
	}
	for _, w := range q.Where {
		if v := f.of(w.Field); v.text == nil || *v.text != w.Value {
			return false
		}
	}
	for _, c := range q.Compare {
		other := samples[slices.IndexFunc(samples, func(v sample) bool { _, ok := v.against(c.Kind, v); return ok && *v.text == c.Value })]
		order, ok := f.of(c.Field).against(c.Kind, other)
		met := map[manifest.RangeOperator]bool{manifest.RangeGT: order > 0, manifest.RangeGTE: order >= 0, manifest.RangeLT: order < 0, manifest.RangeLTE: order <= 0}
		if !ok || !met[c.Op] {
			return false
		}
	}
	return true
}

// summed groups and sums up in memory, and shows each group as one line.
func summed(all []filed, q store.AggregateQuery) (lines []string) {
	groups := map[string][]filed{} // by the line's beginning
	if q.GroupBy == "" {
		groups["-"] = nil
	}
	for _, f := range all {
		key := "-"
		switch v := f.of(q.GroupBy); {
		case q.Granularity != "" && v.time != nil:
			key = v.time.Format(map[store.Granularity]string{store.ByDay: "2006-01-02", store.ByMonth: "2006-01", store.ByYear: "2006"}[q.Granularity])
		case q.Granularity == "" && v.text != nil:
			key = "=" + *v.text
		}
		groups[key] = append(groups[key], f)
	}
	type group struct {
		key   string
		order any // nil, a float64 or a string
		value string
	}
	var out []group
	for key, members := range groups {
		g := group{key: key}
		g.order, g.value = metricOf(members, q)
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b group) int {
		nothing := func(b bool) int { return map[bool]int{true: 1}[b] }
		if q.Granularity != "" {
			return cmp.Or(cmp.Compare(nothing(a.key == "-"), nothing(b.key == "-")), strings.Compare(b.key, a.key))
		}
		order := cmp.Compare(nothing(a.order == nil), nothing(b.order == nil))
		switch x := a.order.(type) {
		case float64:
			if y, both := b.order.(float64); both {
				order = cmp.Compare(y, x)
			}
		case string:
			if y, both := b.order.(string); both {
				order = strings.Compare(y, x)
			}
		}
		return cmp.Or(order, cmp.Compare(nothing(a.key == "-"), nothing(b.key == "-")), strings.Compare(a.key, b.key))
	})
	for _, g := range out {
		lines = append(lines, strings.TrimPrefix(g.key, "=")+" "+g.value)
	}
	return lines
}

func metricOf(members []filed, q store.AggregateQuery) (order any, value string) {
	switch q.Metric {
	case store.MetricCount:
		return float64(len(members)), digits(float64(len(members)))
	case store.MetricCountDistinct:
		seen := map[string]bool{}
		for _, f := range members {
			if v := f.of(q.Field); v.text != nil {
				seen[*v.text] = true
			}
		}
		return float64(len(seen)), digits(float64(len(seen)))
	case store.MetricSum:
		var sum *big.Rat
		for _, f := range members {
			if v := f.of(q.Field); v.number != nil {
				if sum == nil {
					sum = new(big.Rat)
				}
				n, _ := new(big.Rat).SetString(fmt.Sprint(*v.number))
				sum.Add(sum, n)
			}
		}
		if sum == nil {
			return nil, "null"
		}
		n, _ := sum.Float64()
		return n, digits(n)
	}
	var best *sample
	for _, f := range members {
		v := f.of(q.Field)
		if _, ok := v.against(q.Kind, v); !ok {
			continue
		}
		if best == nil {
			best = &v
			continue
		}
		if order, _ := v.against(q.Kind, *best); (order < 0) == (q.Metric == store.MetricMin) && order != 0 {
			best = &v
		}
	}
	switch {
	case best == nil:
		return nil, "null"
	case q.Kind == manifest.ValueNumber:
		return *best.number, digits(*best.number)
	case q.Kind == manifest.ValueTime:
		return float64(best.time.UnixMicro()), best.time.Format(time.RFC3339Nano)
	}
	return *best.text, *best.text
}

// digits are those of a number that double precision is sure of.
func digits(n float64) string { return fmt.Sprintf("%.12e", n) }

func shownGroups(groups []store.Group) (lines []string) {
	for _, g := range groups {
		key, value := "-", string(g.Value)
		if g.Key != nil {
			key = *g.Key
		}
		switch g.Value.Kind() {
		case '"':
			_ = json.Unmarshal(g.Value, &value)
		case '0':
			var n float64
			_ = json.Unmarshal(g.Value, &n)
			value = digits(n)
		}
		lines = append(lines, key+" "+value)
	}
	return lines
}

// testAggregateTakesTooLong: what cannot be summed up in time is refused, and nothing else is harmed.
func testAggregateTakesTooLong(t *testing.T, s store.Store) {
	all := file(t, s, "c")
	_, err := s.Aggregate(t.Context(), store.AggregateQuery{Part: whole, Metric: store.MetricCount, Within: time.Nanosecond})
	fails(t, err, store.ErrTooLong)
	got, err := s.Aggregate(t.Context(), store.AggregateQuery{Part: whole, Metric: store.MetricCount})
	ok(t, err)
	same(t, got.Groups, []store.Group{{Value: jsontext.Value(fmt.Sprint(len(all)))}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Aggregate(ctx, store.AggregateQuery{Part: whole, Metric: store.MetricCount})
	fails(t, err, context.Canceled)
}

// testFieldIndexes: there are indexes while a stream is large, its fields are declared and
// no run is filling it.
func testFieldIndexes(t *testing.T, s store.Store) {
	live := int64(len(file(t, s, "c")))
	l := start(t, s, "c", "filling", Now)
	same(t, index(t, s, live), 0)
	fields := []string{textField, numberField, timeField}
	told := func(state store.IndexState) (all []store.FieldIndex) { // that of times is there from the beginning
		all = []store.FieldIndex{{State: store.IndexReady}}
		for _, field := range fields {
			all = append(all, store.FieldIndex{ConnectionID: "c", Connection: "Example", Stream: Stream, Field: field, State: state})
		}
		return all
	}
	same(t, upkeep(t, s, live).Indexes, told(store.IndexWaiting))
	finish(t, s, l, Now)
	same(t, upkeep(t, s, live+1).Indexes, told(store.IndexReady)[:1]) // too small for any
	same(t, index(t, s, live), 3)
	same(t, upkeep(t, s, live).Indexes, told(store.IndexReady))
	same(t, upkeep(t, s, 2*live).Indexes, told(store.IndexReady)) // they stay for now
	same(t, index(t, s, 2*live), 0)                               // it shrank, but not to less than half
	same(t, index(t, s, 2*live+1), 3)
	same(t, index(t, s, live), 3)
	_, err := s.PutManifest(t.Context(), "example", declaring("", "title"), Now)
	ok(t, err)
	same(t, index(t, s, live), 3)
	same(t, index(t, s, live), 0)
}

// testFieldPlans: a filter on an indexed field reads the index.
func testFieldPlans(t *testing.T, d Damaged) {
	all := file(t, d.Store, "c")
	same(t, index(t, d.Store, 1), 3)
	w := &Watch{}
	s := d.Watched(w)
	plans := d.plans(t, w, "records")
	number := []store.Comparison{{Field: numberField, Kind: manifest.ValueNumber, Op: manifest.RangeGTE, Value: "1e99"}}
	for name, read := range map[string]func(ctx context.Context) error{
		"a value": func(ctx context.Context) error {
			got, err := s.ListRecords(ctx, store.RecordQuery{Part: whole, Where: []store.FieldValue{{Field: textField, Value: *all[7].text.text}}})
			same(t, err != nil || len(got) > 0, true)
			return err
		},
		"a range": func(ctx context.Context) error {
			got, err := s.ListRecords(ctx, store.RecordQuery{Part: whole, Compare: number})
			same(t, err != nil || len(got) > 0, true)
			return err
		},
		"what belongs to others": func(ctx context.Context) error {
			got, err := s.Related(ctx, store.RelatedQuery{Part: whole, Field: textField, Values: []string{*all[7].text.text, "none"}, Each: 2})
			same(t, err != nil || len(got.By) > 0, true)
			return err
		},
		"a range counted": func(ctx context.Context) error {
			_, err := s.Aggregate(ctx, store.AggregateQuery{Part: whole, Metric: store.MetricCount, Compare: number})
			return err
		},
	} {
		*plans = nil
		ok(t, read(t.Context()))
		if plan := strings.Join(*plans, ""); !strings.Contains(plan, "records_field_") {
			t.Errorf("%s is found by\n%s", name, plan)
		}
	}
}

// plans gathers how the statements are run that hold some words.
func (d Damaged) plans(t testing.TB, w *Watch, holding string) *[]string {
	var plans []string
	w.seen = func(query string, args []driver.NamedValue) {
		if !strings.Contains(query, holding) {
			return
		}
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = a.Value
		}
		text, err := d.Explain(t.Context(), query, values)
		if err != nil {
			t.Error(err)
		}
		plans = append(plans, text)
	}
	return &plans
}
