package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const (
	// readingDays is how many days of reading are drawn, today the last of them.
	readingDays = 30
	// mostReadings bounds the entries that are drawn.
	mostReadings = 1000
	// barHeight is the height of the highest bar in the units of its picture.
	barHeight = 20
)

// readings is who read how much in the last days.
type readings struct {
	Lanes   []readingLane
	Records int64
	Readers int64 // that read anything
	Wrong   int64 // passwords that were refused
	Cut     bool  // there are more entries than are drawn
}

// readingLane is the reading of one app or person, day by day.
type readingLane struct {
	ID, Name string
	Last     *time.Time // nil: it never read
	Records  int64
	Refused  int64
	May      string // what it may read
	Bars     string
	Label    string

	days [readingDays]int64
}

// readings sums up the audit entries for reads under grants. Days are in the time zone of the
// pages.
func (p *adminPages) readings(ctx context.Context) (out readings, err error) {
	now := p.Now()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	since := today.AddDate(0, 0, 1-readingDays)
	grants, err := p.Owner.Grants(ctx)
	if err != nil {
		return out, err
	}
	for _, g := range grants {
		if g.Status == "active" {
			out.Lanes = append(out.Lanes, readingLane{ID: g.ID, Name: g.ClientName, May: mayRead(g, now)})
		}
	}
	found, err := p.Owner.Audit(ctx, api.AuditQuery{Kind: "reading", Since: &since, Limit: mostReadings})
	if err != nil {
		return out, err
	}
	out.Cut = found.Next > 0
	for _, e := range found.Entries {
		if e.Actor.Kind != "grant" {
			continue
		}
		l := out.lane(e.Actor)
		if l.Last == nil || e.LastAt.After(*l.Last) {
			l.Last = &e.LastAt
		}
		if e.Outcome != "done" {
			l.Refused += e.Times
			continue
		}
		if e.Records == nil {
			continue
		}
		l.Records += *e.Records
		out.Records += *e.Records
		// Compare days by date, because a day can have 23 or 25 hours.
		for day := range readingDays {
			if since.AddDate(0, 0, day).Format(time.DateOnly) == e.LastAt.In(now.Location()).Format(time.DateOnly) {
				l.days[day] += *e.Records
			}
		}
	}
	for i := range out.Lanes {
		if out.Lanes[i].Records > 0 {
			out.Readers++
		}
		out.Lanes[i].draw()
	}
	slices.SortStableFunc(out.Lanes, func(a, b readingLane) int { return cmp.Compare(b.Records, a.Records) })
	wrong, err := p.Owner.Audit(ctx, api.AuditQuery{Kind: "sign_ins", Since: &since, Limit: mostReadings})
	for _, e := range wrong.Entries {
		if e.Reason == "wrong_password" {
			out.Wrong += e.Times
		}
	}
	return out, err
}

// lane returns the lane of a reader. It adds a lane for a reader with an ended grant.
func (r *readings) lane(by api.AuditActor) *readingLane {
	at := slices.IndexFunc(r.Lanes, func(l readingLane) bool { return l.ID == by.ID })
	if at < 0 {
		at = len(r.Lanes)
		r.Lanes = append(r.Lanes, readingLane{ID: by.ID, Name: cmp.Or(by.Name, "An app"), May: "Nothing any more"})
	}
	return &r.Lanes[at]
}

// draw makes the bars, each lane on its own scale.
func (l *readingLane) draw() {
	var path strings.Builder
	most := slices.Max(l.days[:])
	for day, n := range l.days {
		if n > 0 {
			fmt.Fprintf(&path, "M%d %dv-%.2fh0.72V%dz", day, barHeight, float64(n)*barHeight/float64(most), barHeight)
		}
	}
	l.Bars = path.String()
	l.Label = text.Cut(text.Line(l.Name), ui.LongestCell) + ", records read a day, last 30 days: " +
		text.Count(l.Records, "record", "records") + " in all"
}

// mayRead returns what a grant allows to be read, and until when.
func mayRead(g api.Grant, now time.Time) string {
	line := text.Count(int64(len(g.Streams)), "stream", "streams")
	if g.ExpiresAt != nil {
		return line + ", until " + words.LastWholeDay(*g.ExpiresAt, now)
	}
	return line + ", until you take it back"
}

// note returns the caption of the bars.
func (r *readings) note() string {
	words := "Records read, last 30 days, each on its own scale"
	if r.Cut {
		words += "; the newest " + text.Number(mostReadings) + " entries"
	}
	return words
}

// say returns what a reader may read, and how often it was refused.
func (l *readingLane) say() string {
	if l.Refused == 0 {
		return l.May
	}
	return l.May + ". Refused " + text.Count(l.Refused, "time", "times")
}

// lede returns one line on how many readers read how many records.
func (r *readings) lede() string {
	line := "Only you have read anything in the last 30 days."
	switch {
	case r.Readers > 0:
		line = "In the last 30 days " + text.Count(r.Readers, "app or person", "apps and people") + " read " +
			text.Count(r.Records, "record", "records") + "."
	case r.Cut:
		line = ""
	}
	if r.Wrong > 0 {
		line += " " + text.Upper(text.Count(r.Wrong, "wrong password", "wrong passwords")) + "."
	}
	return strings.TrimSpace(line)
}
