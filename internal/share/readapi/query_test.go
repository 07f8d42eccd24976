package readapi

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// For any address the parser returns a query within its limits or an error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1&order=desc", "filter[a]=b&filter[c]=d", "filter[=x", "filter]=x", "filter[a][b]=c",
		"changes_since=beginning", "cursor=abc&fields=a,b",
		"limit=-1", "limit=1&limit=2", "%zz", "a;b", "fields=,", "q=%00", "limit[x]=3", "order]=asc",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r := &http.Request{URL: &url.URL{RawQuery: raw}}
		q, err := parseQuery(r, "q", "connection_id", "limit", "cursor", "order", "fields", "filter", "changes_since")
		if err != nil {
			var refused *usererr.Error
			if !errors.As(err, &refused) || refused.Status != http.StatusBadRequest || len(refused.Param) > 50 {
				t.Fatalf("%q is refused as %#v", raw, err)
			}
			return
		}
		if q.limit < 1 || q.limit > maxLimit || len(q.where) > maxFilters || len(q.fields) > maxFields || q.stream != "" {
			t.Fatalf("%q gives %+v", raw, q)
		}
		for _, w := range q.where {
			if w.Field == "" || !strings.Contains(raw, "filter") {
				t.Fatalf("%q gives the filter %+v", raw, w)
			}
		}
		if q.changes && (q.newest || q.cursor != "" || len(q.where) > 0) {
			t.Fatalf("%q gives %+v", raw, q)
		}
	})
}
