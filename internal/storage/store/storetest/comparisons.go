package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// sample is a value as written in a record, and what it is compared by; nil where it has no such meaning.
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
	textSample(`true`, "true"), textSample(`false`, "false"), textSample(`""`, ""), textSample(`"B"`, "B"),
	textSample(`"a"`, "a"),
	textSample(`"\u0061b"`, "ab"), textSample(`"ä"`, "ä"), textSample(`"it's ?"`, "it's ?"),
	textSample(`"\ud83d\ude00"`, "😀"),
	textSample(`"\ud800x"`, "\uFFFDx"), textSample(`"x\ude00"`, "x\uFFFD"), textSample(`"a\u0000b"`, "a\uFFFDb"),
	textSample(`"\\ud83d\ude00"`, `\ud83d`+"\uFFFD"), textSample(`"\\u0000"`, `\u0000`), textSample(`"1"`, "1"),
	textSample(`"`+longText+`xy"`, longText+"x"), textSample(`"`+longText+`xz"`, longText+"x"),
	numberSample(`0`, 0), numberSample(`-0`, 0), numberSample(`1`, 1), numberSample(`1.50`, 1.5),
	numberSample(`15e-1`, 1.5), numberSample(`-2`, -2),
	numberSample(`0.1`, 0.1), numberSample(`0.2`, 0.2), numberSample(`1E2`, 100),
	numberSample(`9007199254740993`, 9007199254740992), numberSample(`1e99`, 1e99),
	textSample(`1e100`, "1e100"), textSample(`1e-400`, "1e-400"),
	timeSample("2026-01-02", utc(2026, 1, 2, 0, 0, 0, 0)), timeSample("2026-01-02T00:00:00Z", utc(2026, 1, 2, 0, 0, 0, 0)),
	timeSample("2026-01-02T03:04:05.1234567+05:30", utc(2026, 1, 1, 21, 34, 5, 123456)),
	timeSample("2025-12-31T23:59:59.999999-00:30", utc(2026, 1, 1, 0, 29, 59, 999999)),
	timeSample("1969-12-31T23:59:59.5Z", utc(1969, 12, 31, 23, 59, 59, 500000)),
	timeSample("2024-02-29T00:00:00Z", utc(2024, 2, 29, 0, 0, 0, 0)),
	timeSample("1815-06-18T10:00:00Z", utc(1815, 6, 18, 10, 0, 0, 0)),
	textSample(`"2025-02-29"`, "2025-02-29"), textSample(`"2025-13-01"`, "2025-13-01"),
	textSample(`"0000-01-01"`, "0000-01-01"), textSample(`"2026-01-02 03:04:05Z"`, "2026-01-02 03:04:05Z"),
	textSample(`"2026-01-02T24:00:00Z"`, "2026-01-02T24:00:00Z"),
	textSample(`"2026-01-02T03:04:05"`, "2026-01-02T03:04:05"),
	textSample(`"0001-01-01T00:30:00+01:00"`, "0001-01-01T00:30:00+01:00"),
	textSample(`"9999-12-31T23:30:00-01:00"`, "9999-12-31T23:30:00-01:00"),
}

// querying is a manifest with a stream that allows comparing and aggregating its three fields, each as another kind.
const querying = `{"protocol_version":"0.1.0","connector_id":"example","version":"1.0.0","display_name":"Example",
		"streams":[
	{"name":"items","semantics":"mutable_state","primary_key":"id","schema":{"type":"object","required":["id"],
	"properties":{
		"id":{"type":"string"},"it's":{"type":["string","null"]},"number":{"type":["integer","null"]},
		"time":{"type":"string","format":"date-time"}}},
	"query":{"filter":["it's"],"range_filters":{"it's":["gt"],"number":["gt"],"time":["gt"]},
		"aggregations":{"count":true,"group_by":["it's"],"group_by_time":["time"],"sum":["number"]}}}]}`

const (
	textField   = "it's"
	numberField = "number"
	timeField   = "time"
)

// sampleRecord is a record with one sample in each of three fields.
type sampleRecord struct {
	key                string
	text, number, time sample
}

func (f sampleRecord) record() slice.Record {
	return slice.Record{Stream: Stream, Key: f.key, EmittedAt: "x", SemanticTime: "2026-01-01T00:00:00.000000Z",
		Data: fmt.Appendf(nil, `{"id":%q,%q:%s,"number":%s,"time":%s,"z":"\ud800 \\u0000"}`, f.key, textField, f.text.json,
			f.number.json, f.time.json)}
}

// storeSamples stores every sample in every field once, and some records more than once.
func storeSamples(t testing.TB, s store.Store, connection string) (all []sampleRecord) {
	ok := func(err error) { ok(t, err) }
	_, err := s.PutManifest(t.Context(), "example", []byte(querying), Now)
	ok(err)
	l := begin(t, s, connection, "run-"+connection)
	n := len(samples)
	for i := range 2 * n {
		all = append(all, sampleRecord{key: fmt.Sprintf("k%03d", i), text: samples[i%n], number: samples[(i*11+i/n)%n],
			time: samples[(i*5+3)%n]})
	}
	earlier := []slice.Record{{Stream: Stream, Key: "gone", Data: all[0].record().Data, EmittedAt: "x"}}
	for i, f := range all { // earlier versions do not count
		f.text, f.number = samples[(i+1)%n], samples[(i+2)%n]
		earlier = append(earlier, f.record())
	}
	put(t, s, l, earlier...)
	put(t, s, l, tombstone("gone"))
	storeSamplesAgain(t, s, l, all)
	finish(t, s, l, Now)
	return all
}

// storeSamplesAgain writes the records as they are now, and sorts them by their changes.
func storeSamplesAgain(t testing.TB, s store.Store, l store.Lease, all []sampleRecord) {
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
	slices.SortFunc(all, func(a, b sampleRecord) int { return cmp.Compare(seqs[a.key], seqs[b.key]) })
}

// index builds and drops indexes until nothing is left to do.
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

// testComparisons compares filters and aggregations with an evaluation in memory, first without any index and then
// with them.
//
//pdpp:tier unraced TestStore/Comparisons
func testComparisons(t *testing.T, s store.Store) {
	all := storeSamples(t, s, "c")
	check := func(rt *rapid.T) {
		q := drawComparisons(rt)
		var want []sampleRecord
		for _, f := range all {
			if f.meets(q) {
				want = append(want, f)
			}
		}
		keys := make([]string, len(want))
		for i, f := range want {
			keys[i] = f.key
		}
		same(t, listed(t, s, store.RecordQuery{AccessFilter: q.AccessFilter, Where: q.Where, Compare: q.Compare,
			Limit: 1000}), keys)
		slices.Reverse(keys)
		same(t, listed(t, s, store.RecordQuery{AccessFilter: q.AccessFilter, Where: q.Where, Compare: q.Compare, Limit: 1000,
			NewestFirst: true}), keys)
		got, err := s.Aggregate(t.Context(), q)
		ok(t, err)
		groups := summed(want, q)
		same(t, got.Truncated, len(groups) > q.Limit)
		same(t, shownGroups(got.Groups), groups[:min(len(groups), q.Limit)])
	}
	rapid.Check(t, check)
	same(t, index(t, s, int64(len(all))+1), 0)
	same(t, index(t, s, int64(len(all))), 3)
	// Records written from here on are in the indexes.
	l := start(t, s, "c", "later", Now)
	for i := range all {
		if i%3 == 0 {
			all[i].text, all[i].number, all[i].time = samples[(i+9)%len(samples)], samples[(i+11)%len(samples)],
				samples[(i+13)%len(samples)]
		}
	}
	put(t, s, l, tombstone(all[1].key))
	all = slices.Delete(all, 1, 2)
	storeSamplesAgain(t, s, l, all)
	rapid.Check(t, check)
	for _, part := range []store.AccessFilter{ // an aggregation respects the limits of its filter
		{Keys: []string{all[2].key, all[5].key, "nothing"}},
		{AllowedValues: &store.AllowedValues{Field: textField, Values: []string{"1", "a"}}},
	} {
		part.ConnectionID, part.Stream = "c", Stream
		got, err := s.Aggregate(t.Context(), store.AggregateQuery{AccessFilter: part, Metric: store.MetricCount})
		ok(t, err)
		within := listed(t, s, store.RecordQuery{AccessFilter: part, Limit: 1000})
		same(t, len(within) > 1 && len(within) < len(all), true)
		same(t, got.Groups, []store.AggregateGroup{{Value: jsontext.Value(fmt.Sprint(len(within)))}})
	}
	same(t, changed(t, s, store.RecordQuery{AccessFilter: wholeStream,
		Compare: []store.Comparison{{Field: numberField, Kind: manifest.ValueNumber, Op: manifest.RangeGTE, Value: "1e99"}},
		Limit:   1000}),
		listed(t, s, store.RecordQuery{AccessFilter: wholeStream,
			Compare: []store.Comparison{{Field: numberField, Kind: manifest.ValueNumber, Op: manifest.RangeGT, Value: "1e98"}},
			Limit:   1000}))
}

func drawComparisons(t *rapid.T) store.AggregateQuery {
	q := store.AggregateQuery{AccessFilter: wholeStream, Limit: rapid.SampledFrom([]int{3, 1000}).Draw(t, "limit")}
	if rapid.IntRange(0, 3).Draw(t, "window") == 0 {
		q.Since = rapid.SampledFrom([]string{"2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000001Z"}).Draw(t, "since")
	}
	drawn := func() sample { return rapid.SampledFrom(samples).Draw(t, "value") }
	if v := drawn(); v.text != nil && rapid.IntRange(0, 3).Draw(t, "where") == 0 &&
		!strings.HasPrefix(*v.text, longText) && !strings.Contains(v.json, `\u0000`) {
		q.Where = append(q.Where, store.FieldValue{Field: textField, Value: *v.text})
	}
	for range rapid.IntRange(0, 3).Draw(t, "comparisons") {
		c := store.Comparison{Op: rapid.SampledFrom(manifest.RangeOperators).Draw(t, "operator")}
		v := drawn()
		switch {
		case v.time != nil:
			c.Field, c.Kind, c.Value = timeField,
				rapid.SampledFrom([]manifest.ValueKind{manifest.ValueTime, manifest.ValueDate}).Draw(t, "kind"), *v.text
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
		q.Granularity = rapid.SampledFrom([]store.Granularity{store.ByDay, store.ByMonth, store.ByYear}).Draw(t,
			"granularity")
	}
	q.Metric = rapid.SampledFrom([]store.Metric{store.MetricCount, store.MetricCountDistinct, store.MetricSum,
		store.MetricMin, store.MetricMax}).Draw(t, "metric")
	switch q.Metric {
	case store.MetricCountDistinct:
		q.Field = textField
	case store.MetricSum:
		q.Field, q.Kind = numberField, manifest.ValueNumber
	case store.MetricMin, store.MetricMax:
		q.Field = rapid.SampledFrom([]string{textField, numberField, timeField}).Draw(t, "of")
		q.Kind = map[string]manifest.ValueKind{textField: manifest.ValueText, numberField: manifest.ValueNumber,
			timeField: manifest.ValueTime}[q.Field]
	}
	return q
}

// testAggregateTakesTooLong checks that an aggregation over its time limit fails without other effects.
func testAggregateTakesTooLong(t *testing.T, s store.Store) {
	all := storeSamples(t, s, "c")
	_, err := s.Aggregate(t.Context(), store.AggregateQuery{AccessFilter: wholeStream, Metric: store.MetricCount,
		Within: time.Nanosecond})
	fails(t, err, store.ErrTooLong)
	got, err := s.Aggregate(t.Context(), store.AggregateQuery{AccessFilter: wholeStream, Metric: store.MetricCount})
	ok(t, err)
	same(t, got.Groups, []store.AggregateGroup{{Value: jsontext.Value(fmt.Sprint(len(all)))}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Aggregate(ctx, store.AggregateQuery{AccessFilter: wholeStream, Metric: store.MetricCount})
	fails(t, err, context.Canceled)
}
