package store

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// TestGapIDGolden checks that ids never change, because they are stored.
func TestGapIDGolden(t *testing.T) {
	byKey := slice.Gap{Stream: "messages", ParentStream: "threads", RecordKey: "m1", Locator: jsontext.Value(`{"id":1}`)}
	drifted := byKey
	drifted.Locator = jsontext.Value(`{"id":2}`)
	byLocator := slice.Gap{Stream: "messages", Locator: jsontext.Value(`{"id":1}`)}
	for _, c := range []struct {
		write       slice.Gap
		grant, want string
	}{
		{byKey, "", "gap_5ded82cfd0791370b4f116d057b2f02e"},
		{drifted, "", "gap_5ded82cfd0791370b4f116d057b2f02e"},
		{byKey, "grant", "gap_97d4ae2bee0b7f06ebaa00891b73b64a"},
		{byLocator, "", "gap_757811a482c3515a761945687111420e"},
	} {
		if got := GapID("connection", c.grant, c.write); got != c.want {
			t.Errorf("GapID(%q, %+v) = %s, want %s", c.grant, c.write, got, c.want)
		}
	}
}

// TestRotationSteps checks that counting the passed steps equals the rank's division.
func TestRotationSteps(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		ago := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(3*time.Hour)).Draw(t,
			"ago")).Truncate(time.Microsecond)
		if rapid.Bool().Draw(t, "on a step") {
			ago = ago.Truncate(15 * time.Minute)
		}
		attempts := rapid.IntRange(0, 12).Draw(t, "attempts")
		last := now.Add(-ago)
		rank := min(attempts, RotationCap)
		for _, step := range RotationSteps(now) {
			if !last.After(step) {
				rank--
			}
		}
		if want := RotationRank(attempts, last, time.Time{}, now); rank != want {
			t.Fatalf("%d attempts, the last %v ago: %d by steps, %d by rank", attempts, ago, rank, want)
		}
	})
}

func TestRotationRank(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, c := range []struct {
		attempts             int
		sinceLast, sinceMade time.Duration // no last attempt when zero
		want                 int
	}{
		{0, 0, 0, 0},
		{0, 0, 15*time.Minute - 1, 0},
		{0, 0, 15 * time.Minute, -1},
		{0, 0, 1000 * time.Hour, -8},
		{3, time.Minute, time.Hour, 3},
		{3, 31 * time.Minute, time.Hour, 1},
		{99, time.Minute, time.Hour, 8},
		{99, 2 * time.Hour, 3 * time.Hour, 0},
		{1, -time.Hour, 0, 1}, // a clock that went back
	} {
		var last time.Time
		if c.sinceLast != 0 {
			last = now.Add(-c.sinceLast)
		}
		if got := RotationRank(c.attempts, last, now.Add(-c.sinceMade), now); got != c.want {
			t.Errorf("%+v: rank %d", c, got)
		}
	}
}
