package sqlstore

import (
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore/sqldialect"

	"github.com/pdpp-go/pdpp/internal/slice"

	"pgregory.net/rapid"
)

func TestNumbered(t *testing.T) {
	var n sqldialect.NumberPlaceholders
	for range 2 { // the second result is cached
		for query, want := range map[string]string{
			`SELECT 1`:                              `SELECT 1`,
			`? = ?`:                                 `$1 = $2`,
			`VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`: `VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		} {
			if got := n.Rebind(query); got != want {
				t.Errorf("Rebind(%q) = %q, want %q", query, got, want)
			}
		}
	}
}

func TestWords(t *testing.T) {
	got := sqldialect.SearchWords(" It's foo-bar_baz@example.org: 3.14 Zürich été 漢字, “quoted”\x00end ")
	want := []string{"It", "s", "foo", "bar", "baz", "example", "org", "3", "14", "Zürich", "été", "漢字", "quoted", "end"}
	if !slices.Equal(got, want) {
		t.Errorf("Words gives %q, want %q", got, want)
	}
}

// TestLastOfEachKey compares with the simplest implementation.
func TestLastOfEachKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		records := rapid.SliceOf(rapid.Custom(func(t *rapid.T) slice.Record {
			return slice.Record{Stream: name.Draw(t, "stream"), Key: name.Draw(t, "key")}
		})).Draw(t, "records")
		for _, stream := range streamsOf(records) {
			var want []int
			for i, r := range records {
				later := func(o slice.Record) bool { return o.Stream == stream && o.Key == r.Key }
				if r.Stream == stream && !slices.ContainsFunc(records[i+1:], later) {
					want = append(want, i)
				}
			}
			if got := lastOfEachKey(records, stream); !slices.Equal(got, want) {
				t.Fatalf("stream %s: %v, want %v", stream, got, want)
			}
		}
	})
}

// TestParseTime compares with time.Parse, on times and on texts that look like times.
func TestParseTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(formatTime(time.UnixMicro(rapid.Int64Range(-6e16, 2e17).Draw(t, "time"))))
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "place")] = rapid.SampledFrom([]byte("0123456789-:TZ. x")).Draw(t,
				"byte")
		}
		text = text[:rapid.IntRange(len(text)-1, len(text)).Draw(t, "length")]
		got, err := parseTime(string(text))
		want, wantErr := time.Parse(TimeLayout, string(text))
		if (err == nil) != (wantErr == nil) || err == nil && !got.Equal(want) {
			t.Fatalf("%q reads as %v (%v), want %v (%v)", text, got, err, want, wantErr)
		}
	})
}

// TestFormatTimeOrder checks that text order is time order, and that a time is exact to the microsecond.
func TestFormatTimeOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) time.Time {
			zone := time.FixedZone("", rapid.IntRange(-12, 14).Draw(t, label+" zone")*3600)
			return time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, label)).In(zone)
		}
		a, b := draw("a"), draw("b")
		if (formatTime(a) < formatTime(b)) != a.Before(b) {
			t.Fatalf("%v and %v are stamped %s and %s", a, b, formatTime(a), formatTime(b))
		}
		var back time.Time
		if err := intoTime(&back).Scan(formatTime(a)); err != nil || !back.Equal(a) || !back.Equal(storedTime(a)) {
			t.Fatalf("%v comes back as %v (%v)", a, back, err)
		}
	})
}
