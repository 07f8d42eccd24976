package life

import (
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// passage is a part of what somebody said: words, or lines that are kept as they stand.
type passage struct {
	Text string
	Code bool
}

// longestSaid is how much of one message a page shows; the record has all of it.
const longestSaid = 20_000

// passages divides a text at blank lines and at fences of three backticks. All of it is text
// of others: nothing in it becomes markup. Cut says that there is more.
func passages(said string, most int) (all []passage, cut bool) {
	said = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && text.Obeyed(r) {
			return -1
		}
		return r
	}, said)
	if utf8.RuneCountInString(said) > most {
		said, cut = text.Cut(said, most), true
	}
	add := func(lines []string, code bool) {
		if words := strings.Join(lines, "\n"); strings.TrimSpace(words) != "" {
			all = append(all, passage{strings.Trim(words, "\n"), code})
		}
	}
	var lines []string
	code := false
	for line := range strings.SplitSeq(said, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			add(lines, code)
			lines, code = nil, !code
		case !code && strings.TrimSpace(line) == "":
			add(lines, false)
			lines = nil
		default:
			lines = append(lines, line)
		}
	}
	add(lines, code)
	return all, cut
}
