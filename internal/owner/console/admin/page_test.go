package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// everyPage is the address of each page that can be asked for, of a full owner.
var everyPage = []string{
	"/complete", "/search/saved", "/settings/details/streams", "/search?connection=cin_kelp_1&stream=letters",
	"/search?q=harbor",
	"/thing/cin_kelp_1/letters/a1", "/sources/add", "/sources/add/kelp", "/sources/add/shore", "/settings/pace",
	"/sharing", "/sharing/new",
	"/sharing/grt_1", "/sharing/reads", "/sharing/reads?kind=reading&days=7", "/settings/storage",
	"/sharing/allow/req_1", "/settings/devices", "/settings/devices/dev_1", "/settings/devices/dev_0", "/settings",
	"/settings/sign-in",
	"/settings/deletions", "/settings/deletions/del_1", "/settings/deletions/new?scope=connection&connection=cin_kelp_1",
	"/settings/deletions/new?scope=range&since=2026-01-01",
	"/sources/cin_kelp_1/missing", "/sources/cin_kelp_1/missing?status=terminal&show=500",
	"/sources/cin_kelp_1/missing/gap_1", "/sources/cin_kelp_1/missing/gap_2",
	"/changed?source=cin_kelp_1", "/changed?source=cin_kelp_1&stream=letters&before=40",
	"/sources/cin_kelp_1/bookmarks",
	"/sources/cin_kelp_1/bookmarks?stream=letters&mode=catch_up",
	"/sources/cin_kelp_1/bookmarks/rewind?stream=letters&commit=3",
}

// full returns mara with data of every kind, under the name passed in.
func full(name string) *owner {
	o := mara()
	at, skew := now.Add(-time.Hour), int64(-3600)
	o.deletions = []api.Deletion{{ID: "del_1", Scope: "connection", ConnectionID: "cin_kelp_0", State: "hidden",
		AskedAt: at, PurgeAfter: now.AddDate(0, 0, 7), Records: 3, Versions: 2, Bytes: 900, Files: 1, FileBytes: 70,
		KeepsOut: true, Undoable: true, What: name, Happened: "Deleted 3 records. Nobody can read them.",
		Next: "They are removed for good in a week.", Notes: []string{"Backups made before still hold it."}}}
	o.ended = []api.EndedConnection{{ConnectionID: "cin_kelp_0", ConnectorID: "kelp", DisplayName: name, EndedAt: at,
		Deletion: &o.deletions[0]}, {ConnectionID: "cin_kelp_9", ConnectorID: "kelp", DisplayName: "Old " + name, EndedAt: at,
		Records: 12}}
	o.records = api.RecordPage{Records: []api.Record{letter("a1", `{"title":`+quoted(name)+`,"shelf":`+quoted(name)+`}`,
		2)}, Next: "cursor/2"}
	o.record = letter("a1", `{"title":`+
		quoted(name)+`,`+quoted(name)+`:`+quoted(name)+`,"list":[`+quoted(name)+`],"deep":{`+quoted(name)+`:[{}]}}`, 2)
	o.earlier = []api.Record{letter("a1", `{"title":"before"}`, 1)}
	o.kept = keptOf(name)
	o.kept.Days = o.kept.Days[51*7:] // a picture need not be read day by day
	o.storage = storageOf(name)
	streams := []api.GrantStream{{ConnectionID: "cin_kelp_1", Stream: "letters", Fields: []string{"title", name},
		Since: &at}}
	o.grants = []api.Grant{
		{ID: "grt_1", ClientName: name, Purpose: name, Mode: continuous, Streams: streams, Status: "active", CreatedAt: at,
			Uses: 2, Records: 50, Usage: []api.GrantUsage{{Stream: name, Reads: 2, Records: 50, LastUsedAt: at}}},
		{ID: "grt_0", ClientName: name, Streams: streams, Status: "revoked", CreatedAt: at},
	}
	o.request = api.GrantRequest{ID: "req_1", ClientName: name, ReturnsTo: name, Purpose: name, Mode: singleUse,
		Streams: streams, ExpiresAt: &at}
	o.devices = []api.Device{
		{ID: "dev_1", DisplayName: name, AgentVersion: name, ProtocolVersion: name, LastAddress: name, LastUsedAt: &at,
			CreatedAt: at, Status: "active", LastHeartbeatAt: &at, Sources: []api.DeviceSource{
				{ID: "src_1", ConnectionID: "cin_tide_1", DisplayName: name, LastHeartbeatAt: &at, HeartbeatStatus: "blocked",
					ErrorKind: name, LocalBindingName: name, ClockSkewSeconds: &skew,
					Queue:           &api.DeviceQueue{Pending: 184, DeadLetter: 12, OldestPendingAt: &at},
					CollectionScope: &api.CollectionScope{Since: &at, SourceRoots: []string{name}}},
				{ID: "src_2", ConnectionID: "cin_gone", DisplayName: name},
			}},
		{ID: "dev_0", DisplayName: name, Status: "revoked", RevokedAt: &at, Sources: []api.DeviceSource{{DisplayName: name}}},
	}
	o.deviceCodes = []api.DeviceCode{
		{ID: "dcode_1", DisplayName: name, ConnectorID: "tide", Status: api.CodeWaiting, ExpiresAt: now.Add(time.Minute)},
		{ID: "dcode_0", DisplayName: name, Status: api.CodeCancelled},
	}
	o.searches = []api.SavedSearch{{ID: "sea_1", Name: name, Address: "/search?q=harbor", CreatedAt: at}}
	o.targets = []api.PushTarget{{ID: "psh_1", Kind: "ntfy", Label: name, Host: name, LastFailure: name}}
	o.tokens = []api.Token{{ID: "tok_1", Label: name, Prefix: name, Scopes: []string{"read"}, LastUsedAt: &at}}
	o.sessions = []api.Session{{ID: name, Browser: name, Address: name, Method: name, SignedInAt: at, SeenAt: at},
		{ID: "here", Current: true}}
	o.passkeys = []api.Passkey{{ID: name, Label: name, Host: name, CreatedAt: at, LastUsedAt: &at}}
	o.codes = api.RecoveryCodes{Made: 10, Left: 8, CreatedAt: &at}
	o.quiet = "22:00-07:00 " + name
	raw := json.RawMessage(quoted(name))
	o.gaps = api.GapPage{More: true, Gaps: []api.Gap{
		{ID: "gap_1", ConnectionID: "cin_kelp_1", Stream: "letters", RecordKey: name, Reason: name, Text: name,
			Status: "pending", Locator: raw, LastError: raw, Attempts: 2, LastAttempt: &at, CreatedAt: at, DiscoveredRun: name},
		{ID: "gap_2", ConnectionID: "cin_kelp_1", Stream: name, Reason: name, Text: name, Status: "terminal",
			IgnoredWhy: name, CreatedAt: at},
	}}
	o.bookmarks = []api.Bookmark{{ConnectionID: "cin_kelp_1", Stream: "letters", Cursor: raw, Commit: 4, At: at},
		{ConnectionID: "cin_kelp_1", Stream: "letters", Mode: "catch_up", Cursor: raw, Commit: 4, At: at}}
	o.log = []api.BookmarkCommit{{Commit: 4, Cursor: raw, RunID: name, Cause: "slice", At: at},
		{Commit: 3, Cursor: raw, Cause: "rewind", At: at}}
	o.preview = api.RewindPreview{From: o.log[0], To: o.log[1], RecordsChanged: 41, CommitsUndone: 1}
	o.changes = []api.Record{letter("a1", `{"title":`+quoted(name)+`}`, 1)}
	o.changes[0].Seq = 12
	o.streams[0].LastSeq, o.streams[0].UpdatedAt = 40, &at
	o.trail = api.AuditPage{KeptDays: 365, Next: 2, Entries: []api.AuditEntry{
		{ID: 3, At: at, LastAt: at, Kind: "read", Group: "reading", Outcome: "done", Sentence: name,
			Actor: api.AuditActor{Kind: "grant", ID: name, Address: name}},
		{ID: 2, At: at, LastAt: at.AddDate(0, 0, -3), Kind: "sign_in", Group: "sign_ins", Outcome: "refused", Sentence: name},
	}}
	return o
}

// hostileEverywhere replaces the texts of manifests and connections with hostile ones.
func hostileEverywhere(o *owner) {
	for i := range o.overview.Connections {
		c := &o.overview.Connections[i]
		c.DisplayName, c.Verdict.ForwardStatement, c.Verdict.Pill = hostile, hostile,
			verdict.Pill{Tone: "green", Label: hostile}
	}
	for i := range o.streams {
		s := &o.streams[i]
		s.Label, s.ConnectionName = hostile, hostile
		s.Search, s.Filter, s.Fields = []string{hostile}, []string{hostile}, []string{hostile, "title"}
	}
	for i := range o.connectors {
		c := &o.connectors[i]
		c.DisplayName, c.Refresh.Rationale = hostile, hostile
		if c.Form != nil {
			c.Form.Label, c.Form.Description, c.Form.Submit = hostile, hostile, hostile
			for j := range c.Form.Fields {
				f := &c.Form.Fields[j]
				f.Name, f.Label, f.Help, f.Placeholder, f.Type = hostile, hostile, hostile, hostile, hostile
			}
		}
		for j := range c.Streams {
			c.Streams[j].Label, c.Streams[j].Description = hostile, hostile
		}
	}
	for id, d := range o.details {
		d.DisplayName = hostile
		if d.Plan != nil {
			d.Plan.Waiting = hostile
		}
		o.details[id] = d
	}
}

func TestHostileTextIsTextOnEveryPage(t *testing.T) {
	t.Parallel()
	o := full(hostile)
	hostileEverywhere(o)
	h := world(t, o)
	for _, address := range everyPage {
		p := get(t, h, address)
		if p.Code != http.StatusOK {
			t.Errorf("%s answered %d", address, p.Code)
		}
		if !strings.Contains(p.text(), hostile) {
			t.Errorf("%s does not show the text at all, so that it proves nothing", address)
		}
		harmless(t, address, p)
	}
}

// harmless fails where markup of others became markup of the page.
func harmless(t *testing.T, address string, p page) {
	t.Helper()
	for n := range p.tree.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" && !strings.HasPrefix(attr(n, "src"), "/") || n.Data == "img" || n.Data == "style" {
			t.Errorf("%s has an element %s that is not its own", address, n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "href" &&
				strings.Contains(strings.ToLower(a.Val), "javascript:") {
				t.Errorf("%s has an attribute %s=%q", address, a.Key, a.Val)
			}
		}
	}
}

func TestEveryPageCanBeFollowedByEveryone(t *testing.T) {
	t.Parallel()
	h := world(t, full("Ines"))
	for _, address := range everyPage {
		p := get(t, h, address)
		if n := len(p.elements("h1")); n != 1 {
			t.Errorf("%s has %d titles", address, n)
		}
		ids, labels := map[string]bool{}, map[string]bool{}
		for n := range p.tree.Descendants() {
			if id := attr(n, "id"); id != "" {
				if ids[id] {
					t.Errorf("%s has two elements called %q", address, id)
				}
				ids[id] = true
			}
			if n.Data == "label" {
				labels[attr(n, "for")] = true
			}
		}
		for n := range p.tree.Descendants() {
			for _, ref := range strings.Fields(attr(n, "aria-describedby") + " " + attr(n, "aria-labelledby")) {
				if !ids[ref] {
					t.Errorf("%s points to %q, which is not there", address, ref)
				}
			}
			switch n.Data {
			case "input", "select", "textarea":
				if kind := attr(n, "type"); kind != "hidden" && attr(n, "aria-label") == "" && !labels[attr(n, "id")] &&
					n.Parent.Data != "label" {
					t.Errorf("%s has a field %q without a label", address, attr(n, "name"))
				}
			case "form":
				if m := attr(n, "method"); m != "get" && m != "post" || !strings.HasPrefix(attr(n, "action"), "/") {
					t.Errorf("%s has a form that needs a script: %v", address, n.Attr)
				}
			}
		}
	}
}

func TestEmptyPagesSayWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	o := &owner{fails: map[string]error{}, details: map[string]api.Detail{"cin_bare": {}}}
	h := world(t, o)
	for address, words := range map[string]string{
		"/complete":                   "Your records appear here, day by day",
		"/settings/details/streams":   "Records appear here while the first run",
		"/sources/add":                "No connectors are installed",
		"/settings/pace":              "are listed here",
		"/sharing":                    "Only you can read what is here",
		"/sharing/new":                "There are no records to grant yet",
		"/settings/devices":           "Some data is only on your own computers",
		"/settings":                   "There is no connection yet",
		"/sources/cin_bare/missing":   "Nothing is known to be missing",
		"/changed?source=cin_bare":    "Changes appear here while the first run",
		"/sources/cin_bare/bookmarks": "the next run starts from the beginning",
	} {
		p := get(t, h, address)
		if p.Code != http.StatusOK {
			t.Errorf("%s answered %d", address, p.Code)
		}
		p.says(t, words)
	}
}

func TestPagesSayWhatWentWrong(t *testing.T) {
	t.Parallel()
	o := mara()
	o.fails = map[string]error{"Streams": errors.New("disk I/O error of table secrets"),
		"Connectors": api.NotFound("Kelp is away.", "Come back at high tide.")}
	h := world(t, o)
	p := get(t, h, "/settings/details/streams")
	if p.Code != http.StatusInternalServerError || strings.Contains(p.Body.String(), "secrets") {
		t.Errorf("an inner error answered %d: %s", p.Code, p.text())
	}
	p = get(t, h, "/sources/add")
	if p.Code != http.StatusNotFound {
		t.Errorf("an owner's error answered %d", p.Code)
	}
	p.says(t, "Kelp is away.", "Come back at high tide.")
}

// TestTemplatesDeriveNothing scans for the names that a page would need to judge a
// connection itself.
func TestTemplatesDeriveNothing(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.templ")
	if err != nil || len(files) == 0 {
		t.Fatal("no templates found", err)
	}
	judging := regexp.MustCompile(`\.Health\b|\.Axes\b|\.State\b|\.Detail\.|ReasonCode|Disposition|\.Coverage\b|` +
		`\.Freshness\b|\.Outbox\b|Suppressed|` +
		`(?i)needs_attention|"blocked"|degraded|cooling_off|"idle"|"unknown"|"stalled"|dead.letter|source_pressure|retry ` +
		`budget|\b429\b`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := judging.Find(text); found != nil {
			t.Errorf("%s holds %q", name, found)
		}
	}
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}
