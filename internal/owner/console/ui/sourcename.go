package ui

import (
	"strings"
	"unicode"

	"github.com/pdpp-go/pdpp/internal/view"
)

// longestSourceName bounds the part of an address that names a source.
const longestSourceName = 60

// SourceNames returns how each source is named in addresses, by its id: its display name in small letters and hyphens.
// A source has none if another one is named alike, if its name has no letter, or if a page has that address. Its id
// always works.
func SourceNames(all []view.Connection) map[string]string {
	names, owners := map[string]string{}, map[string]int{"": 2, "add": 2, "events": 2}
	for i := range all {
		owners[all[i].ID] += 2
		owners[sourceName(all[i].DisplayName)]++
	}
	for i := range all {
		if name := sourceName(all[i].DisplayName); owners[name] == 1 {
			names[all[i].ID] = name
		}
	}
	return names
}

// sourceName returns a display name as a part of an address.
func sourceName(display string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.NewReplacer("'", "", "’", "").Replace(display)),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	name := []rune(strings.Join(words, "-"))
	return strings.Trim(string(name[:min(len(name), longestSourceName)]), "-")
}
