package browse

import (
	"cmp"
	"slices"

	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

// bySource counts the records of streams by their connections, those with most first.
func bySource(of []*things.Stream, address func(connection string) string, chosen string) (all []facet) {
	at := map[string]int{}
	var sum int64
	for _, s := range of {
		i, known := at[s.ConnectionID]
		if !known {
			i = len(all)
			at[s.ConnectionID] = i
			all = append(all, facet{Label: s.ConnectionName, Address: address(s.ConnectionID),
				Current: s.ConnectionID == chosen})
		}
		all[i].Count += s.Records
		sum += s.Records
	}
	slices.SortStableFunc(all, func(a, b facet) int { return cmp.Compare(b.Count, a.Count) })
	return append([]facet{{Label: "All sources", Address: address(""), Count: sum, Current: chosen == ""}}, all...)
}
