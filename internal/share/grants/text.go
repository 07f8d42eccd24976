package grants

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// Limits, in characters, of what a client states about itself.
const (
	maxName    = 80
	maxPurpose = 300
)

// shown checks a text that the owner will read and decide by: one line, visible
// characters only, since invisible ones could make it read differently.
func shown(param, message string, most int, needed bool) (string, error) {
	message = strings.TrimSpace(message)
	switch {
	case message == "" && needed:
		return "", invalid(param, "The "+words(param)+" is missing.", "Say it in a few words.")
	case !utf8.ValidString(message) || strings.ContainsFunc(message, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", invalid(param, "The "+words(param)+" has characters that cannot be shown.",
			"Use letters, digits, spaces and punctuation.")
	case utf8.RuneCountInString(message) > most:
		return "", invalid(param, fmt.Sprintf("The %s is longer than %d characters.", words(param), most),
			"Say it in fewer words.")
	}
	return message, nil
}

func words(param string) string { return strings.ReplaceAll(param, "_", " ") }

// printableName returns a name from a client, bounded and printable.
func printableName(name string) string {
	const most = 60
	return strconv.Quote(text.Cut(name, most))
}
