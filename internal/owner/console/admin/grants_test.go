package admin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// grantFields is a form that is right.
func grantFields() url.Values {
	letters := ui.StreamSegments("cin_kelp_1", "letters")
	return url.Values{
		"client": {"Ines"}, "purpose": {"Plan together"}, "mode": {continuous}, "stream": {letters},
		"fields:" + letters: {"id", "title", "shelf", "read"}, "end": {"2026-06-12"},
	}
}

func TestCreatingAGrant(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	form := grantFields()
	form.Set("from", "2025-01-01")
	form.Set("to", "2025-12-31")
	form["fields:"+ui.StreamSegments("cin_kelp_1", "letters")] = []string{"id", "title"}
	p := post(t, h, "/sharing", form)
	p.says(t, "Copy the token now", "pdpp_gt_"+"shownonce", "Only Id and Title", "1 January 2025 to 31 December 2025",
		"Until 12 June 2026")
	day := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, now.Location()) }
	g := o.grant
	if g.ClientName != "Ines" || g.Mode != continuous || !g.ExpiresAt.Equal(day(2026, 6, 13)) || len(g.Streams) != 1 {
		t.Fatalf("granted %+v", g)
	}
	s := g.Streams[0]
	if s.Stream != "letters" || s.ConnectionID != "cin_kelp_1" || !slices.Equal(s.Fields, []string{"id", "title"}) ||
		!s.Since.Equal(day(2025, 1, 1)) || !s.Until.Equal(day(2026, 1, 1)) {
		t.Errorf("granted %+v", s)
	}
	form = grantFields()
	form.Del("end")
	post(t, h, "/sharing", form)
	if g := o.grant; g.ExpiresAt != nil || !g.NeverExpires || g.Streams[0].Fields != nil {
		t.Errorf("all fields without an end became %+v", g)
	}
}

// A new grant begins with every field ticked, no stream picked, and an end.
func TestANewGrantBeginsWithAnEnd(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	ticked := func(p page) (fields, streams []string) {
		for _, n := range p.elements("input") {
			name := attr(n, "name")
			switch {
			case !has(n, "checked"):
			case strings.HasPrefix(name, "fields:"):
				fields = append(fields, attr(n, "value"))
			case name == "stream":
				streams = append(streams, attr(n, "value"))
			}
		}
		return fields, streams
	}
	p := get(t, h, "/sharing/new")
	if fields, streams := ticked(p); !slices.Equal(fields, []string{"id", "title", "shelf", "read", "id"}) ||
		streams != nil {
		t.Errorf("it begins with %v of %v", fields, streams)
	}
	if end := attr(p.by(t, "name", "end"), "value"); end != "2026-06-10" {
		t.Errorf("it would end on %q", end)
	}
	form := grantFields()
	letters := ui.StreamSegments("cin_kelp_1", "letters")
	form["fields:"+letters] = []string{"title"}
	form.Set("mode", "forever")
	if fields, streams := ticked(post(t, h, "/sharing", form)); !slices.Equal(fields, []string{"title"}) ||
		!slices.Equal(streams, []string{letters}) {
		t.Errorf("refused, it shows %v of %v", fields, streams)
	}
}

// A grant uses the view, profile and resource values of the form. A rejected form keeps them.
func TestAGrantByViewProfileAndResource(t *testing.T) {
	t.Parallel()
	o := mara()
	h := world(t, o)
	get(t, h, "/sharing/new").says(t, "Headings only Id and Title", "Just the letters, Kelp, maralind Letters (Headings)",
		"Only records whose Shelf is one of")
	letters := ui.StreamSegments("cin_kelp_1", "letters")
	form := grantFields()
	form.Set("view:"+letters, "headings")
	form.Set("values:"+letters, " top \r\n\r\nlow\r\n")
	form.Set("profile", ui.StreamSegments("cin_kelp_1", "brief"))
	form.Set("mode", "forever")
	refused := post(t, h, "/sharing", form)
	for name, value := range map[string]string{"view:" + letters: "headings",
		"profile": ui.StreamSegments("cin_kelp_1", "brief")} {
		if !slices.ContainsFunc(refused.elements("input"), func(n *html.Node) bool {
			return attr(n, "name") == name && attr(n, "value") == value && has(n, "checked")
		}) {
			t.Errorf("refused, it does not show %s as %s", name, value)
		}
	}
	form.Set("mode", continuous)
	post(t, h, "/sharing", form)
	want(t, o, "CreateGrant Ines")
	s := o.grant.Streams[0]
	if !slices.Equal(s.Fields, []string{"view:headings"}) || !slices.Equal(s.Resources, []string{"top", "low"}) ||
		!slices.Equal(o.grant.Profiles, []api.GrantProfile{{ConnectionID: "cin_kelp_1", Profile: "brief"}}) {
		t.Errorf("granted %+v", o.grant)
	}
	form.Del("stream")
	form.Set("from", "2025-01-01")
	if p := post(t, h, "/sharing", form); p.Code != http.StatusBadRequest {
		t.Errorf("a profile with a range that would not count answered %d", p.Code)
	}
}

// What cannot be granted as the form shows it is not granted at all.
func TestAGrantIsNeverWiderThanItsForm(t *testing.T) {
	t.Parallel()
	letters, stars := ui.StreamSegments("cin_kelp_1", "letters"), ui.StreamSegments("cin_kelp_1", "stars")
	for name, c := range map[string]struct {
		change url.Values
		words  string
	}{
		"no field": {url.Values{"fields:" + letters: nil}, "Choose at least one field of Letters"},
		"a range without dates": {url.Values{"stream": {letters, stars}, "fields:" + stars: {"id"}, "from": {"2025-01-01"}},
			"Stars, Kelp, maralind has no dates to choose by."},
		"no stream": {url.Values{"stream": nil}, "Choose at least one stream."},
		"a stream of nobody": {url.Values{"stream": {ui.StreamSegments("cin_kelp_1", "secrets")}},
			"Choose at least one stream."},
		"an end that was":        {url.Values{"end": {"2026-03-11"}}, "A grant ends today or later."},
		"an end that is no date": {url.Values{"end": {"soon"}}, "This is not a date."},
		"a range backwards": {url.Values{"from": {"2025-02-01"}, "to": {"2025-01-01"}},
			"The last day is before the first one."},
		"nobody":                  {url.Values{"client": {" "}}, "Say who it is for"},
		"a way that is not there": {url.Values{"mode": {"forever"}}, "Choose how often it can be read."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mara()
			form := grantFields()
			for k, v := range c.change {
				form[k] = v
			}
			p := post(t, world(t, o), "/sharing", form)
			if p.Code != http.StatusBadRequest {
				t.Errorf("answered %d", p.Code)
			}
			want(t, o, "")
			p.says(t, c.words)
			if attr(p.by(t, "id", "g-purpose"), "value") != "Plan together" {
				t.Error("what was typed is gone")
			}
		})
	}
}

// The page shows when an app read and what it may read, and one button ends that.
func TestAGrantEndsWithOneClick(t *testing.T) {
	t.Parallel()
	o := full("Ines")
	by := api.AuditActor{Kind: "grant", ID: "grt_1"}
	o.trail = api.AuditPage{Entries: []api.AuditEntry{{Actor: by, Outcome: "done", LastAt: now, Times: 3},
		{Actor: by, Outcome: "refused", LastAt: now, Times: 2}}}
	h := world(t, o)
	p := get(t, h, "/sharing")
	p.says(t, "1 active, 1 ended", "Ended by you", "End now", "2 reads, 50 records", "3 reads in the last 7 days",
		"Refused 2 times in 12 weeks.")
	p = get(t, h, "/sharing/grt_1")
	p.says(t, "What it has read", "50", "Title")
	to(t, post(t, h, "/sharing/grt_1/revoke", nil), "/sharing")
	want(t, o, "RevokeGrant grt_1")
	if p := get(t, h, "/sharing/grt_7"); p.Code != http.StatusNotFound {
		t.Errorf("a grant that is not there answered %d", p.Code)
	}
}

func TestConsentSaysWhatIsAskedAndWhatIsNot(t *testing.T) {
	t.Parallel()
	o := mara()
	end := time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC)
	o.request = api.GrantRequest{
		ID: "req_1", ClientName: "Tidewatch Journal", ReturnsTo: "journal.tidewatch.example", Purpose: "Draw a weekly chart",
		Mode: singleUse, ExpiresAt: &end,
		Streams: []api.GrantStream{{ConnectionID: "cin_kelp_1", Stream: "letters", Fields: []string{"title"}},
			{ConnectionID: "cin_kelp_1", Stream: "stars"}},
	}
	h := world(t, o)
	p := get(t, h, "/sharing/allow/req_1")
	p.says(t, "Tidewatch Journal asks to read your records", "journal.tidewatch.example", "“Draw a weekly chart”",
		"Letters, Kelp, maralind Only Title",
		"Stars, Kelp, maralind All fields",
		"See Letters, Kelp, maralind: Id, Shelf and Read", "Read any other stream or connection",
		"Empty means until you revoke it", "Once: each stream can be read through one time")
	if day := attr(p.by(t, "id", "g-end"), "value"); day != "2026-06-10" {
		t.Errorf("it would end with %s", day)
	}

	p = post(t, h, "/sharing/allow/req_1/answer", url.Values{"decision": {"approve"}})
	const back = "https://journal.tidewatch.example/back?code=c1&state=s1"
	if p.Code != http.StatusOK || p.Header().Get("Refresh") != "0; url="+back ||
		attr(p.by(t, "class", "btn solid wide"), "href") != back {
		t.Errorf("answered %d with %q", p.Code, p.Header().Get("Refresh"))
	}
	if o.decision.GrantEnd != (api.GrantEnd{}) {
		t.Errorf("without an end it is decided as %+v", o.decision)
	}
	for day, wanted := range map[string]bool{"2027-01-31": false, "": true} {
		post(t, h, "/sharing/allow/req_1/answer", url.Values{"decision": {"approve"}, "end": {day}})
		if d := o.decision; d.NeverExpires != wanted || (d.ExpiresAt == nil) != wanted || !wanted &&
			!d.ExpiresAt.Equal(time.Date(2027, 2, 1, 0, 0, 0, 0, now.Location())) {
			t.Errorf("an end of %q is decided as %+v", day, d)
		}
	}
	if p := post(t, h, "/sharing/allow/req_1/answer",
		url.Values{"decision": {"approve"}, "end": {"soon"}}); p.Code != http.StatusBadRequest {
		t.Errorf("an end that is no date answered %d", p.Code)
	}
	p = post(t, h, "/sharing/allow/req_1/answer", url.Values{"decision": {"deny"}})
	p.says(t, "Declined", "It can read nothing.")
	if p := post(t, h, "/sharing/allow/req_1/answer", url.Values{}); p.Code != http.StatusBadRequest {
		t.Errorf("no decision answered %d", p.Code)
	}
	want(t, o, "Decide req_1 yes; Decide req_1 yes; Decide req_1 yes; Decide req_1 no")

	o.fails["GrantRequest"] = api.NotFound("This request is over.", "Ask again from the app.")
	if p := get(t, h, "/sharing/allow/req_1"); p.Code != http.StatusNotFound ||
		!strings.Contains(p.text(), "Ask again from the app.") {
		t.Errorf("a request that is over answered %d: %s", p.Code, p.text())
	}
}

func TestDevicesLeadToTheirConnections(t *testing.T) {
	t.Parallel()
	p := get(t, world(t, full("Studio desktop")), "/settings/devices")
	p.says(t, "Reported in 1 hour ago", "Degraded", "Records saved on Studio desktop did not upload.", "Needs you",
		"Collects no more. Its records are kept.")
	p.by(t, "href", "/sources/cin_tide_1")
	p.by(t, "data-code", "dcode_1")
	if len(p.elements("code")) > 0 {
		t.Error("a command is offered away from its connection")
	}
}

func TestADeviceIsRenamedAndRevoked(t *testing.T) {
	t.Parallel()
	o := full("Studio desktop")
	h := world(t, o)
	get(t, h, "/settings/devices/dev_1").says(t, "184 uploads wait there, 12 failed", "The clock there is 1 hour behind",
		"Revoke Studio desktop?", "from 12 March 2026 on")
	if text := get(t, h, "/settings/devices/dev_0").text(); strings.Contains(text, "Rename") ||
		!strings.Contains(text, "Revoked 1 hour ago") {
		t.Errorf("a revoked device says %s", text)
	}
	if p := get(t, h, "/settings/devices/none"); p.Code != http.StatusNotFound {
		t.Errorf("no device answered %d", p.Code)
	}
	for _, step := range []struct{ address, to string }{{"/settings/devices/dev_1/rename", "/settings/devices/dev_1"},
		{"/settings/devices/dev_1/revoke", "/settings/devices"}} {
		if p := post(t, h, step.address, url.Values{"name": {"Kitchen"}}); p.Code != http.StatusSeeOther ||
			p.Header().Get("Location") != step.to {
			t.Errorf("%s answered %d, %q", step.address, p.Code, p.Header().Get("Location"))
		}
	}
	want(t, o, "RenameDevice dev_1 Kitchen; RevokeDevice dev_1")
	for _, step := range []struct{ address, since, did string }{
		{"/settings/devices/dev_1/revoke", "2026-03-01T08:30", "RevokeDevice dev_1; UndoDevice dev_1 2026-03-01T07:30:00Z"},
		{"/settings/devices/dev_0/undo", "2026-03-01T08:30", "UndoDevice dev_0 2026-03-01T07:30:00Z"},
		{"/settings/devices/dev_1/revoke", "soon", ""},
	} {
		o := full("Studio desktop")
		p := post(t, world(t, o), step.address, url.Values{"since": {step.since}})
		if (step.did != "") != (p.Code == http.StatusSeeOther) {
			t.Errorf("%s since %q answered %d", step.address, step.since, p.Code)
		}
		want(t, o, step.did)
	}
}

// The owner unticks a part of what an app asks for, after a look at one record as the app would see it.
func TestOwnerNarrowsWhatAnAppReads(t *testing.T) {
	t.Parallel()
	o := mara()
	letters := api.GrantStream{ConnectionID: "cin_kelp_1", Stream: "letters", Fields: []string{"title"}}
	stars := api.GrantStream{ConnectionID: "cin_kelp_1", Stream: "stars"}
	o.request = api.GrantRequest{ID: "req_1", ClientName: "Tidewatch Journal", ReturnsTo: "journal.tidewatch.example",
		Purpose: "Draw", Mode: "continuous", Streams: []api.GrantStream{letters, stars}}
	o.records = api.RecordPage{Records: []api.Record{{ConnectionID: "cin_kelp_1", Stream: "letters", Key: "k1",
		Data: []byte(`{"title": "Invitation <b>", "shelf": "Hidden shelf", "read": true}`)}}}
	h := world(t, o)
	var shown []string
	for _, n := range get(t, h, "/sharing/allow/req_1").elements("details") {
		if has(n, "data-sample") {
			shown = append(shown, textOf(n))
		}
	}
	if len(shown) != 2 || !strings.Contains(shown[0], "Title Invitation <b>") || strings.Contains(shown[0], "Hidden") ||
		!strings.Contains(shown[1], "Shelf Hidden shelf") {
		t.Errorf("the samples are %q", shown)
	}
	answer := func(ticked ...string) page {
		return post(t, h, "/sharing/allow/req_1/answer", url.Values{"decision": {"approve"}, "choosing": {"yes"},
			"end": {"2027-01-31"}, "stream": ticked})
	}
	answer("cin_kelp_1 letters", "cin_kelp_1 secrets")
	if diff := cmp.Diff([]api.GrantStream{letters}, o.decision.Streams); diff != "" {
		t.Errorf("granted (-want +got):\n%s", diff)
	}
	if p := answer(); p.Code != http.StatusBadRequest {
		t.Errorf("nothing ticked answered %d", p.Code)
	}
}

// An app that names no streams gets what the owner ticks, and nothing is ticked in advance.
func TestOwnerChoosesWhatAnAppReads(t *testing.T) {
	t.Parallel()
	o := mara()
	letters := api.GrantStream{ConnectionID: "cin_kelp_1", Stream: "letters"}
	o.request = api.GrantRequest{ID: "req_1", ClientName: "Tidewatch Journal", ReturnsTo: "journal.tidewatch.example",
		Purpose: "Answer questions", Mode: "continuous", OwnerChooses: true,
		Streams: []api.GrantStream{letters, {ConnectionID: "cin_kelp_1", Stream: "stars"}}}
	h := world(t, o)
	p := get(t, h, "/sharing/allow/req_1")
	p.says(t, "What may it read?", "Letters, Kelp, maralind", "Stars, Kelp, maralind")
	if body := p.Body.String(); strings.Contains(body, "Can read") || strings.Contains(body, " checked") {
		t.Error("a stream is allowed before the owner has chosen")
	}
	post(t, h, "/sharing/allow/req_1/answer", url.Values{"decision": {"approve"}, "end": {"2027-01-31"},
		"stream": {"cin_kelp_1 letters", "cin_kelp_1 secrets"}})
	if diff := cmp.Diff([]api.GrantStream{letters}, o.decision.Streams); diff != "" {
		t.Errorf("granted (-want +got):\n%s", diff)
	}
	post(t, h, "/sharing/allow/req_1/answer", url.Values{"decision": {"deny"}, "stream": {"cin_kelp_1 letters"}})
	if o.decision.Approve || len(o.decision.Streams) > 0 {
		t.Errorf("declined as %+v", o.decision)
	}
}
