package protocol

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// spread writes JSON with as much white space as it may have on one line.
var spread = json.JoinOptions(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))

var (
	anyRune  = rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\u2028\u2029\n\r\t\x00\"\\/<>&'é😀")))
	anyText  = rapid.Map(rapid.StringOfN(anyRune, 0, 12, -1), func(s string) string { return strings.ToValidUTF8(s, "?") })
	someText = rapid.Map(anyText, func(s string) string { return "x" + s })
	someKey  = rapid.Map(someText, func(s string) string { return strings.ReplaceAll(s, "\x00", "") })
	amounts  = rapid.Float64Range(0, 1e12)
	positive = rapid.Float64Range(1e-9, 1e12)
	safeInts = rapid.Int64Range(0, maxSafeInt)
	texts    = rapid.SliceOfN(anyText, 0, 3)
	ranges   = rapid.Custom(func(t *rapid.T) *TimeRange {
		return &TimeRange{Since: someText.Draw(t, "since"), Until: maybe(t, someText, "until")}
	})
	// anyValue draws any JSON value but null, anyObject one that is an object.
	anyValue = rapid.Custom(func(t *rapid.T) jsontext.Value { return encodedValue(drawnValue(t, 3)) }).
			Filter(func(v jsontext.Value) bool { return v.Kind() != 'n' })
	anyObject = rapid.Custom(func(t *rapid.T) jsontext.Value { return encodedValue(drawnObject(t, 3)) })
	cursors   = rapid.OneOf(anyObject, rapid.Just(jsontext.Value("null")))
)

func drawnValue(t *rapid.T, depth int) any {
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return anyText.Draw(t, "text")
	case 3:
		return jsontext.Value(
			rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number"),
		)
	case 4:
		return rapid.Int64().Draw(t, "integer")
	case 5:
		return drawnObject(t, depth-1)
	default:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawnValue(t, depth-1)
		}
		return list
	}
}

func drawnObject(t *rapid.T, depth int) any {
	object := map[string]any{}
	for _, name := range rapid.SliceOfN(anyText, 0, 4).Draw(t, "names") {
		object[name] = drawnValue(t, max(depth-1, 0))
	}
	return object
}

func encodedValue(v any) jsontext.Value {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return b
}

// maybe draws a value or the zero value, which represents an absent member.
func maybe[T any](t *rapid.T, g *rapid.Generator[T], label string) T {
	if rapid.Bool().Draw(t, "has "+label) {
		return g.Draw(t, label)
	}
	var zero T
	return zero
}

// optional is maybe for members with an absence that differs from their zero value.
func optional[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	if !rapid.Bool().Draw(t, "has "+label) {
		return nil
	}
	return new(g.Draw(t, label))
}

func oneFrom[T any](t *rapid.T, list []T, label string) T {
	return rapid.SampledFrom(list).Draw(t, label)
}

func drawnHint(t *rapid.T) *RecoveryHint {
	if !rapid.Bool().Draw(t, "has hint") {
		return nil
	}
	return &RecoveryHint{Action: oneFrom(t, RecoveryActions, "action"), Retryable: optional(t, rapid.Bool(), "retryable")}
}

func drawnCoverage(t *rapid.T) KeyCoverage {
	var c KeyCoverage
	for _, key := range rapid.SliceOfNDistinct(someKey, 0, 6, rapid.ID).Draw(t, "keys") {
		c.RequiredKeys = append(c.RequiredKeys, key)
		switch rapid.IntRange(0, 3).Draw(t, "outcome") {
		case 0:
			c.HydratedKeys = append(c.HydratedKeys, key)
		case 1:
			c.GapKeys = append(c.GapKeys, key)
		case 2:
			c.OptionalSkipKeys = append(c.OptionalSkipKeys, key)
		}
	}
	return c
}

func drawnEntries(t *rapid.T) []GapEntry {
	entries := make([]GapEntry, rapid.IntRange(0, 2).Draw(t, "entries"))
	for i := range entries {
		entries[i] = GapEntry{
			GapID:   someText.Draw(t, "gap"),
			LeaseID: someText.Draw(t, "lease"),
			Stream:  someText.Draw(t, "stream"),
			ParentStream: maybe(
				t,
				someKey,
				"parent",
			),
			RecordKey:     WireKey(maybe(t, someKey, "key")),
			DetailLocator: maybe(t, anyObject, "locator"),
			Status:        GapPending,
			ReferenceOnly: rapid.Bool().Draw(t, "reference_only"),
		}
	}
	return entries
}
