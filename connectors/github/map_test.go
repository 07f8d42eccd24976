package github

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

// TestPullItem checks the list item and the locator of a pull request, and rows without them.
func TestPullItem(t *testing.T) {
	t.Parallel()
	item := pullRequestItem(jsontext.Value(`{"id":901,"number":7,"updated_at":"2026-01-05T00:00:00Z",` +
		`"repository_url":"https://api.github.com/repos/ana/tool","labels":["bug"]}`))
	if item.Key != "901" || !item.Time.Equal(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)) ||
		string(item.Locator) != `{"repository":"ana/tool","number":7}` {
		t.Errorf("item %+v", item)
	}
	for _, raw := range []string{
		`{"id":901,"number":7,"updated_at":"2026-01-05T00:00:00Z"}`,
		`{"id":901,"number":7,"updated_at":"2026-01-05T00:00:00Z","repository_url":"https://api.github.com/repos/ana/` +
			`tool/x"}`,
		`{"id":901,"updated_at":"2026-01-05T00:00:00Z","repository_url":"https://api.github.com/repos/ana/tool"}`,
		`{"number":7,"updated_at":"2026-01-05T00:00:00Z","repository_url":"https://api.github.com/repos/ana/tool"}`,
		`{"id":901,"number":7,"updated_at":"yesterday","repository_url":"https://api.github.com/repos/ana/tool"}`,
		`7`, `null`,
	} {
		if item := pullRequestItem(jsontext.Value(raw)); item.Key != "" {
			t.Errorf("%s has the place %s %s", raw, item.Key, item.Time)
		}
	}
}

func TestQuerySpansDays(t *testing.T) {
	t.Parallel()
	a := time.Date(2026, 1, 5, 23, 0, 0, 0, time.FixedZone("", -7200)) // the 6th in UTC
	b := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for want, got := range map[string]string{
		"type:pr author:ana":                                searchQuery("ana", time.Time{}, time.Time{}),
		"type:pr author:ana updated:>=2026-01-06":           searchQuery("ana", a, time.Time{}),
		"type:pr author:ana updated:<=2026-03-01":           searchQuery("ana", time.Time{}, b),
		"type:pr author:ana updated:2026-01-06..2026-03-01": searchQuery("ana", a, b),
	} {
		if got != want {
			t.Errorf("query %q, want %q", got, want)
		}
	}
}

// FuzzRows shows that nothing GitHub could send makes the mapping fail otherwise
// than by declaring the row unreadable.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"full_name":"a/b","license":null,"topics":null}`, `{"starred_at":"x","repo":null}`,
		`{"starred_at":null,"repo":{"id":3}}`,
		`{"id":"f0","files":{"a":{"size":1}}}`,
		`{"id":1,"updated_at":"2026-01-05T00:00:00Z","labels":["a",{"name":"b"}],"user":null}`,
		`null`, `[]`, `{"id":1e400}`, `{"id":9223372036854775808}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		if !jsontext.Value(raw).IsValid() {
			return
		}
		for _, stream := range source.Streams {
			rest.Reader(manifestJSON, rest.Stream{Name: stream.Name, Fields: stream.Fields})(rest.Item{Raw: raw})
		}
		pullRequestItem(raw)
		readDetail(rest.Item{Raw: raw})
	})
}
