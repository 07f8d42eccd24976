package records

import (
	"maps"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// mostFilters is how many fields the filter form offers. Further filters of the address still apply.
const mostFilters = 6

// filters returns the fields of the filter form.
func (page *recordsPage) filters() []string {
	fields := page.Chosen.Filter[:min(len(page.Chosen.Filter), mostFilters)]
	for _, name := range slices.Sorted(maps.Keys(page.Where)) {
		if !slices.Contains(fields, name) {
			fields = append(slices.Clone(fields), name)
		}
	}
	return fields
}

// filterWords describes the active filters.
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

// openIn returns the stream and connection of the open record.
func (page *recordsPage) openIn(o *Opened) string {
	if s := findStream(page.Streams, o.ConnectionID, o.Stream); s != nil {
		return s.Label + ", " + s.ConnectionName
	}
	return o.Stream
}

// line returns one side of a change with its path.
func (c change) line(side string) string {
	if c.Path == "" {
		return side
	}
	return c.Path + ": " + side
}

// shortMoment returns a moment for a narrow column: the time if it is today, the day if it is this year, or else
// the month and the year.
func shortMoment(t, now time.Time) string {
	t = t.In(now.Location())
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan")
	default:
		return t.Format("Jan 2006")
	}
}
