package localfile

import (
	"strings"
	"testing"
)

// TestTextHelpers reads times, kinds and limits as programs write them.
func TestTextHelpers(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01T12:00:00+01:00": "2026-03-01T12:00:00+01:00", "2026-03-01": "", "": "", "x": "", "0": "", "-1": "",
		"NaN":        "",
		"1772366400": "2026-03-01T12:00:00.000Z", "1772366400.5": "2026-03-01T12:00:00.500Z",
		"1772366400123": "2026-03-01T12:00:00.123Z",
		"99999999999":   "5138-11-16T09:46:39.000Z", "100000000000": "1973-03-03T09:46:40.000Z",
		"99999999999999":  "5138-11-16T09:46:39.999Z",
		"100000000000000": "", "9999-12-31T23:59:59Z": "9999-12-31T23:59:59Z", "0.001": "1970-01-01T00:00:00.001Z",
	} {
		if got := RecordTime(text); got != want {
			t.Errorf("the time %q is %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("k", 40)
	for text, want := range map[string]string{"": "other", "user_Message-2": "user_Message-2", "two words": "other",
		long: long, long + "k": "other"} {
		if got := LineKind(text); got != want {
			t.Errorf("the kind %q is %q, want %q", text, got, want)
		}
	}
	for choice, want := range map[string]TextLimits{"full": {4 << 20, 4 << 20, 4 << 20}, "usual": {256 << 10, 2 << 10,
		20_000}, "": {256 << 10, 2 << 10, 20_000}} {
		if got := ParseLimits(choice); got != want {
			t.Errorf("the limits of %q are %+v", choice, got)
		}
	}
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aé", 2, "a"}, {"aé", 3, "aé"}, {"a🌱", 4, "a"}, {"a\xff", 2, "a\uFFFD"},
		{"", 0, ""}, {"a", 0, ""},
	} {
		if got := ShortText(c.text, c.limit); got != c.want {
			t.Errorf("%d bytes of %q are %q, want %q", c.limit, c.text, got, c.want)
		}
	}
}
