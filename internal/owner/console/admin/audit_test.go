package admin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// The page queries the chosen entries, groups them by day and links to older ones.
func TestAuditByDays(t *testing.T) {
	t.Parallel()
	o := mara()
	entry := func(id int64, at time.Time, by api.AuditActor) api.AuditEntry {
		return api.AuditEntry{ID: id, At: at.Add(-time.Hour), LastAt: at, Kind: "read", Group: "reading", Outcome: "done",
			Sentence: "Tidewatch read 3 records", Actor: by}
	}
	o.trail = api.AuditPage{KeptDays: 365, Next: 4, Entries: []api.AuditEntry{
		entry(9, now, api.AuditActor{Kind: "grant", ID: "gr_1", Address: "192.0.2.7"}),
		entry(8, now.Add(-14*time.Hour).UTC(), api.AuditActor{Kind: "owner_token", ID: "ot_1"}),
		entry(7, now.AddDate(0, 0, -1), api.AuditActor{Kind: "session", ID: "s1", Address: "192.0.2.8"}),
		entry(6, now.AddDate(0, 0, -2), api.AuditActor{Kind: "command"}),
	}}
	h := world(t, o)
	p := get(t, h, "/sharing/reads?kind=reading&days=30&before=12")
	if q := o.trailOf; q.Kind != "reading" || q.Before != 12 || q.Since == nil || !q.Since.Equal(now.AddDate(0, 0, -30)) {
		t.Errorf("it asks for %+v", q)
	}
	var texts []string
	for _, n := range p.elements("section") {
		if attr(n, "class") == "day" {
			texts = append(texts, textOf(n))
		}
	}
	want := []string{
		"Today 14:32 Tidewatch read 3 records grant gr_1, 192.0.2.7 00:32 Tidewatch read 3 records token ot_1",
		"Yesterday 14:32 Tidewatch read 3 records 192.0.2.8",
		"10 March 2026 14:32 Tidewatch read 3 records",
	}
	if len(texts) != len(want) {
		t.Fatalf("lists %q", texts)
	}
	for i := range want {
		if texts[i] != want[i] {
			t.Errorf("lists %q, want %q", texts[i], want[i])
		}
	}
	p.by(t, "href", "/sharing/reads?before=4&days=30&kind=reading")
	p.says(t, "Kept for 365 days")
	for _, value := range []string{"reading", "30"} {
		if !has(p.by(t, "value", value), "selected") {
			t.Errorf("%s is not shown as chosen", value)
		}
	}
	o.trail = api.AuditPage{KeptDays: 1}
	p = get(t, h, "/sharing/reads?days=-5&before=pear")
	p.says(t, "Nothing of that kind happened.", "Kept for 1 day")
	if q := o.trailOf; q.Since != nil || q.Before != 0 {
		t.Errorf("nonsense asks for %+v", q)
	}
}

func TestAuditRetentionForm(t *testing.T) {
	t.Parallel()
	o := mara()
	o.trail.KeptDays = 365
	h := world(t, o)
	if kept := attr(get(t, h, "/sharing/reads").by(t, "id", "keep-days"), "value"); kept != "365" {
		t.Errorf("the form holds %q", kept)
	}
	refused := func(typed, words string) {
		t.Helper()
		p := post(t, h, "/sharing/reads/retention", url.Values{"days": {typed}})
		field := p.by(t, "id", "keep-days")
		if p.Code != http.StatusBadRequest || attr(field, "value") != typed || attr(field, "aria-invalid") != "true" ||
			textOf(p.by(t, "id", "keep-problem")) != words {
			t.Errorf("%q answered %d: %s", typed, p.Code, p.text())
		}
	}
	refused("pear", "That is not a number of days. Use 30 to 3650.")
	to(t, post(t, h, "/sharing/reads/retention", url.Values{"days": {"400"}}), "/sharing/reads")
	o.fails["SetAuditRetention"] = api.Invalid("days", "That is too short.", "Use more.")
	refused("3", "That is too short. Use more.")
	want(t, o, "SetAuditRetention 400; SetAuditRetention 3")
}

// The chart above the newest entries shows how much each reader read per day. It includes grants
// that read nothing.
func TestAuditDrawsReading(t *testing.T) {
	t.Parallel()
	o := mara()
	later := now.AddDate(0, 2, 0)
	o.grants = []api.Grant{
		{ID: "grt_1", ClientName: "Tidewatch", Status: "active", Streams: make([]api.GrantStream, 2), ExpiresAt: &later},
		{ID: "grt_2", ClientName: "Idle", Status: "active", Streams: make([]api.GrantStream, 1)},
		{ID: "grt_3", ClientName: "Over", Status: "revoked"},
	}
	read := func(by string, at time.Time, outcome string, n int64) api.AuditEntry {
		return api.AuditEntry{ID: 1, LastAt: at, Kind: "read", Group: "reading", Outcome: outcome, Times: 2, Records: &n,
			Sentence: "Gull read it", Actor: api.AuditActor{Kind: "grant", ID: by, Name: "Gull"}}
	}
	o.trail = api.AuditPage{KeptDays: 365, Entries: []api.AuditEntry{
		read("grt_1", now, "done", 30), read("grt_1", now.AddDate(0, 0, -29), "done", 15), read("grt_1", now, "refused", 0),
		read("grt_9", now.AddDate(0, 0, -1), "done", 4),
		{ID: 2, LastAt: now, Kind: "sign_in", Outcome: "refused", Reason: "wrong_password", Times: 3,
			Sentence: "3 wrong passwords"},
	}}
	h := world(t, o)
	p := get(t, h, "/sharing/reads")
	p.says(t, "In the last 30 days 2 apps and people read 49 records. 3 wrong passwords.",
		"2 streams, until 12 May 2026. Refused 2 times", "Idle not in these days", "1 stream, until you take it back",
		"Gull last", "Nothing any more")
	lane := p.by(t, "data-reader", "grt_1")
	if bars := attr(elementIn(lane, "path"), "d"); bars != "M0 20v-10.00h0.72V20zM29 20v-20.00h0.72V20z" {
		t.Errorf("the bars are %q", bars)
	}
	if who := textOf(elementIn(p.by(t, "data-kind", "read"), "b")); who != "Gull" {
		t.Errorf("the entry names %q", who)
	}
	if text := get(t, h, "/sharing/reads?before=3").text(); strings.Contains(text, "Reading, day by day") {
		t.Error("older entries have the picture above them")
	}
}

// elementIn is the first element of a name below another.
func elementIn(n *html.Node, name string) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == name {
			return d
		}
	}
	return &html.Node{}
}
