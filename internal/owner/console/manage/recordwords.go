package manage

import (
	"maps"
	"slices"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// mostFilters bounds the fields of the filter form; what an address filters by
// besides stays in force.
const mostFilters = 6

// filters are the fields that the form offers.
func (page *recordsPage) filters() []string {
	fields := page.Chosen.Filter[:min(len(page.Chosen.Filter), mostFilters)]
	for _, name := range slices.Sorted(maps.Keys(page.Where)) {
		if !slices.Contains(fields, name) {
			fields = append(slices.Clone(fields), name)
		}
	}
	return fields
}

// filterWords say what the list is filtered by.
func (page *recordsPage) filterWords() string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(page.Where)) {
		words = append(words, text.Name(name)+" “"+page.Where[name]+"”")
	}
	for _, by := range sortedComparisons(page.Compare) {
		words = append(words, page.boundWords(by)+" “"+page.Compare[by]+"”")
	}
	return text.List(words)
}

func (page *recordsPage) searchLabel() string {
	if page.Chosen != nil {
		return "Search " + page.Chosen.Label
	}
	return "Search all records"
}

func (page *recordsPage) searchHint() string {
	if page.Chosen == nil {
		return "Search the text of all records"
	}
	if len(page.Chosen.Search) == 0 {
		return "This stream has no text to search"
	}
	var names []string
	for _, name := range page.Chosen.Search[:min(len(page.Chosen.Search), 3)] {
		names = append(names, text.Name(name))
	}
	return "Search " + text.List(names)
}

// openIn says where the record beside the list is from.
func (page *recordsPage) openIn(o *Opened) string {
	if s := findStream(page.Streams, o.ConnectionID, o.Stream); s != nil {
		return s.Label + ", " + s.ConnectionName
	}
	return o.Stream
}

// line is one side of a change.
func (c change) line(side string) string {
	if c.Path == "" {
		return side
	}
	return c.Path + ": " + side
}
