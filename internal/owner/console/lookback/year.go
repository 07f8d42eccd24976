package lookback

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/visits"
)

// The years that can be looked back on: those that days are counted of.
const (
	firstYear = 1900
	lastYear  = 2198
)

// yearReview is a year in numbers.
type yearReview struct {
	Year         int
	SoFar        bool // it is not over
	Total        int64
	Sources      int
	Kinds        []yearKind
	Months       []yearMonth
	Busiest      time.Time
	BusiestCount int64
	Visits       *visits.Visits
	Behind       []string // sources that do not have all of it
	Earlier      int
	Later        int
}

// yearKind is how much of a kind the year has, and when most.
type yearKind struct {
	records.ThingKind
	Count int64
	Most  string
}

// yearMonth is a month with a bar of how many things it has.
type yearMonth struct {
	Label, Name string
	Count       int64
	Y, High     string
	Address     string
}

func (p *backPages) thisYear(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, yearPage+"/"+strconv.Itoa(p.Now().Year()), http.StatusFound)
}

func (p *backPages) year(w http.ResponseWriter, r *http.Request) {
	year, err := strconv.Atoi(r.PathValue("year"))
	if err != nil || year < firstYear || year > lastYear || year > p.Now().Year() {
		p.ShowFailure(w, r, "year", api.NotFound("There is no such year.", "Choose one up to this year."))
		return
	}
	review, err := p.review(r.Context(), year)
	if err != nil {
		p.ShowFailure(w, r, "year", err)
		return
	}
	p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, "Your "+strconv.Itoa(year), "year"), yearBody(review, p.Now()))
}

// review reads a year from the counts of its days, and its visits.
func (p *backPages) review(ctx context.Context, year int) (*yearReview, error) {
	now := p.Now()
	y := &yearReview{Year: year, SoFar: year == now.Year(), Earlier: year - 1}
	if !y.SoFar {
		y.Later = year + 1
	}
	all, err := things.ReadStreams(ctx, p.Owner)
	if err != nil {
		return nil, err
	}
	days, err := p.Owner.Days(ctx, api.DayQuery{From: fmt.Sprintf("%d-01-01", year), To: fmt.Sprintf("%d-12-31", year)})
	if err != nil {
		return nil, err
	}
	y.count(all, days)
	first := time.Date(year, 1, 1, 0, 0, 0, 0, now.Location())
	where := visits.Finder{Owner: p.Owner, All: all, Names: things.NewNames(ctx, p.Owner, p.Log, all),
		Address: placesPage}
	if y.Visits, err = where.Between(ctx, first, first.AddDate(1, 0, 0)); err != nil {
		return nil, err
	}
	kept, err := p.Owner.Kept(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range kept.Incomplete("") {
		y.Behind = append(y.Behind, s.Name)
	}
	return y, nil
}

// count sums up the days of the year by kind, by month and by day.
func (y *yearReview) count(all *things.Streams, days []api.DayCount) {
	months, byDay, sources := make([]int64, 12), map[string]int64{}, map[string]bool{}
	kinds := map[string][]int64{}
	for _, d := range days {
		s := all.Find(d.ConnectionID, d.Stream)
		at, err := time.Parse(time.DateOnly, d.Day)
		if s == nil || err != nil || !s.Happens() {
			continue
		}
		month := at.Month() - time.January
		sources[d.ConnectionID] = true
		y.Total += d.Records
		months[month] += d.Records
		byDay[d.Day] += d.Records
		if kind, is := records.KindOf(&s.Stream); is {
			if kinds[kind.Name] == nil {
				kinds[kind.Name] = make([]int64, 12)
			}
			kinds[kind.Name][month] += d.Records
		}
	}
	y.Sources = len(sources)
	for day, n := range byDay {
		if at, _ := time.Parse(time.DateOnly, day); n > y.BusiestCount || n == y.BusiestCount && at.Before(y.Busiest) {
			y.Busiest, y.BusiestCount = at, n
		}
	}
	for _, kind := range records.Kinds {
		counts := kinds[kind.Name]
		if counts == nil {
			continue
		}
		one := yearKind{ThingKind: kind}
		best := 0
		for month, n := range counts {
			one.Count += n
			if n > counts[best] {
				best = month
			}
		}
		one.Most = fmt.Sprintf("%s of them in %s", text.Number(counts[best]), time.Month(best+1))
		y.Kinds = append(y.Kinds, one)
	}
	slices.SortStableFunc(y.Kinds, func(a, b yearKind) int { return cmp.Compare(b.Count, a.Count) })
	most := max(1, slices.Max(months))
	for i, n := range months {
		first := time.Date(y.Year, time.Month(i+1), 1, 0, 0, 0, 0, time.UTC)
		high := 34 * float64(n) / float64(most)
		y.Months = append(y.Months, yearMonth{Label: first.Format("Jan"), Name: first.Format("January"), Count: n,
			Y: fmt.Sprintf("%.1f", 36-high), High: fmt.Sprintf("%.1f", high),
			Address: "/day/" + first.Format(time.DateOnly)})
	}
}
