package browse

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/records"
	"github.com/pdpp-go/pdpp/internal/owner/console/things"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/manifest"
)

// pastPage is one date in every year.
type pastPage struct {
	pastOfYears
	Day          time.Time
	Before, Next string // addresses of the dates around it
}

// pastOfYears is a date in earlier years. A year has something, nothing, or was not collected.
type pastOfYears struct {
	Days           []pastDay
	Empty, Unknown []string
	Export         records.ExportList // of the shown years
}

// pastDay is this day in an earlier year.
type pastDay struct {
	Year     string
	Sentence string
	Quote    string
	Pictures []things.Picture
	Address  string
}

const (
	// mostPastYears is how many earlier years are looked at, and pastShown how many of them the first page draws.
	mostPastYears = 15
	pastShown     = 3
	// pastRead is how many years are drawn on a page of their own.
	pastRead = 12
	// onThisDayPage is the address of one date in every year.
	onThisDayPage = "/on-this-day"
)

// onThisDay shows a date in every year before this one. The address names the date as month and day.
func (p *browsePages) onThisDay(w http.ResponseWriter, r *http.Request) {
	ctx, now := r.Context(), p.Now()
	page := &pastPage{Day: midnight(now)}
	if asked := r.URL.Query().Get("date"); asked != "" {
		at, err := time.ParseInLocation(time.DateOnly, "2024-"+asked, now.Location()) // a leap year
		if err != nil {
			p.ShowFailure(w, r, ui.Section(r), api.Invalid("date", "That is not a date.", "Write it like 11-17."))
			return
		}
		page.Day = time.Date(now.Year(), at.Month(), at.Day(), 0, 0, 0, 0, now.Location())
		if page.Day.Month() != at.Month() || page.Day.After(now) {
			page.Day = time.Date(now.Year()-1, at.Month(), at.Day(), 0, 0, 0, 0, now.Location())
		}
		for page.Day.Month() != at.Month() { // 29 February
			page.Day = time.Date(page.Day.Year()-1, at.Month(), at.Day(), 0, 0, 0, 0, now.Location())
		}
	}
	page.Before = onThisDayPage + "?date=" + page.Day.AddDate(0, 0, -1).Format("01-02")
	page.Next = onThisDayPage + "?date=" + page.Day.AddDate(0, 0, 1).Format("01-02")
	all, err := p.streams(ctx)
	var kept api.Kept
	if err == nil {
		kept, err = p.Owner.Kept(ctx)
	}
	if err == nil {
		page.pastOfYears, err = p.pastYears(ctx, all, &kept, page.Day, pastRead)
	}
	if err != nil {
		p.ShowFailure(w, r, ui.Section(r), err)
		return
	}
	p.show(w, r, "On this day", onThisDayBody(page, now))
}

// pastYears reads a date in earlier years, and draws at most so many of them.
func (p *browsePages) pastYears(ctx context.Context, all *things.Streams, kept *api.Kept, date time.Time,
	most int) (out pastOfYears, err error) {
	for back := 1; back <= mostPastYears && kept.FirstDay != ""; back++ {
		day := time.Date(date.Year()-back, date.Month(), date.Day(), 0, 0, 0, 0, date.Location())
		if day.Year() < yearOf(kept.FirstDay) {
			break // nothing reaches back so far
		}
		if day.Month() != date.Month() {
			continue // there was no 29 February
		}
		name := day.Format(time.DateOnly)
		counts, err := p.Owner.Days(ctx, api.DayQuery{From: name, To: name})
		if err != nil {
			return out, err
		}
		groups, _ := p.gather(counts, all)
		switch {
		case len(groups) > 0 && len(out.Days) < most:
			past, err := p.pastDay(ctx, all, groups, day)
			if err != nil {
				return out, err
			}
			out.Days = append(out.Days, past)
			for _, group := range groups {
				for _, s := range group {
					from, to := s.Bounds(day)
					out.Export.Add(&s.Stream.Stream, api.ExportQuery{ByTime: true, Since: from, Until: to})
				}
			}
		case len(groups) > 0:
		case coveredOn(kept, name):
			out.Empty = append(out.Empty, strconv.Itoa(day.Year()))
		default:
			out.Unknown = append(out.Unknown, strconv.Itoa(day.Year()))
		}
	}
	return out, nil
}

// words describe the years without anything.
func (past *pastOfYears) words() string {
	line := ""
	if len(past.Empty) > 0 {
		line = "Nothing happened in " + text.List(past.Empty) + ", as far as your sources know. "
	}
	if len(past.Unknown) > 0 {
		line += "Not collected: " + text.List(past.Unknown) + "."
	}
	return line
}

func yearOf(day string) int {
	year, _ := strconv.Atoi(day[:4])
	return year
}

// coveredOn reports whether some source was collected on a day.
func coveredOn(kept *api.Kept, day string) bool {
	return slices.ContainsFunc(kept.Sources, func(s api.KeptSource) bool {
		return slices.ContainsFunc(s.Covered, func(c api.Covered) bool { return c.From <= day && day <= c.To })
	})
}

// pastDay describes a day by its counts, one picture and one line.
func (p *browsePages) pastDay(ctx context.Context, all *things.Streams, groups map[string][]busyStream,
	day time.Time) (pastDay, error) {
	out := pastDay{Year: day.Format("2006"), Address: choice{day: day.Format(time.DateOnly)}.address()}
	var counted []string
	var chosen []busyStream
	for _, l := range records.Kinds {
		var n int64
		for _, s := range groups[l.Name] {
			n += s.count
		}
		if n == 0 {
			continue
		}
		counted = append(counted, text.Count(n, l.One, l.Many))
		if len(chosen) < streamsOfAPiece {
			chosen = append(chosen, groups[l.Name][0])
		}
	}
	out.Sentence = text.Upper(text.List(counted)) + "."
	found, err := p.newest(ctx, chosen, day, day.AddDate(0, 0, 1))
	if err != nil {
		return out, err
	}
	names := p.names(ctx, all)
	for i := range found {
		t := &found[i]
		if t.In.Kind() == manifest.KindFile && t.IsPicture() {
			if len(out.Pictures) < picturesOfAPiece {
				out.Pictures = append(out.Pictures, t.Picture())
			}
		} else if k := t.In.Kind(); out.Quote == "" && k != manifest.KindFile && k != manifest.KindMeasurement {
			out.Quote = text.Cut(names.called(t), things.LongestNote)
		}
	}
	return out, nil
}
