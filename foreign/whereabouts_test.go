package foreign

import (
	"slices"
	"strings"
	"testing"
)

// A tap's output is written as letters: A begins stream a, a is its record, z its end; ? is a request that is
// answered and ! one that is refused. The place of the refusal decides which streams it concerns.
func TestWhereabouts(t *testing.T) {
	for _, c := range []struct {
		name, output string
		kind         TapProtocol
		want         string
	}{
		{"one after the other", "A?a B!C?c", Singer, "b"},
		{"the last one", "A?a B?b C!", Singer, "c"},
		{"before the first", "!A?a B?b C?c", Singer, "abc"},
		{"a parent with its children", "A?a BC!?b ?c", Singer, "bc"},
		{"a parent between its children", "A?a BC?b ?c !b", Singer, "bc"},
		{"once more for each account", "A?a B!C?c A?a B?b C?c", Singer, "b"},
		{"mixed", "A?a B?b a!b a C?c", Singer, "ab"},
		{"all begun first", "ABC?a !?c", Singer, "abc"},
		{"answers before beginnings", "?Aa !B ?Cc", Singer, "abc"},
		{"written late", "??!AaBbCc", Singer, "abc"},
		{"nothing to go by", "A!B!C!", Singer, "abc"},
		{"a record of no stream", "A?a b!C?c", Singer, "abc"},
		{"a source", "A?ax B!y C?cz", Airbyte, "b"},
		{"a source with streams side by side", "AB?a ?b !x yC?cz", Airbyte, "ab"},
		{"a source between two streams", "A?ax !B?by C?cz", Airbyte, "bc"},
	} {
		all := map[byte]*sourceStream{'a': {}, 'b': {}, 'c': {}}
		var w requestLocator
		var asked, refused []int64
		for i := range len(c.output) {
			letter, at := c.output[i], int64(i+1)
			switch {
			case letter == '?' || letter == '!':
				asked = append(asked, int64(i))
				if letter == '!' {
					refused = append(refused, int64(i))
				}
			case letter >= 'A' && letter <= 'C':
				w.begin(all[letter|0x20], at)
			case letter >= 'a' && letter <= 'c':
				w.record(all[letter], at)
			case letter >= 'x' && letter <= 'z':
				w.complete(all[letter-'x'+'a'], at)
			}
		}
		working, _ := w.at(c.kind, asked)
		var got []string
		for name, s := range all {
			if slices.ContainsFunc(refused, func(place int64) bool { return working(s, place) }) {
				got = append(got, string(name))
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, ""); text != c.want {
			t.Errorf("%s (%s): %s, want %s", c.name, c.output, text, c.want)
		}
	}
}
