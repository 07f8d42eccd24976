package text

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{Number(0), "0"}, {Number(999), "999"}, {Number(1000), "1,000"}, {Number(-1234567), "-1,234,567"},
		{Number(-100), "-100"},
		{Count(1, "gap", "gaps"), "1 gap"}, {Count(0, "gap", "gaps"), "0 gaps"}, {Count(2000, "gap", "gaps"), "2,000 gaps"},
		{DurationWords(0), "0 seconds"}, {DurationWords(time.Second), "1 second"},
		{DurationWords(90 * time.Second), "1 minute 30 seconds"},
		{DurationWords(25*time.Hour + 61*time.Second), "1 day 1 hour"}, {DurationWords(2 * time.Hour), "2 hours"},
		{Cut("pears", 5), "pears"}, {Cut("Birnbäume", 6), "Birnb…"}, {Cut("🍐🍐🍐", 2), "🍐…"}, {Cut("äää", 3), "äää"},
		{Line(" a\r\n b\t\tc\u2028d\x1b[0m "), "a b c d [0m"}, {Line("\n"), ""},
		{Upper("énorme"), "Énorme"}, {Upper(""), ""}, {Upper("\xff"), "\xff"},
		{Lower("Énorme"), "énorme"}, {Lower("URLs"), "URLs"}, {Lower(""), ""}, {Lower("A"), "a"}, {Lower("\xff"), "\xff"},
		{Sentence(" no answer "), "No answer."}, {Sentence("Why?"), "Why?"}, {Sentence(""), ""},
		{Name("open_issues"), "Open issues"}, {Name("merged-at"), "Merged at"}, {Name("_"), "_"},
		{List(nil), ""}, {List([]string{"a"}), "a"}, {List([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestNumberKeepsItsDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		written := Number(n)
		if plain := strings.ReplaceAll(written, ",", ""); plain != strconv.FormatInt(n, 10) {
			t.Fatalf("%d is written %s", n, written)
		}
		for i, group := range strings.Split(strings.TrimPrefix(written, "-"), ",") {
			if len(group) != 3 && (i > 0 || len(group) > 3 || group == "") {
				t.Fatalf("%d is written %s", n, written)
			}
		}
	})
}

// Any text becomes one bounded line of printable characters.
func TestCutLineIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, most := rapid.String().Draw(t, "text"), rapid.IntRange(1, 20).Draw(t, "most")
		got := Cut(Line(s), most)
		if utf8.RuneCountInString(got) > most || strings.ContainsFunc(got, Obeyed) || !utf8.ValidString(got) {
			t.Fatalf("%q of %d became %q", s, most, got)
		}
		if full := Line(s); got != full && !strings.HasSuffix(got, "…") {
			t.Fatalf("%q was cut to %q without a sign", full, got)
		}
	})
}
