package status

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/quality/pagetest"
)

// busy is a connection with a run under way, something missing, limits and a pace.
func busy(t *testing.T) *keeper {
	t.Helper()
	k := newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	later, over := at(95), at(-4)
	few, many, rate, low, high := int64(12), int64(1204), 40.0, int64(720), int64(1500)
	k.active = &api.Run{ID: "run_9", ConnectionID: "con_a", DisplayName: "Photobox", Status: "running",
		Trigger: "scheduled", StartedAt: at(-5), RecordsEmitted: 388, Message: "waiting for the source",
		Streams: []api.RunStream{
			{Name: "messages", Label: "Messages", Records: 388, Considered: &many, PerMinute: &rate, LeftLow: &low,
				LeftHigh: &high, Message: "Page 4"},
			{Name: "albums", Records: 40, Considered: &few, LeftLow: &low, LeftHigh: &low}, {Name: "people", Label: "People"},
		}}
	k.runs = append(retried(t).runs, api.Run{ID: "run_0", ConnectionID: "con_a", Status: "abandoned", Trigger: "webhook",
		StartedAt: at(-90), CompletedAt: &over, RecordsEmitted: 1, RecoveryOnly: true})
	k.question = &api.Question{RunID: "run_9", RequestID: "int_1", Message: "A code was sent.", ExpiresAt: &later,
		Fields: []api.QuestionField{
			{Name: "code", Label: "6-digit code", Required: true, Secret: true},
			{Name: "way", Label: "Sent by", Options: []string{"Mail", "Phone"}}, {Name: "note", Label: "Note"},
		}}
	k.events = []api.Event{{Seq: 1, At: at(-5), Text: "The run began."}, {Seq: 2, At: at(-3), Text: "Saved a slice."}}
	k.form = &api.CredentialForm{Kind: "token", Label: "A token", Description: "From the settings of Photobox.",
		Submit: "Reconnect", Fields: []api.CredentialField{
			{Name: "token", Label: "Access token", Secret: true, Required: true, Help: "It is shown once."},
			{Name: "mail", Label: "Mail", Type: "email", Placeholder: "you@example.org"},
			{Name: "note", Label: "Note", Type: "textarea", Help: "Optional."}, {Name: "name", Label: "Name", Type: "words"},
		}}
	k.missing = api.GapPage{More: true, Gaps: []api.Gap{
		{ID: "gap_1", Stream: "messages", RecordKey: "m7", Text: "The source asked for a slower pace.", Status: "pending",
			Attempts: 2, CreatedAt: at(-60)},
		{ID: "gap_2", Stream: "albums", Text: "It was removed at the source.", Status: "terminal", CreatedAt: at(-600)},
	}}
	ceiling, now := 100.0, 57.5
	k.pace = api.Pace{CeilingPerMinute: &ceiling, CurrentPerMinute: &now, Live: true,
		Shared: &api.Sharers{Connections: 3, Runs: 2}, Runs: []api.RunPace{
			{RunID: "run_2", StartedAt: at(-50),
				Points:   []api.PacePoint{{At: at(-50), PerMinute: 3}, {At: at(-48), PerMinute: 115}},
				Backoffs: []api.Backoff{{At: at(-49), Reason: "rate_limited"}}},
			{RunID: "run_9", StartedAt: at(-5),
				Points:   []api.PacePoint{{At: at(-5), PerMinute: 57.5}, {At: at(-1), PerMinute: 0.5}},
				Backoffs: []api.Backoff{{At: at(-4), Reason: "retry_after", Paused: true}}},
		}}
	k.selection = api.Selection{Streams: []api.SelectedStream{{Stream: "messages", Resources: []string{"m7", "m=8"}}}}
	k.more = func(d *api.Detail) {
		rejected := at(-30)
		d.Plan = &api.Plan{Schedule: api.Schedule{IntervalSeconds: 5400, Enabled: true}, NextAt: &later,
			Waiting: "The source rests until 13:35."}
		d.Limits = api.Limits{CeilingPerMinute: 100, MaxSeconds: 600,
			Supports: []string{"ceiling_per_minute", "max_run_seconds", "max_detail_fetches"}}
		d.Credential = &api.Credential{CapturedAt: at(-6000), RejectedAt: &rejected}
		d.Connector.Refresh = api.RefreshPolicy{Mode: "automatic", Rationale: "It allows this.", MinimumSeconds: 3600,
			RecommendedSeconds: 6 * 3600}
		d.Connector.Streams = []api.StreamLabel{{Name: "messages", Label: "Messages"}, {Name: "albums"}}
		d.NotCollected = []api.NotCollected{{Stream: "albums", DeletionID: "del_1", State: "hidden"},
			{Stream: "letters", DeletionID: "del_2", State: "purged"}}
	}
	return k
}

// paused returns a connection with a failed last run and a paused schedule.
func paused(t *testing.T) *keeper {
	t.Helper()
	k := busy(t)
	over := noon.Add(-time.Hour)
	k.active = &api.Run{ID: "run_8", ConnectionID: "con_a", DisplayName: "Photobox", Status: "failed", Trigger: "manual",
		StartedAt: noon.Add(-2 * time.Hour), CompletedAt: &over,
		Failure: "The provider could not be reached.", FailureCode: "unreachable",
		Stderr: "env: 'deno': No such file or directory\n"}
	k.events, k.question, k.runs, k.missing, k.pace, k.selection = nil, nil, nil, api.GapPage{}, api.Pace{},
		api.Selection{}
	k.more = func(d *api.Detail) {
		d.ActiveRun, d.Connector = nil, nil
		d.Plan = &api.Plan{Schedule: api.Schedule{IntervalSeconds: 3600}}
		d.Limits.Supports = []string{"max_detail_fetches"}
	}
	return k
}

// Every page reads as it did.
func TestEveryPageReadsAsBefore(t *testing.T) {
	pages := pagetest.Pages{Folder: "pages"}
	of := func(who string, k *keeper, addresses ...string) {
		h := serve(k)
		for _, address := range addresses {
			pages.Add(t, who+": "+address, send(t, h, http.MethodGet, address, nil, false))
		}
	}
	faulty := newKeeper(plant(t, "never-run", `{}`))
	faulty.facts.runtime = evidence.Runtime{Components: []evidence.Component{{Name: "scheduler",
		Status: evidence.ProbeFailed, At: noon.Add(-time.Hour)}}}
	of("first run", beginner(t), "/sources/con_a")
	of("runtime at fault", faulty, "/sources")
	first := newKeeper()
	form := &api.CredentialForm{Label: "Access", Fields: []api.CredentialField{{Label: "Token", Required: true},
		{Label: "User", Required: true}, {Label: "Note"}}}
	first.offered = []api.Connector{
		{ID: "tide", DisplayName: "Tide", Device: true}, {ID: "reef", DisplayName: "Reef"},
		{ID: "kelp", DisplayName: "Kelp", Form: form},
		{ID: "gull", DisplayName: "Gull", Form: form, Refresh: api.RefreshPolicy{Mode: "manual"}},
		{ID: "sand", DisplayName: "Sand", Form: &api.CredentialForm{Label: "Access"},
			Refresh: api.RefreshPolicy{Mode: "paused"}},
		{ID: "surf", DisplayName: "Surf"}, {ID: "seventh", DisplayName: "Seventh"},
	}
	of("nothing yet", first, "/sources", "/runs", "/sources/con_a")
	of("busy", busy(t), "/sources/con_a", "/runs/run_9", "/runs", "/runs?connection=con_a&all=yes")
	adding := newKeeper()
	adding.offered = []api.Connector{{ID: "tide", DisplayName: "Tide", OnDevices: true, Device: true,
		Streams: []api.StreamLabel{{Label: "Levels", Description: "How high it is."}}}}
	adding.codes = &shared[[]api.DeviceCode]{value: paired()}
	of("adding a device", adding, "/sources/add/tide/device", "/sources/add/tide/device?connection=cin_tide_1",
		"/sources/add/tide/device?connection=none", "/sources/add/reef/device", "/settings/devices/codes/dcode_1",
		"/settings/devices/codes/dcode_2",
		"/settings/devices/codes/dcode_3", "/settings/devices/codes/dcode_4", "/settings/devices/codes/none")
	allows := rejected(t)
	allows.more = func(d *api.Detail) {
		d.Connector.Form, d.Credential = nil, &api.Credential{Status: "rejected", CapturedAt: noon.Add(-time.Hour)}
		d.Connector.FirstRun, d.Connector.OutOfReach = "A minute", []string{"Pictures of others"}
		d.Connector.Consent = &api.Consent{Page: true, Codes: true, Host: "photobox.example", Secret: true,
			NeverAsked: "posting, editing", ProviderSees: "That this server reads",
			RegisterURL: "https://photobox.example/apps", RegisterSteps: []string{"Press New app.", "Give it any name."},
			Scopes: []api.ConsentScope{{Name: "read", Label: "Your pictures", Note: "Needed"},
				{Name: "private", Label: "Private ones", Optional: true}}}
	}
	of("signing in at a provider", allows, "/sources/con_a/allow")
	for _, way := range []string{"code", "page"} {
		pages.Add(t, "signing in by "+way+": POST /sources/con_a/allow",
			send(t, serve(allows), http.MethodPost, "/sources/con_a/allow", url.Values{"way": {way}}, false))
	}
	pages.Without = []string{"inspect"}
	of("to be signed in at a provider", allows, "/sources/con_a")
	of("paused", paused(t), "/sources/con_a", "/runs/run_8")
	of("rejected", rejected(t), "/sources/con_a")
	of("signed out", signedOut(t), "/sources", "/sources/con_a", "/sources/con_a/page", "/sources/con_a/page?opening")
	asked := signedOut(t)
	asks(asked)
	of("asked to sign in", asked, "/sources/con_a", "/sources/con_a/page", "/runs/run_9")
	called := func(id string) string { return `{"connection": {"connection_id": "con_` + id + `"}}` }
	of("several", newKeeper(
		plant(t, "scheduled-healthy", called("well")), plant(t, "never-run", called("new")),
		plant(t, "manual-healthy", called("manual")), rejected(t).facts.all[0],
		plant(t, "scheduled-healthy", pressed), plant(t, "device-drained", devices(aDevice("src_maple", "Maple", blocked))),
	), "/sources")
	of("catching up", newKeeper(plant(t, "scheduled-healthy", pressed)), "/sources/con_photos")
	of("stalled", newKeeper(plant(t, "device-drained", devices(aDevice("src_maple", "Maple", blocked)))),
		"/sources/con_notes")
	of("uploading", newKeeper(plant(t, "device-drained", devices(aDevice("src_maple", "Maple", draining)))),
		"/sources/con_notes")
	of("without a device", newKeeper(plant(t, "device-drained",
		devices(strings.Replace(aDevice("src_maple", "Maple", draining), `"status": "active"`, `"status": "revoked"`, 1)))),
		"/sources/con_notes")
	pages.Check(t)
}

// rejected returns a connection with a rejected credential.
func rejected(t *testing.T) *keeper {
	t.Helper()
	k := newKeeper(plant(t, "scheduled-healthy",
		`{"connection": {"connection_id": "con_a"}, "credential": {"status": "rejected", "rejected_at": `+
			`"2026-03-10T11:30:00Z"}}`))
	k.form = busy(t).form
	return k
}

// A page that fails to read something reports the failure and never shows partial data as
// complete.
func TestNoPageHidesThatItCouldNotRead(t *testing.T) {
	k := busy(t)
	h := serve(k)
	for _, address := range []string{"/sources", "/sources/con_a", "/runs/run_9", "/runs"} {
		k.asked = nil
		page(t, h, address)
		for _, question := range slices.Compact(slices.Sorted(slices.Values(k.asked))) {
			k.fails = map[string]error{question: errors.New("disk I/O error of table secrets")}
			if w := send(t, h, http.MethodGet, address, nil, false); w.Code != http.StatusInternalServerError ||
				strings.Contains(w.Body.String(), "secrets") || strings.Count(w.Body.String(), "<h1") != 1 {
				t.Errorf("%s without %s answered %d", address, question, w.Code)
			}
			k.fails = nil
		}
	}
}
