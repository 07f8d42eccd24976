package records

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// streamsAddress is the address of the list of streams.
const streamsAddress = "/settings/details/streams"

// overviewPage shows how much is stored, how far back, and what is missing.
type overviewPage struct {
	api.Kept
	Saved   []api.SavedSearch
	Problem *ui.Message
	Heat    []heatCell
	Labels  []heatLabel
	Months  []monthRow
	Lanes   []lane
	Years   []yearMark
	Units   int // of time, along a lane
	Unit    string
}

// heatCell is one day of the calendar.
type heatCell struct {
	Day   string
	X, Y  int
	Class string // by how much; hx for a day that was not collected
	Title string
}

// heatLabel is the name of a month above its first week.
type heatLabel struct {
	X    int
	Text string
}

// monthRow is a month in numbers.
type monthRow struct {
	Name, Records, Busiest, Covered string
}

// lane is one source on the common time axis.
type lane struct {
	api.KeptSource
	Bars, Cover, Lack string // paths
	Since, To, Label  string
}

// yearMark is a year above the lanes. X is in percent of their width.
type yearMark struct {
	X    int
	Year string
}

func (p *pages) overview(w http.ResponseWriter, r *http.Request) {
	kept, err := p.Owner.Kept(r.Context())
	page, status := newOverview(kept), http.StatusOK
	if err == nil {
		page.Saved, err = p.Owner.SavedSearches(r.Context())
	}
	if err != nil {
		p.LogFailure(r, err)
		var m ui.Message
		m, status = ui.MessageFor(w, err)
		page.Problem = &m
	}
	p.ShowPage(w, r, status, p.PageFrame(w, r, "How complete", ui.Section(r)), overviewBody(&page))
}

func newOverview(k api.Kept) overviewPage {
	page := overviewPage{Kept: k}
	page.drawHeat()
	page.tellMonths()
	page.drawLanes()
	return page
}

// cell is the size of a day with its margin.
const cell = 16

// drawHeat arranges the days in weeks from Monday to Sunday. The shades are quarters of the 95th percentile of daily
// records.
func (p *overviewPage) drawHeat() {
	var busy []int64
	for _, d := range p.Days {
		if d.Records > 0 {
			busy = append(busy, d.Records)
		}
	}
	slices.Sort(busy)
	most := int64(1)
	if len(busy) > 0 {
		most = busy[len(busy)*19/20]
	}
	last := ""
	for i, d := range p.Days {
		c := heatCell{Day: d.Day, X: i / 7 * cell, Y: 18 + i%7*cell, Class: "h0", Title: fullDay(d.Day) + ": " +
			text.Number(d.Records)}
		switch {
		case d.Records > 0:
			c.Class = "h" + strconv.FormatInt(min(4, 1+d.Records*4/(most+1)), 10)
		case !d.Collected:
			c.Class, c.Title = "hx", fullDay(d.Day)+": not collected"
		default:
			c.Title = fullDay(d.Day) + ": nothing"
		}
		p.Heat = append(p.Heat, c)
		if month := d.Day[:len("2006-01")]; month != last && i%7 == 0 {
			if last != "" || d.Day[len("2006-01-"):] <= "07" {
				p.Labels = append(p.Labels, heatLabel{X: c.X, Text: parseDay(d.Day).Format("Jan")})
			}
			last = month
		}
	}
}

// tellMonths fills the table of months, newest first.
func (p *overviewPage) tellMonths() {
	records, busiest := map[string]int64{}, map[string]api.KeptDay{}
	for _, s := range p.Sources {
		for _, m := range s.Months {
			records[m.Month] += m.Records
		}
	}
	var months []string
	for _, d := range p.Days {
		month := d.Day[:len("2006-01")]
		if len(months) == 0 || months[len(months)-1] != month {
			months = append(months, month)
		}
		if d.Records > busiest[month].Records {
			busiest[month] = d
		}
	}
	slices.Reverse(months)
	for _, month := range months {
		at, _ := time.Parse("2006-01", month)
		row := monthRow{Name: at.Format("January 2006"), Records: text.Number(records[month]), Busiest: "none",
			Covered: p.coveredIn(month)}
		if d := busiest[month]; d.Records > 0 {
			row.Busiest = shortDay(d.Day) + ", " + text.Number(d.Records)
		}
		p.Months = append(p.Months, row)
	}
}

// coveredIn lists the sources that were not read to the end of a month.
func (p *overviewPage) coveredIn(month string) string {
	end := min(month+"-31", p.Today)
	var behind []string
	covered := 0
	for _, s := range p.Sources {
		for _, c := range s.Covered {
			switch {
			case c.From > end:
			case c.To < end && c.To < p.yesterday():
				behind = append(behind, text.Cut(text.Line(s.Name), 40)+" until "+p.dayOf(c.To))
			default:
				covered++
			}
		}
	}
	const named = 3
	switch {
	case len(behind) > named:
		return strings.Join(behind[:named], "; ") + fmt.Sprintf("; %d more", len(behind)-named)
	case len(behind) > 0:
		return strings.Join(behind, "; ")
	case covered > 0:
		return "All sources"
	default:
		return "Not collected"
	}
}

// dayOf formats a day, with its year unless it is this year.
func (p *overviewPage) dayOf(day string) string {
	if day[:4] == p.Today[:4] {
		return shortDay(day)
	}
	return fullDay(day)
}

func (p *overviewPage) yesterday() string {
	return parseDay(p.Today).AddDate(0, 0, -1).Format(time.DateOnly)
}

// quartersShown is the longest time axis with one bar per quarter. Longer ones have one bar per year.
const quartersShown = 30 * 4

// drawLanes draws every source on the axis from the first day to the last day or today.
func (p *overviewPage) drawLanes() {
	if p.FirstDay == "" {
		for _, s := range p.Sources {
			p.Lanes = append(p.Lanes, lane{KeptSource: s})
		}
		return
	}
	first, last := parseDay(p.FirstDay), parseDay(max(p.LastDay, p.Today))
	perYear := 4
	if (last.Year()-first.Year()+1)*perYear > quartersShown {
		perYear = 1
	}
	p.Unit = map[int]string{4: "quarter", 1: "year"}[perYear]
	unit := func(t time.Time) int { return (t.Year()-first.Year())*perYear + (int(t.Month())-1)*perYear/12 }
	begin := unit(first)
	p.Units = unit(last) - begin + 1
	for year := first.Year() + 1; year <= last.Year(); year++ {
		if x := unit(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)) - begin; (year-first.Year())%max(1,
			(last.Year()-first.Year())/6) == 0 {
			p.Years = append(p.Years, yearMark{X: x * 100 / p.Units, Year: strconv.Itoa(year)})
		}
	}
	for _, s := range p.Sources {
		p.Lanes = append(p.Lanes, p.lane(s, func(day string) int { return unit(parseDay(day)) - begin }))
	}
}

func (p *overviewPage) lane(s api.KeptSource, unit func(day string) int) lane {
	l := lane{KeptSource: s, Since: monthYear(s.FirstDay), To: p.until(s)}
	bars, most := make([]int64, p.Units), int64(1)
	for _, m := range s.Months {
		i := unit(m.Month + "-01")
		bars[i] += m.Records
		most = max(most, bars[i])
	}
	var path strings.Builder
	for i, n := range bars {
		if n > 0 {
			fmt.Fprintf(&path, "M%d 20v-%.2fh.72V20z", i, max(1, float64(n)*20/float64(most)))
		}
	}
	l.Bars = path.String()
	for _, c := range s.Covered {
		from, to := unit(c.From), min(p.Units, unit(c.To)+1)
		l.Cover = fmt.Sprintf("M%d 22H%d", from, to)
		if now := min(p.Units, unit(p.Today)+1); to < now {
			l.Lack = fmt.Sprintf("M%d 22H%d", to, now)
		}
	}
	if s.FirstDay != "" {
		l.Label = fmt.Sprintf("%s, records by %s from %s %s", text.Cut(text.Line(s.Name), ui.LongestCell), p.Unit, l.Since,
			l.To)
	}
	return l
}

// until returns the end of a source's records in words.
func (p *overviewPage) until(s api.KeptSource) string {
	switch {
	case s.LastDay == "":
		return ""
	case s.LastDay >= p.Today:
		return "to today"
	case s.LastDay[:4] == p.Today[:4]:
		return "to " + shortDay(s.LastDay)
	default:
		return "to " + monthYear(s.LastDay)
	}
}

// heading returns the time span and the number of records.
func (p *overviewPage) heading() string {
	records := roundly(p.Records) + " " + map[bool]string{true: "record", false: "records"}[p.Records == 1]
	if p.FirstDay == "" {
		return text.Upper(records)
	}
	first, now := parseDay(p.FirstDay), parseDay(max(p.Today, p.FirstDay))
	days := int64(now.Sub(first)/(24*time.Hour)) + 1
	switch {
	case days >= 2*365:
		return text.Count(days/365, "year", "years") + ", " + records
	case days >= 2*30:
		return text.Count(days/30, "month", "months") + ", " + records
	default:
		return text.Count(days, "day", "days") + ", " + records
	}
}

// roundly formats a number, with millions in words.
func roundly(n int64) string {
	if n >= 1_000_000 {
		return strconv.FormatFloat(float64(n/100_000)/10, 'f', -1, 64) + " million"
	}
	return text.Number(n)
}

// lede returns what is stored and how many sources are complete.
func (p *overviewPage) lede() string {
	var with, whole int64
	for _, s := range p.Sources {
		if s.Records > 0 {
			with++
		}
		if s.Complete {
			whole++
		}
	}
	out := text.Count(p.Records, "record", "records")
	if p.Bytes > 0 && p.Counting == nil {
		out += ", " + text.Bytes(p.Bytes) + " of data,"
	}
	out += " from " + text.Count(with, "source", "sources")
	if p.FirstDay != "" {
		to := "today"
		if p.LastDay < p.Today {
			to = fullDay(p.LastDay)
		}
		out += ", " + fullDay(p.FirstDay) + " to " + to
	}
	switch all := int64(len(p.Sources)); {
	case whole == all && all == 1:
		return out + ". It is complete."
	case whole == all:
		return out + ". All of them are complete."
	case whole == 0:
		return out + ". For each it says below what is missing."
	default:
		return out + ". " + text.Count(whole, "source is", "sources are") +
			" complete; for the others it says below what is missing."
	}
}

// busiest returns the day with the most records. Its count is zero if there are none.
func (p *overviewPage) busiest() api.KeptDay {
	if len(p.Days) == 0 {
		return api.KeptDay{}
	}
	return slices.MaxFunc(p.Days, func(a, b api.KeptDay) int { return cmp.Compare(a.Records, b.Records) })
}

// quiet counts the collected days without records.
func (p *overviewPage) quiet() (n int64) {
	for _, d := range p.Days {
		if d.Collected && d.Records == 0 {
			n++
		}
	}
	return n
}

// today returns the sources with records of today.
func (p *overviewPage) today() (all []api.KeptSource, records int64) {
	for _, s := range p.Sources {
		if s.Today > 0 {
			all = append(all, s)
			records += s.Today
		}
	}
	slices.SortStableFunc(all, func(a, b api.KeptSource) int { return cmp.Compare(b.Today, a.Today) })
	return all, records
}

// uncounted lists the sources that are still being counted.
func (p *overviewPage) uncounted() string {
	var names []string
	for _, s := range p.Sources {
		if s.Counting != nil {
			names = append(names, text.Cut(text.Line(s.Name), 40))
		}
	}
	const named = 4
	if len(names) > named {
		names = append(names[:named], text.Count(int64(len(names)-named), "other", "others"))
	}
	return text.List(names)
}

// mark returns the class of the mark next to the state of a source.
func (l *lane) mark() string {
	switch {
	case l.Complete:
		return "say ok"
	case l.Records == 0:
		return "say wait"
	default:
		return "say part"
	}
}

func parseDay(day string) time.Time {
	at, _ := time.Parse(time.DateOnly, day)
	return at
}

func fullDay(day string) string  { return parseDay(day).Format("2 January 2006") }
func shortDay(day string) string { return parseDay(day).Format("2 January") }
func monthYear(day string) string {
	if day == "" {
		return ""
	}
	return parseDay(day).Format("Jan 2006")
}
