package prose

import (
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// Passage is a part of a message: prose, or lines of code kept unchanged.
type Passage struct {
	Text string
	Code bool
}

// Passages splits a text at blank lines and at fences of three backticks. The text is untrusted
// and never becomes markup. cut reports whether text was left out.
func Passages(message string, most int) (all []Passage, cut bool) {
	message = text.Lines(message)
	if utf8.RuneCountInString(message) > most {
		message, cut = text.Cut(message, most), true
	}
	add := func(lines []string, code bool) {
		if words := strings.Join(lines, "\n"); strings.TrimSpace(words) != "" {
			all = append(all, Passage{strings.Trim(words, "\n"), code})
		}
	}
	var lines []string
	code := false
	for line := range strings.SplitSeq(message, "\n") {
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
