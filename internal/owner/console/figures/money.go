package figures

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// moneySpans are the ranges of what was paid.
var moneySpans = []dateRange{
	{"month", "Month", "the month before", 1, "day"},
	{"year", "12 months", "the 12 months before", 12, "month"},
	{"all", "All", "", 0, "month"},
}

// moneyPageData is what was paid and received.
type moneyPageData struct {
	Ranges, Currencies []choiceLink
	Currency           string
	Span               dateRange
	Chart              chart
	Buckets            []bucket
	Received           map[time.Time]float64 // by the beginning of a bucket
	Average            string
	Lede               string
	Groups             []moneyGroup
	GroupedBy          string
	Month              time.Time
	Latest             []booking
	Sources            string
	Partly             string
	Since              string
	Records            string
	Export             records.ExportList
	Empty              bool
}

// moneyGroup is what was spent on a category in a month.
type moneyGroup struct {
	Name, Amount, Change string
	Percent              int
}

// booking is one payment.
type booking struct {
	Name, Note, Amount, Address string
}

const (
	groupsShown   = 8
	bookingsShown = 8
)

func (p *figurePages) money(w http.ResponseWriter, r *http.Request) {
	ctx, at := r.Context(), readChoice(r)
	all, err := things.ReadStreams(ctx, p.Owner)
	var kept api.Kept
	if err == nil {
		kept, err = p.Owner.Kept(ctx)
	}
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	streams := streamsOf(all, manifest.KindTransaction)
	if at.stream != "" {
		streams = slices.DeleteFunc(streams, func(s *things.Stream) bool { return s.Path() != at.stream })
		if len(streams) == 0 {
			p.ShowFailure(w, r, ui.Section(r), api.NotFound("There is no such list of payments.", "Choose one from the page."))
			return
		}
	}
	page := &moneyPageData{Span: chooseSpan(moneySpans, at.span, "year"), Empty: len(streams) == 0}
	page.Ranges = at.links(moneySpans, page.Span)
	streams = streams[:min(len(streams), mostStreams)]
	today := midnight(p.Now())
	month := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, today.Location())
	page.Month = month
	var from, shown time.Time
	if page.Span.days > 0 { // at least what the comparison of two months needs
		from, shown = month.AddDate(0, 1-2*page.Span.days, 0), month.AddDate(0, 1-page.Span.days, 0)
	}
	page.Export = things.ExportBetween(streams, shown, today.AddDate(0, 0, 1))
	page.Export.Legend = "Export the bookings of these months"
	found, err := p.readAll(ctx, streams, from, today.AddDate(0, 0, 1))
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	page.fill(at, &ledger{found: found, names: things.NewNames(ctx, p.Owner, p.Log, all), today: today, month: month,
		since: firstDayOf(&kept, streams, today.Location())})
	p.show(w, r, "Money", moneyBody(page))
}

// firstDayOf is the first day that has payments.
func firstDayOf(kept *api.Kept, of []*things.Stream, zone *time.Location) (first time.Time) {
	for _, source := range kept.Sources {
		for _, s := range source.Streams {
			if !slices.ContainsFunc(of, func(one *things.Stream) bool {
				return one.ConnectionID == source.ConnectionID && one.Name == s.Name
			}) {
				continue
			}
			day, err := time.ParseInLocation(time.DateOnly, s.FirstDay, zone)
			if err == nil && (first.IsZero() || day.Before(first)) {
				first = day
			}
		}
	}
	return first
}

// ledger is what was read of payments.
type ledger struct {
	found  []streamReading
	names  *things.Names
	today  time.Time
	month  time.Time // the first day of the month
	since  time.Time // the first day that has payments, or that was read
	chosen []*things.Thing
}

// choose keeps the payments of one currency, the newest first. It returns the currencies, the most frequent first.
func (l *ledger) choose(wanted string) (currencies []string, chosen string) {
	counts := map[string]int{}
	for i := range l.found {
		for j := range l.found[i].things {
			counts[l.found[i].things[j].Currency()]++
		}
		if r := &l.found[i]; r.partly {
			l.since = maxTime(l.since, r.since)
		}
	}
	currencies = slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	if len(currencies) == 0 {
		return nil, ""
	}
	if chosen = currencies[0]; counts[wanted] > 0 {
		chosen = wanted
	}
	for i := range l.found {
		for j := range l.found[i].things {
			t := &l.found[i].things[j]
			if _, ok := t.Number("amount"); ok && t.Currency() == chosen {
				l.chosen = append(l.chosen, t)
			}
		}
	}
	slices.SortStableFunc(l.chosen, func(a, b *things.Thing) int { return b.At.Compare(*a.At) })
	return currencies, chosen
}

// spent adds up what was spent from one day up to, and without, another.
func (l *ledger) spent(from, to time.Time) (sum float64) {
	for _, t := range l.chosen {
		amount, _ := t.Number("amount")
		if day := dayOf(t, l.today.Location()); amount < 0 && !day.Before(from) && day.Before(to) {
			sum -= amount
		}
	}
	return sum
}

// fill describes the payments of the chosen currency.
func (page *moneyPageData) fill(at figureChoice, l *ledger) {
	currencies, chosen := l.choose(at.series)
	page.Currency = chosen
	for _, c := range currencies {
		if len(currencies) > 1 {
			to := at
			to.series = c
			page.Currencies = append(page.Currencies, choiceLink{cmp.Or(c, "Without a currency"), to.address(), c == chosen})
		}
	}
	var sources []string
	for _, r := range l.found {
		if !slices.Contains(sources, r.of.ConnectionName) {
			sources = append(sources, r.of.ConnectionName)
		}
		if r.partly {
			page.Partly = "There is more than one page can read, so this begins on " + l.since.Format("2 January 2006") + "."
		}
		page.Records = r.of.ListAddress()
	}
	page.Sources = text.List(sources)
	if !l.since.IsZero() {
		page.Since = "Bookings since " + l.since.Format("2 January 2006") + "."
	}
	page.draw(l)
	page.compare(l)
	page.group(l)
	for _, t := range l.chosen[:min(len(l.chosen), bookingsShown)] {
		amount, _ := t.Number("amount")
		written := things.Money(amount, chosen)
		if amount > 0 {
			written = "+" + written
		}
		note := dayOf(t, l.today.Location()).Format("2 January")
		if group := l.names.Of(t, "series"); group != "" {
			note += ", " + group
		}
		page.Latest = append(page.Latest, booking{cmp.Or(l.names.Of(t, "title"), t.In.Label), note, written, t.Address()})
	}
}

// draw draws what was spent, beside the range before.
func (page *moneyPageData) draw(l *ledger) {
	first := l.month
	switch {
	case page.Span.days == 0:
		first = l.since
		if first.IsZero() {
			first = l.month
		}
		if l.today.Sub(first) > 4*365*24*time.Hour {
			page.Span.each = "year"
		}
	case page.Span.days > 1:
		first = l.month.AddDate(0, 1-page.Span.days, 0)
	}
	page.Buckets = bucketsOf(first, l.today, page.Span.each)
	page.Received = map[time.Time]float64{}
	l.fill(page.Buckets, page.Received)
	s := series{now: page.Buckets, each: page.Span.each, bars: true}
	if page.Span.days > 0 {
		back := bucketsOf(first.AddDate(0, -page.Span.days, 0), first.AddDate(0, 0, -1), page.Span.each)
		if len(back) > len(s.now) {
			back = back[:len(s.now)]
		}
		for len(back) < len(s.now) {
			back = append(back, bucket{Unknown: true})
		}
		l.fill(back, nil)
		for i := range back {
			if back[i].From.Before(l.since) { // not all of it is here
				back[i] = bucket{Unknown: true}
			}
		}
		if slices.ContainsFunc(back, func(b bucket) bool { return b.Value != 0 }) {
			s.before = back
		}
	}
	var whole, sum float64
	for _, b := range page.Buckets {
		if !b.Unknown && !b.To.After(l.today) && !b.From.Before(l.since) { // it is over, and all of it is here
			sum += b.Value
			whole++
		}
	}
	if whole > 0 {
		s.average, s.averaged = sum/whole, true
		page.Average = page.with(s.average) + " a " + page.Span.each + " on average"
	}
	page.Chart = drawChart(s, rounded)
	page.Chart.Label = "Spent by " + page.Span.each + ". " + page.most() + " " + text.Sentence(page.Average)
}

// fill adds up what was spent and received in each bucket. What is before the first payment is not known.
func (l *ledger) fill(all []bucket, received map[time.Time]float64) {
	if len(all) == 0 {
		return
	}
	for i := range all {
		b := &all[i]
		b.Unknown = b.To.IsZero() || l.since.IsZero() || !b.To.After(l.since)
	}
	for _, t := range l.chosen {
		amount, _ := t.Number("amount")
		day := dayOf(t, l.today.Location())
		i := slices.IndexFunc(all, func(b bucket) bool { return !day.Before(b.From) && day.Before(b.To) })
		switch {
		case i < 0 || all[i].Unknown:
		case amount < 0:
			all[i].Value -= amount
			all[i].Known++
		case received != nil:
			received[all[i].From] += amount
		}
	}
}

// most names the bucket in which most was spent.
func (page *moneyPageData) most() string {
	if len(page.Buckets) == 0 {
		return ""
	}
	most := slices.MaxFunc(page.Buckets, func(a, b bucket) int { return cmp.Compare(a.Value, b.Value) })
	if most.Value == 0 {
		return "Nothing was spent."
	}
	return "Most: " + most.label(page.Span.each) + ", " + page.with(most.Value) + "."
}

// compare describes what was spent this month, and how that differs from the month before by the same day.
func (page *moneyPageData) compare(l *ledger) {
	tomorrow := l.today.AddDate(0, 0, 1)
	now := l.spent(l.month, tomorrow)
	page.Lede = "You spent " + page.with(now) + " in " + l.month.Format("January") + " so far"
	before := l.month.AddDate(0, -1, 0)
	if !l.since.IsZero() && !l.since.After(before) {
		until := before.AddDate(0, 0, l.today.Day())
		if until.After(l.month) {
			until = l.month
		}
		page.Lede += ", " + page.difference(now-l.spent(before, until)) + " in " + before.Format("January") + " by this day"
	}
	page.Lede += "."
}

// difference writes how much more or less something is than something else.
func (page *moneyPageData) difference(by float64) string {
	written := page.with(math.Abs(by))
	switch {
	case math.Abs(by) < .005:
		return "the same as"
	case by > 0:
		return written + " more than"
	default:
		return written + " less than"
	}
}

// group adds up what was spent this month by category, or by payee where no category is declared.
func (page *moneyPageData) group(l *ledger) {
	role := "series"
	page.GroupedBy = "by category"
	if !slices.ContainsFunc(l.found, func(r streamReading) bool { return r.of.Role("series") != "" }) {
		role, page.GroupedBy = "title", "by payee"
	}
	before := l.month.AddDate(0, -1, 0)
	until := before.AddDate(0, 0, l.today.Day())
	now, earlier, sum := map[string]float64{}, map[string]float64{}, 0.0
	for _, t := range l.chosen {
		amount, _ := t.Number("amount")
		day := dayOf(t, l.today.Location())
		if amount >= 0 || day.Before(before) {
			continue
		}
		name := cmp.Or(text.Name(l.names.Of(t, role)), "Without a name")
		switch {
		case !day.Before(l.month):
			now[name] -= amount
			sum -= amount
		case day.Before(until):
			earlier[name] -= amount
		}
	}
	names := slices.SortedFunc(maps.Keys(now), func(a, b string) int {
		return cmp.Or(cmp.Compare(now[b], now[a]), strings.Compare(a, b))
	})
	comparable := !l.since.IsZero() && !l.since.After(before)
	for _, name := range names[:min(len(names), groupsShown)] {
		one := moneyGroup{Name: name, Amount: page.with(now[name]), Percent: int(math.Round(100 * now[name] / sum))}
		if comparable {
			one.Change = page.difference(now[name]-earlier[name]) + " in " + before.Format("January") + " by this day"
		}
		page.Groups = append(page.Groups, one)
	}
}

// with writes an amount in the currency of the page.
func (page *moneyPageData) with(amount float64) string { return things.Money(amount, page.Currency) }
