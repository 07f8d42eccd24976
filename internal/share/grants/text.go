package grants

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// Most characters of what a client says of itself.
const (
	maxName    = 80
	maxPurpose = 300
)

// shown checks a text that the owner will read and decide by: one line, visible
// characters only, since invisible ones could make it read differently.
func shown(param, said string, most int, needed bool) (string, error) {
	said = strings.TrimSpace(said)
	switch {
	case said == "" && needed:
		return "", invalid(param, "The "+words(param)+" is missing.", "Say it in a few words.")
	case !utf8.ValidString(said) || strings.ContainsFunc(said, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", invalid(param, "The "+words(param)+" has characters that cannot be shown.", "Use letters, digits, spaces and punctuation.")
	case utf8.RuneCountInString(said) > most:
		return "", invalid(param, fmt.Sprintf("The %s is longer than %d characters.", words(param), most), "Say it in fewer words.")
	}
	return said, nil
}

func words(param string) string { return strings.ReplaceAll(param, "_", " ") }

// quoted shows a name that somebody sent, bounded and without surprises.
func quoted(name string) string {
	const most = 60
	return strconv.Quote(text.Cut(name, most))
}
