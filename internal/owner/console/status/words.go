package status

import (
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

var smallNumbers = [...]string{"No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten",
	"Eleven", "Twelve"}

// counted writes a count as a sentence begins: "Three connections need you".
func counted(n int, one, many string) string {
	word := text.Number(int64(n))
	if n >= 0 && n < len(smallNumbers) {
		word = smallNumbers[n]
	}
	if n == 1 {
		return word + " " + one
	}
	return word + " " + many
}

// startWords returns what a connector needs to begin.
func startWords(c api.Connector) string {
	switch {
	case c.Device:
		return "One line to paste on your computer"
	case c.Files != nil && !c.SignsIn:
		return "Give " + c.Files.Wanted
	case c.OnDevices && !c.SignsIn:
		return "Files here, or one line on your computer"
	case c.Form == nil:
		return "Nothing to enter"
	case c.Refresh.Mode == "manual" || c.Refresh.Mode == "paused":
		return formWords(c.Form) + ", then when you ask"
	default:
		return formWords(c.Form) + ", then automatically"
	}
}

// formWords name what is asked for.
func formWords(f *api.CredentialForm) string {
	var labels []string
	for _, field := range f.Fields {
		if field.Required {
			labels = append(labels, field.Label)
		}
	}
	if len(labels) == 0 {
		return f.Label
	}
	return strings.Join(labels, ", ")
}

// viewsOf returns the chosen views by stream.
func viewsOf(s api.Selection) map[string]string {
	views := map[string]string{}
	for _, c := range s.Streams {
		views[c.Stream] = c.View
	}
	return views
}

// selectionLines is a selection as it is entered.
func selectionLines(s api.Selection) string {
	var b strings.Builder
	for _, c := range s.Streams {
		for _, key := range c.Resources {
			b.WriteString(c.Stream + "=" + key + "\n")
		}
	}
	return b.String()
}

func pathEscape(s string) string { return url.PathEscape(s) }

// mostThings is how many streams a card names.
const mostThings = 3

// mostOf shortens a list of names.
func mostOf(names []string) []string {
	if rest := len(names) - mostThings; rest > 1 {
		return append(names[:mostThings:mostThings], text.Number(int64(rest))+" more")
	}
	return names
}
