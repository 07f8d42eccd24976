package records

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// bound is one end of a range in the filter form.
type bound struct {
	api.Comparison
	Label, Type, Value string
}

// boundWords returns the label of one end of a range.
func (page *recordsPage) boundWords(by api.Comparison) string {
	words := map[string]string{"gt": "above", "gte": "from", "lt": "below", "lte": "up to"}
	i := slices.IndexFunc(page.Chosen.RangeFilters, func(f api.RangeFilter) bool { return f.Field == by.Field })
	if i >= 0 && (page.Chosen.RangeFilters[i].Kind == "time" || page.Chosen.RangeFilters[i].Kind == "date") {
		words["gt"], words["lt"] = "after", "before"
	}
	return text.Name(by.Field) + " " + words[by.Operator]
}

// bounds returns the ends of ranges in the form: of the first comparable fields, and of all fields that the address
// compares.
func (page *recordsPage) bounds() (all []bound) {
	left := max(1, mostFilters/2-len(page.Chosen.Filter))
	for _, f := range page.Chosen.RangeFilters {
		used := 0
		upper := []string{"lte", "lt"}
		if f.Kind == "time" {
			upper = []string{"lt", "lte"} // a chosen day means its beginning
		}
		for _, operators := range [][]string{{"gte", "gt"}, upper} {
			i := slices.IndexFunc(operators, func(o string) bool {
				_, asked := page.Compare[api.Comparison{Field: f.Field, Operator: o}]
				return asked
			})
			asked := i >= 0
			if !asked {
				i = slices.IndexFunc(operators, func(o string) bool { return slices.Contains(f.Operators, o) })
			}
			if i < 0 || !asked && left == 0 {
				continue
			}
			used = 1
			by := api.Comparison{Field: f.Field, Operator: operators[i]}
			all = append(all, bound{by, page.boundWords(by), boundType(f.Kind, page.Compare[by]), page.Compare[by]})
		}
		left = max(0, left-used)
	}
	return all
}

// boundType returns the input type for a field, or text if the browser could not show the value.
func boundType(kind, value string) string {
	switch _, err := time.Parse(time.DateOnly, value); {
	case kind == "number":
		return "number"
	case kind != "text" && (value == "" || err == nil):
		return "date"
	}
	return "text"
}

func sortedComparisons(all api.Comparisons) []api.Comparison {
	return slices.SortedFunc(maps.Keys(all), func(a, b api.Comparison) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Operator, b.Operator))
	})
}
