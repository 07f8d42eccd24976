package records

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// mostCounts is how many groups are shown beside a list.
const mostCounts = 8

// counts is the number of records in the list, by group.
type counts struct {
	By     string
	Groups []countedGroup
	More   bool
}

type countedGroup struct {
	Label   string
	Records string
	Address string // of the records of the group; empty if they cannot be filtered
}

// countChoice is something that records can be counted by: the values of a field, or its
// months or years.
type countChoice struct{ Name, Label, Field, Granularity string }

func (page *recordsPage) countChoices() (all []countChoice) {
	if page.Chosen == nil || !page.Chosen.Aggregations.Count {
		return nil
	}
	for _, f := range page.Chosen.Aggregations.GroupBy {
		all = append(all, countChoice{"value." + f, text.Name(f), f, ""})
	}
	for _, f := range page.Chosen.Aggregations.GroupByTime {
		for _, each := range []string{"month", "year"} {
			all = append(all, countChoice{each + "." + f, text.Name(f) + ", by " + each, f, each})
		}
	}
	return all
}

// count counts the records as the address asks.
func (p *pages) count(r *http.Request, page *recordsPage) error {
	choices := page.countChoices()
	i := slices.IndexFunc(choices, func(c countChoice) bool { return c.Name == page.CountBy })
	if i < 0 || page.Text != "" {
		return nil
	}
	by := choices[i]
	found, err := p.Owner.Aggregate(r.Context(), api.AggregateQuery{
		ConnectionID: page.Connection, Stream: page.Stream, Where: page.Where, Compare: page.Compare, GroupBy: by.Field,
		Granularity: by.Granularity, Limit: mostCounts,
	})
	if err != nil {
		return err
	}
	page.Counts = &counts{By: by.Label, More: found.Truncated}
	for _, g := range found.Groups {
		n, _ := strconv.ParseInt(string(g.Value), 10, 64) // a count is a number
		one := countedGroup{Label: "Without a value", Records: text.Number(n)}
		if g.Key != nil {
			one.Label = text.Cut(text.Line(*g.Key), ui.LongestCell)
			if strings.TrimSpace(one.Label) == "" {
				one.Label = "Empty"
			}
			if by.Granularity == "" && slices.Contains(page.Chosen.Filter, by.Field) && *g.Key != "" {
				c := page.choice
				c.Where, c.CountBy, c.Cursor = maps.Clone(c.Where), "", ""
				c.Where[by.Field] = *g.Key
				one.Address = c.list()
			}
		}
		page.Counts.Groups = append(page.Counts.Groups, one)
	}
	return nil
}
