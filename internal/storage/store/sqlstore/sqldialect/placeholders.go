package sqldialect

import (
	"strconv"
	"strings"
	"sync"
)

// NumberPlaceholders rewrites ? placeholders to $1, $2 and so on, and caches the result. It is for the fixed queries
// of this package, which contain no other question marks.
type NumberPlaceholders struct{ known sync.Map }

// Rebind returns the query with numbered placeholders.
func (n *NumberPlaceholders) Rebind(query string) string {
	if known, ok := n.known.Load(query); ok {
		return known.(string)
	}
	var b strings.Builder
	b.Grow(len(query) + 32)
	count := 0
	for part := range strings.SplitSeq(query, "?") {
		if count > 0 {
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(count))
		}
		b.WriteString(part)
		count++
	}
	n.known.Store(query, b.String())
	return b.String()
}
