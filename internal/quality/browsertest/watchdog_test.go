package browsertest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// TestWatchdogLimitOfARun starts the shipped connector with a real browser. The owner's limit reaches the
// run and ends it; without one the default leaves the sign-in all the time that it needs.
func TestWatchdogLimitOfARun(t *testing.T) {
	t.Attr("spec", "RT-15.4")
	rowan := signin.Account{ID: "user-rowan-01", Name: "Rowan Ashgrove", Email: "rowan@example.org",
		Password: "fern-gully-41"}
	s, err := signin.StartDiary(signin.DiaryConfig{Entries: 1, PerPage: 15, Config: signin.Config{
		Accounts: []signin.Account{rowan}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b := connectortest.NewHarness(t, connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "example_browser"),
		Start: func(*testing.T) *connectortest.Sim {
			return &connectortest.Sim{Provider: s.Diary, Gate: s.Diary.Gate(),
				Env: map[string]string{"PDPP_EXAMPLE_BROWSER_BASE_URL": s.BaseURL}}
		},
	})
	b.UseBrowser(t, s.BaseURL)
	now := time.Now()
	if err := b.Store.CreateConnection(t.Context(), store.Connection{ID: "cin_rowan", ConnectorID: "example_browser",
		DisplayName: "Diary",
		Status:      store.ConnectionActive, SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now}); err != nil {
		t.Fatal(err)
	}
	owner := &connectortest.SimulatedOwner{Site: s.Diary.Site(), Account: rowan}
	signsIn := owner.AnswerRun(t, launch.RunRequest{ConnectionID: "cin_rowan", Trigger: store.TriggerManual})
	alone := launch.RunRequest{ConnectionID: "cin_rowan", Trigger: store.TriggerScheduled}
	for _, c := range []struct {
		limit, code string
		request     launch.RunRequest
	}{
		{"", "", signsIn},
		{"1", "example_browser_session_establish_timeout", alone}, // no page answers within a millisecond
	} {
		b.Env["PDPP_SESSION_ESTABLISH_WATCHDOG_MS"] = c.limit
		r := run(t, b, c.request)
		var code string
		if r.DoneError != nil {
			code = r.DoneError.Code
		}
		if code != c.code || (r.Status == runner.Succeeded) != (c.code == "") {
			t.Errorf("with the limit %q the run ended as %s: %+v, want the code %q", c.limit, r.Status, r.DoneError, c.code)
		}
	}
}
