package storetest

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

func (f sampleRecord) of(field string) sample {
	return map[string]sample{textField: f.text, numberField: f.number, timeField: f.time}[field]
}

// against compares a value with another of a kind; ok is false when it is not of that kind.
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

func (f sampleRecord) meets(q store.AggregateQuery) bool {
	if q.Since > "2026-01-01T00:00:00.000000Z" {
		return false
	}
	for _, w := range q.Where {
		if v := f.of(w.Field); v.text == nil || *v.text != w.Value {
			return false
		}
	}
	for _, c := range q.Compare {
		other := samples[slices.IndexFunc(samples, func(v sample) bool {
			_, ok := v.against(c.Kind, v)
			return ok &&
				*v.text == c.Value
		})]
		order, ok := f.of(c.Field).against(c.Kind, other)
		met := map[manifest.RangeOperator]bool{manifest.RangeGT: order > 0, manifest.RangeGTE: order >= 0,
			manifest.RangeLT: order < 0, manifest.RangeLTE: order <= 0}
		if !ok || !met[c.Op] {
			return false
		}
	}
	return true
}

// summed computes the groups in memory, and formats each as one line.
func summed(all []sampleRecord, q store.AggregateQuery) (lines []string) {
	groups := map[string][]sampleRecord{} // by the start of the line
	if q.GroupBy == "" {
		groups["-"] = nil
	}
	for _, f := range all {
		key := "-"
		switch v := f.of(q.GroupBy); {
		case q.Granularity != "" && v.time != nil:
			key = v.time.Format(map[store.Granularity]string{store.ByDay: "2006-01-02", store.ByMonth: "2006-01",
				store.ByYear: "2006"}[q.Granularity])
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

func metricOf(members []sampleRecord, q store.AggregateQuery) (order any, value string) {
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

// digits returns the digits of a number that double precision guarantees.
func digits(n float64) string { return fmt.Sprintf("%.12e", n) }

func shownGroups(groups []store.AggregateGroup) (lines []string) {
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
