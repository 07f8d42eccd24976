package store

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The similarity of rounded vectors is that of the vectors, up to the rounding of each. So the order of an exact scan
// is that of the exact numbers, except between records that are closer to each other than that.
func TestRoundedOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 64).Draw(t, "components")
		component := rapid.OneOf(rapid.Float32Range(-1, 1), rapid.Float32Range(-1e-3, 1e-3), rapid.Float32Range(-1e9, 1e9),
			rapid.Just(float32(0)))
		draw := func(name string) []float32 {
			return rapid.SliceOfN(component, n, n).
				Filter(func(v []float32) bool { _, err := NewVector(v); return err == nil }).Draw(t, name)
		}
		wanted, count := draw("wanted"), rapid.IntRange(1, 30).Draw(t, "count")
		rounded, _ := NewVector(wanted)
		nearest, exact, bound := NearestRecords{Limit: count}, make([]float64, count), roundingBound(wanted)
		most := 0.0
		for i := range count {
			v := draw("vector")
			exact[i], most = exactCosine(wanted, v), max(most, roundingBound(v))
			kept, err := NewVector(v)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := rounded.Cosine(kept)
			if limit := bound + roundingBound(v) + 1e-5; !ok || math.Abs(float64(got)-exact[i]) > limit {
				t.Fatalf("similarity %v, want %v within %v", got, exact[i], limit)
			}
			nearest.Add(int64(i), got)
		}
		order := nearest.IDs()
		if len(order) != count {
			t.Fatalf("%d records are in the order of %d", len(order), count)
		}
		for i := range order[1:] {
			if before, after := exact[order[i]], exact[order[i+1]]; after-before > 2*(bound+most+1e-5) {
				t.Fatalf("%v comes before %v", before, after)
			}
		}
	})
}

// roundingBound bounds how far rounding moves a similarity: the moved direction is at most as far from the direction
// as twice the sum of half steps.
func roundingBound(v []float32) float64 {
	most, sum := 0.0, 0.0
	for _, x := range v {
		most, sum = max(most, math.Abs(float64(x))), sum+float64(x)*float64(x)
	}
	return 2 * math.Sqrt(float64(len(v))) * most / 254 / math.Sqrt(sum)
}

func exactCosine(a, b []float32) float64 {
	dot, x, y := 0.0, 0.0, 0.0
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(x) / math.Sqrt(y)
}

// The best field of a record counts, and each record is there once.
func TestNearestRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := NearestRecords{Limit: rapid.IntRange(1, 6).Draw(t, "limit")}
		best := map[int64]float32{}
		for range rapid.IntRange(0, 40).Draw(t, "fields") {
			id, s := rapid.Int64Range(0, 9).Draw(t, "record"), float32(rapid.IntRange(-5, 5).Draw(t, "similarity"))
			n.Add(id, s)
			if was, seen := best[id]; !seen || s > was {
				best[id] = s
			}
		}
		var want []nearRecord
		for id, s := range best {
			want = append(want, nearRecord{id, s})
		}
		slices.SortFunc(want, compareNear)
		want = want[:min(len(want), n.Limit)]
		if !slices.Equal(n.best, want) {
			t.Fatalf("%v, want %v", n.best, want)
		}
	})
}

func TestNoVector(t *testing.T) {
	t.Parallel()
	for _, v := range [][]float32{nil, {}, {0, 0}, {1, float32(math.NaN())}, {float32(math.NaN()), 1},
		{float32(math.Inf(1))}, {1, float32(math.Inf(-1))}, make([]float32, MaxVectorLength+1)} {
		if got, err := NewVector(v); err == nil {
			t.Errorf("%v is the direction %v", v, got)
		}
	}
	one, _ := NewVector([]float32{1, 2})
	for _, other := range [][]byte{nil, {1, 2, 3, 4}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6, 7}} {
		if _, ok := one.Cosine(other); ok {
			t.Errorf("compared with %v", other)
		}
	}
}
