package admin

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/diskuse"
	"github.com/pdpp-go/pdpp/internal/quality/pagetest"
	"github.com/pdpp-go/pdpp/internal/view"
)

// rarely is full with what is rarely so: paused, gone, over, removed, wrong.
func rarely() *owner {
	o := full("Ines")
	year, week := now.AddDate(-1, 0, 0), now.AddDate(0, 0, -7)
	later := now.AddDate(0, 2, 0)
	for id, d := range map[string]api.Detail{
		"cin_brook": {Connector: &o.connectors[0], Plan: &api.Plan{Schedule: api.Schedule{IntervalSeconds: 5400}}},
		"cin_reef":  {Connector: &o.connectors[0]},
		"cin_gull": {Connector: &api.Connector{DisplayName: "Gull",
			Refresh: api.RefreshPolicy{Mode: "manual", Rationale: "The source wants you there."}}},
		"cin_stone": {},
		"cin_sand": {Connector: &api.Connector{Refresh: api.RefreshPolicy{Mode: "automatic"}},
			Plan: &api.Plan{Schedule: api.Schedule{IntervalSeconds: 90, Enabled: true}}},
		"cin_shell": {Connection: view.Connection{SourceKind: "local_device"}},
	} {
		d.ID, d.DisplayName = id, strings.TrimPrefix(id, "cin_")
		o.details[id] = d
		o.overview.Connections = append(o.overview.Connections, d.Connection)
	}
	o.overview.Connections = append(o.overview.Connections,
		view.Connection{ID: "cin_gone", DisplayName: "Revoked meanwhile"})
	limited := o.details["cin_kelp_1"]
	limited.Limits.MaxSeconds, limited.Limits.MaxDetails = 5400, 40
	o.details["cin_kelp_1"] = limited

	part := func(change func(*api.GrantStream)) []api.GrantStream {
		s := api.GrantStream{ConnectionID: "cin_kelp_1", Stream: "letters"}
		change(&s)
		return []api.GrantStream{s}
	}
	o.grants = append(o.grants,
		api.Grant{ID: "grt_2", ClientName: "Tidewatch", Mode: singleUse, Status: "active", CreatedAt: year, ExpiresAt: &later,
			LastUsedAt: &week, Uses: 1, Records: 1,
			Streams: part(func(s *api.GrantStream) { s.Since, s.Until = &year, &week })},
		api.Grant{ID: "grt_3", ClientName: "Almanac", Status: "expired", CreatedAt: year, ExpiresAt: &week, LastUsedAt: &year,
			Streams: part(func(s *api.GrantStream) { s.Until = &week })},
		api.Grant{ID: "grt_4", ClientName: "Archive", Status: "consumed", CreatedAt: week,
			Streams: part(func(s *api.GrantStream) { s.Stream, s.Resources = "lost_letters", []string{"a1", "a2"} })},
	)
	o.connectors[0].Foreign = &api.Foreign{Executable: "ab12", Network: "Every address that this machine reaches.",
		Paths: []string{"KELP_DIR"}, Starts: []string{"python3", "connector"}, Scripts: []string{"tide.py"}}
	o.connectors[0].Lacks = "python3 starts the connector kelp, and is not here. Install Python."
	o.connectors = append(o.connectors, api.Connector{ID: "lagoon", DisplayName: "Lagoon", SignsIn: true,
		Refresh: api.RefreshPolicy{Mode: "automatic", RecommendedSeconds: 86400}})
	o.runtime.Database, o.runtime.Workers = "postgres", []api.Worker{{Host: "harbor", SeenAt: year}}
	o.searches, o.ended = nil, nil
	o.deletions = []api.Deletion{{ID: "del_2", Scope: "stream", State: "purged", KeepsOut: true, What: "letters",
		Happened: "Deleted for good: 3 records.", Notes: []string{}, AskedAt: week},
		{ID: "del_3", State: "compacting", Trouble: "disk full", What: "All", Happened: "Being cleared.", AskedAt: week,
			Notes: []string{}}}
	o.codes, o.passkeys, o.sessions, o.quiet = api.RecoveryCodes{}, nil, o.sessions[1:], ""
	o.targets = []api.PushTarget{{ID: "psh_2", Kind: "web_push", Label: "A phone", LastSuccessAt: &week},
		{ID: "psh_3", Kind: "webhook", Host: "hooks.example"}}
	o.tokens = []api.Token{
		{ID: "tok_2", Label: "Laptop", Scopes: []string{"run", "manage"}, ExpiresAt: &later, CreatedAt: week},
		{ID: "tok_3", Label: "Old", Scopes: []string{"all"}, CreatedAt: year, RevokedAt: &week},
	}
	o.records = api.RecordPage{Records: []api.Record{letter("a2", "", 3), letter("a3", `{"shelf":"low"}`, 1)}}
	low := "low"
	o.aggregation = api.Aggregation{Groups: []api.Group{{Key: &low, Value: []byte(`1904`)}, {Value: []byte(`2`)}},
		Truncated: true}
	o.record = letter("a2", "", 4)
	o.record.ChangedAt = year
	o.earlier = []api.Record{letter("a2",
		`{"title":"Back","at":"2026-03-01T10:00:00Z","page":"https://kelp.example/a2","deep":[[1,2]],"none":null}`, 3),
		letter("a2", "", 2), letter("a2", `{"title":"Came"}`, 1)}
	o.storage = diskuse.Storage{Sources: []diskuse.StorageSource{}, DiskFreeBytes: new(int64(900 << 20))}
	o.gaps, o.bookmarks, o.trail = api.GapPage{}, nil, api.AuditPage{}
	o.streams[0].Search, o.streams[0].LastSeq = nil, 0
	o.streams[1].Records, o.streams[1].LastSeq, o.streams[1].UpdatedAt = 4000, 4000, &week
	o.changes = []api.Record{letter("a9", `{}`, 2)}
	o.changes[0].Stream, o.changes[0].Seq = "stars", 3990
	return o
}

var rarePages = []string{
	"/search/saved", "/search/saved/none", "/settings/deletions", "/settings/deletions/del_2",
	"/settings/deletions/del_3", "/settings/deletions/none",
	"/settings/deletions/new?scope=range&connection=cin_kelp_1", "/settings/deletions/new?scope=range&since=soon",
	"/search?connection=cin_kelp_1&stream=letters&f.shelf=low&order=oldest&gte.pages=3&count=value.shelf",
	"/thing/cin_kelp_1/letters/a2", "/search?connection=cin_kelp_1&stream=shells",
	"/sources/add/kelp", "/sources/add/kelp/about", "/sources/add?q=nothing", "/sources/add/lagoon", "/sources/add/none",
	"/settings/pace", "/sharing", "/sharing/assistants", "/sharing/grt_2",
	"/sharing/grt_3", "/sharing/grt_4", "/sharing/none", "/sharing/reads", "/settings", "/settings/storage",
	"/settings/sign-in",
	"/settings/password",
	"/sources/cin_kelp_1/missing", "/sources/cin_kelp_1/missing/none", "/changed?source=cin_kelp_1",
	"/sources/cin_kelp_1/bookmarks", "/sources/none/missing",
}

// refused are forms that are shown again with what is wrong.
var refused = []struct {
	address string
	form    url.Values
}{
	{"/sources/add/kelp", url.Values{"field.user": {"maralind"}, "field.token": {"kelp-secret"}, "schedule": {ownRhythm},
		"every": {"soon"}, "unit": {"hours"}}},
	{"/sources/add/tide", url.Values{}},
	{"/settings/pace/cin_brook", url.Values{"do": {"change"}, "every": {"soon"}, "unit": {"days"}}},
	{"/sharing", url.Values{"client": {"Tidewatch"}, "mode": {"always"}}},
	{"/sharing", url.Values{"client": {"Tidewatch"}, "mode": {singleUse}, "from": {"soon"},
		"stream": {"cin_kelp_1/letters"}}},
	{"/sharing", url.Values{"client": {"Tidewatch"}, "mode": {singleUse}, "to": {"soon"},
		"fields:cin_kelp_1/letters": {"title"}}},
	{"/sharing", url.Values{"client": {"Tidewatch"}, "mode": {continuous}, "end": {"soon"}}},
	{"/sharing/reads/retention", url.Values{"days": {"many"}}},
	{"/settings/speed", url.Values{"connection": {"cin_kelp_1"}, "ceiling.cin_kelp_1": {"fast"},
		"minutes.cin_kelp_1": {"2"}}},
	{"/settings/tokens", url.Values{"label": {"X"}, "scope": {"run"}, "ends": {"date"}, "date": {"soon"}}},
}

// Every page matches its stored text: for an owner with data of every kind, for an owner with rare
// states, and after a rejected form.
func TestEveryPageReadsAsBefore(t *testing.T) {
	t.Parallel()
	pages := pagetest.Pages{Folder: "pages"}
	usual, rare := world(t, full("Ines")), world(t, rarely())
	for _, address := range everyPage {
		pages.Add(t, address, get(t, usual, address).ResponseRecorder)
	}
	for _, address := range rarePages {
		pages.Add(t, "rarely: "+address, get(t, rare, address).ResponseRecorder)
	}
	for _, c := range refused {
		pages.Add(t, "refused: "+c.address+" "+c.form.Encode(), post(t, rare, c.address, c.form).ResponseRecorder)
	}
	pages.Check(t)
}

// A page that fails to read something reports the failure and never shows partial data as
// complete.
func TestNoPageHidesThatItCouldNotRead(t *testing.T) {
	t.Parallel()
	o := full("Ines")
	h := world(t, o)
	for _, address := range everyPage {
		o.questions = nil
		get(t, h, address)
		for _, question := range slices.Compact(slices.Sorted(slices.Values(o.questions))) {
			switch {
			case question == "Runtime" && address != "/settings": // the frame omits the runtime notice
				continue
			case question == "Streams" && strings.HasPrefix(address,
				"/sharing/grt"): // what is granted is called by its own names
				continue
			}
			o.fails[question] = errors.New("disk I/O error of table secrets")
			if p := get(t, h, address); p.Code != http.StatusInternalServerError ||
				strings.Contains(p.Body.String(), "secrets") || len(p.elements("h1")) != 1 {
				t.Errorf("%s without %s answered %d", address, question, p.Code)
			}
			delete(o.fails, question)
		}
	}
}
