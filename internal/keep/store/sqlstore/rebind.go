package sqlstore

import (
	"strconv"
	"strings"
	"sync"
)

// Numbered rewrites ? placeholders to $1, $2 and so on. It remembers the
// answer, so it is meant for the fixed queries of this package; none of them
// has a question mark that is not a placeholder.
type Numbered struct{ known sync.Map }

// Rebind gives the query with numbered placeholders.
func (n *Numbered) Rebind(query string) string {
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
