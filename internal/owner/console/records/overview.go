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
	Life    lifeTable
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
	page.Life = lifeOf(&page.Kept)
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

// lede returns how many sources are complete, and what is still to come.
func (p *overviewPage) lede() string {
	var whole int64
	for _, s := range p.Sources {
		if s.Complete {
			whole++
		}
	}
	all := int64(len(p.Sources))
	switch {
	case whole == all && all == 1:
		return "Your source has everything that its provider offers."
	case whole == all:
		return "All of your " + text.Number(all) + " sources have everything that their providers offer."
	case whole == 0:
		return "Of no source it is known that everything is here. Each one below has the reason."
	}
	line := text.Number(whole) + " of " + text.Number(all) + " sources have everything that their providers offer."
	if whole == 1 {
		line = "1 of " + text.Number(all) + " sources has everything that its provider offers."
	}
	if known, about, _ := p.missing(); known > 0 {
		line += " " + text.Upper(about+text.Count(known, "thing is", "things are")) + " still to come."
	}
	return line
}

// missing adds up what sources lack. About is not empty where it may be more, and unknown counts the sources that do
// not report how much they lack.
func (p *overviewPage) missing() (known int64, about string, unknown int64) {
	for _, s := range p.Sources {
		switch {
		case s.Complete:
		case s.Missing == nil:
			unknown++
		default:
			known += *s.Missing
			if s.GoesOn {
				about = "at least "
			}
		}
	}
	return known, about, unknown
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
