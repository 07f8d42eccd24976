package records

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// collectPages returns exactly the limit, whatever page sizes the service uses.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total, limit := rapid.IntRange(0, 400).Draw(t, "total"), rapid.IntRange(1, 500).Draw(t, "limit")
		given := 0
		page, err := collectPages(limit, "", func(n int, cursor string) (api.RecordPage, error) {
			if n < 1 || n > largestPage || (cursor == "") != (given == 0) {
				t.Fatalf("asked for %d with cursor %q after %d", n, cursor, given)
			}
			n = min(n, total-given)
			given += n
			p := api.RecordPage{Records: make([]api.Record, n)}
			if given < total {
				p.Next = fmt.Sprint(given)
			}
			return p, nil
		})
		if err != nil || len(page.Records) != min(total, limit) || (page.Next != "") != (limit < total) {
			t.Fatalf("%d records, next %q, %v", len(page.Records), page.Next, err)
		}
	})
}
