package readcalendar

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// A calendar begins on a Monday, ends today, and counts the reads of its own grant on the days of the pages' zone.
func TestCalendar(t *testing.T) {
	zone := time.FixedZone("east", 10*60*60)
	now := time.Date(2026, 3, 10, 9, 0, 0, 0, zone) // a Tuesday
	entry := func(grant, outcome string, at time.Time, times int64) api.AuditEntry {
		return api.AuditEntry{Actor: api.AuditActor{Kind: "grant", ID: grant}, Outcome: outcome, LastAt: at, Times: times}
	}
	late := time.Date(2026, 3, 8, 20, 0, 0, 0, time.UTC) // 9 March there
	all := All([]api.AuditEntry{
		entry("gr_1", "done", late, 8), entry("gr_1", "done", now.AddDate(0, 0, -20), 1),
		entry("gr_1", "refused", now, 3), entry("gr_2", "done", now, 5),
		{Actor: api.AuditActor{Kind: "session", ID: "gr_1"}, Outcome: "done", LastAt: now, Times: 90},
	}, now)
	c := all["gr_1"]
	if len(all) != 2 || c.Reads != 9 || c.Recent != 8 || c.Refused != 3 || !c.Last.Equal(late) {
		t.Fatalf("counted %+v", c)
	}
	if n := len(c.Cells); n != 11*inAWeek+2 {
		t.Errorf("%d days", n)
	}
	if last := c.Cells[len(c.Cells)-2]; last.Class != "h4" || last.Title != "9 March: 8 reads" || last.Y != "0" {
		t.Errorf("yesterday is %+v", last)
	}
	if first := Since(now); first.Weekday() != time.Monday || Empty(now).Cells[0].Class != "h0" {
		t.Errorf("it begins on %s", first)
	}
}
