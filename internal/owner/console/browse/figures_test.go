package browse

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
)

// figuresOf sums figures of a kind up: each is a value and what it is of.
func figuresOf(kind, unitRole, chosen string, values ...string) *figuresPage {
	s := &things.Stream{Stream: api.Stream{Name: "all",
		Display: api.Display{Kind: kind, Roles: map[string]string{"amount": "v", "value": "v", unitRole: "u",
			"series": "s"}}}}
	day := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	page := &figuresPage{Money: kind == "transaction", First: day.AddDate(0, 0, 1-daysShown)}
	n := (&browsePages{}).names(context.Background(), &things.Streams{})
	var things []things.Thing
	for _, v := range values {
		amount, of, _ := strings.Cut(v, " ")
		things = append(things, s.Thing(api.Record{At: &day,
			Data: []byte(fmt.Sprintf(`{"v":%s,"u":%q,"s":"weight"}`, amount, of))}))
	}
	page.sum(n, things, page.series(n, things, figureChoice{series: chosen}), time.UTC)
	return page
}

// Amounts of several currencies are never added up, nor are measurements in several units averaged: each is a
// series, and the most frequent one is shown unless another is asked for.
func TestFiguresAreNotMixed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, role, chosen, want string }{
		{"transaction", "currency", "", "30.00 EUR went out and 0.00 EUR came in, on 1 day of 90."},
		{"transaction", "currency", "USD", "500.00 USD went out and 0.00 USD came in, on 1 day of 90."},
		{"measurement", "unit", "", "15 EUR on average over 1 day; 89 days were not measured and are left out."},
		{"measurement", "unit", "Weight, USD", "500 USD on average over 1 day; 89 days were not measured and are left out."},
	} {
		sign := map[string]string{"transaction": "-", "measurement": ""}[c.kind]
		page := figuresOf(c.kind, c.role, c.chosen, sign+"10 EUR", sign+"20 EUR", sign+"500 USD")
		if got := strings.ReplaceAll(page.sentence(), "−", "-"); got != c.want || len(page.Series) != 2 {
			t.Errorf("%s %q: %s, %d series", c.kind, c.chosen, got, len(page.Series))
		}
	}
	if page := figuresOf("transaction", "currency", "", "-10 ", "-20 "); page.Out != 30 || len(page.Series) != 0 {
		t.Errorf("without a currency: %v, %+v", page.Out, page.Series)
	}
	// One that has no name is a series like the others.
	if page := figuresOf("transaction", "currency", "", "-10 ", "-20 ", "-500 USD"); page.Out != 30 ||
		len(page.Series) != 2 || page.Series[0].Label != "Unnamed" || !page.Series[0].Current {
		t.Errorf("some without a currency: %v, %+v", page.Out, page.Series)
	}
}
