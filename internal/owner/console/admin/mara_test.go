package admin

import (
	"encoding/json"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
)

var now = time.Date(2026, 3, 12, 14, 32, 0, 0, time.FixedZone("Nordhavn", 3600))

// hostile is text that does harm wherever it is not escaped.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'`

// mara is an owner with a bit of everything.
func mara() *owner {
	kelp := view.Connection{
		ID: "cin_kelp_1", ConnectorID: "kelp", DisplayName: "Kelp, maralind", Status: "active",
		Verdict: verdict.Verdict{Pill: verdict.Pill{Tone: verdict.Green, Label: "Healthy"}, Channel: verdict.Calm,
			ForwardStatement: "Kelp collects by itself."},
	}
	tide := view.Connection{
		ID: "cin_tide_1", ConnectorID: "tide", DisplayName: "Tide log", Status: "active",
		Verdict: verdict.Verdict{Pill: verdict.Pill{Tone: verdict.Amber, Label: "Degraded"}, Channel: verdict.Attention,
			ForwardStatement: "Records saved on Studio desktop did not upload."},
	}
	o := &owner{fails: map[string]error{}}
	o.overview = view.Overview{Connections: []view.Connection{tide, kelp}, ObservedAt: now}
	letters := api.StreamLabel{Name: "letters", Label: "Letters", Description: "What was written",
		Fields: []string{"id", "title", "shelf", "read"}, Filter: []string{"shelf"}, TimeField: "written_at",
		Views:         []api.ViewLabel{{ID: "headings", Label: "Headings only", Fields: []string{"id", "title"}}},
		ResourceField: "shelf"}
	stars := api.StreamLabel{Name: "stars", Label: "Stars", Fields: []string{"id"}}
	o.connectors = []api.Connector{
		{
			ID: "kelp", DisplayName: "Kelp", Streams: []api.StreamLabel{letters, stars},
			Profiles: []api.ProfileLabel{{ID: "brief", Label: "Just the letters",
				Streams: []api.ProfileStream{{Stream: "letters", View: "headings"}}}},
			Refresh: api.RefreshPolicy{Mode: "automatic", Rationale: "The source allows it.", RecommendedSeconds: 6 * 3600,
				MinimumSeconds: 3600, StaleSeconds: 86400},
			Form: &api.CredentialForm{Kind: "access_token", Label: "Access", Submit: "Connect Kelp",
				Fields: []api.CredentialField{
					{Name: "user", Label: "User name", Type: "text", Required: true},
					{Name: "token", Label: "Personal access token", Type: "password", Help: "Make one at the source.", Required: true,
						Secret: true},
				}},
		},
		{ID: "tide", DisplayName: "Tide log", Device: true, OnDevices: true,
			Streams: []api.StreamLabel{{Name: "levels", Label: "Levels"}}},
		{ID: "shore", DisplayName: "Shore", OnDevices: true},
	}
	next := now.Add(3 * time.Hour)
	o.details = map[string]api.Detail{
		"cin_kelp_1": {
			Connection: kelp, Connector: &o.connectors[0],
			Plan: &api.Plan{Schedule: api.Schedule{IntervalSeconds: 6 * 3600, JitterSeconds: 60, Enabled: true}, NextAt: &next,
				Waiting: "The source asked for a pause until 15:20."},
			Limits: api.Limits{CeilingPerMinute: 120, Supports: []string{limitCeiling, limitSeconds, limitDetails}},
		},
		"cin_tide_1": {Connection: tide, Connector: &o.connectors[1]},
	}
	o.streams = []api.Stream{
		{ConnectionID: "cin_kelp_1", ConnectionName: "Kelp, maralind", Name: "letters", Label: "Letters", Records: 1906,
			Search: []string{"title"}, Filter: []string{"shelf"}, Fields: letters.Fields,
			RangeFilters: []api.RangeFilter{{Field: "pages", Kind: "number", Operators: []string{"gte", "lt"}},
				{Field: "written_at", Kind: "time", Operators: []string{"gte", "gt", "lte", "lt"}}},
			Aggregations: api.Aggregations{Count: true, GroupBy: []string{"shelf"}, GroupByTime: []string{"written_at"}}},
		{ConnectionID: "cin_kelp_1", ConnectionName: "Kelp, maralind", Name: "stars", Label: "Stars", Records: 0,
			Fields: stars.Fields},
		{ConnectionID: "cin_tide_1", ConnectionName: "Tide log", Name: "levels", Label: "Levels", Records: 12},
	}
	o.runtime = api.Runtime{
		Version: "0.9.2", Database: "sqlite", Home: "/home/mara/.pdpp", VAPIDKey: "BKey", StartedAt: now.Add(-time.Hour),
		Workers: []api.Worker{{ID: "w1", Host: "harbor", Slots: 4, Running: 1, SeenAt: now, Alive: true}},
	}
	return o
}

func letter(key, data string, version int64) api.Record {
	return api.Record{
		ConnectionID: "cin_kelp_1", Stream: "letters", Key: key, Data: json.RawMessage(data),
		ChangedAt: now.Add(-time.Duration(10-version) * time.Hour), Version: version, Deleted: data == "",
	}
}
