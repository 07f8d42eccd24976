//pdpp:tier programs

package examplebrowser_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// TestDiary collects the diary in a real browser, with the shipped program.
func TestDiary(t *testing.T) {
	s, err := signin.StartDiary(signin.DiaryConfig{Entries: 70, PerPage: 15,
		Config: signin.Config{Second: signin.Email, SessionOnly: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	site := s.Diary.Site()
	b := connectortest.NewHarness(t, connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "example_browser"),
		Start: func(*testing.T) *connectortest.Sim {
			return &connectortest.Sim{Provider: s.Diary, Gate: s.Diary.Gate(),
				Env: map[string]string{"PDPP_EXAMPLE_BROWSER_BASE_URL": s.BaseURL}}
		},
	})
	b.UseBrowser(t, s.BaseURL)
	schedule := func(want string) {
		t.Helper()
		r, err := b.Launcher().Run(t.Context(),
			launch.RunRequest{ConnectionID: connectortest.Connection, Trigger: store.TriggerScheduled})
		if err != nil {
			t.Fatal(err)
		}
		code := ""
		if r.DoneError != nil {
			code = r.DoneError.Code
		}
		if code != want || want == "" && r.Status != runner.Succeeded {
			t.Fatalf("ended as %s %q, want %q\n%s", r.Status, code, want, r.StderrTail)
		}
	}
	schedule("example_browser_session_required")
	owner := &connectortest.SimulatedOwner{Site: site, Account: signin.Person}
	if r := b.Run(t, owner.AnswerRun(t, launch.RunRequest{})); r.Status != runner.Succeeded || owner.Asked != 1 {
		t.Fatalf("ended as %s: %v\n%s", r.Status, r.Failure, r.StderrTail)
	}
	b.VerifyComplete(t)

	b.Sim.MutateData(t, providersim.Mutation{Op: "add_entries", N: 21})
	if _, err := site.Do(signin.Order{BearerMS: 1, ExpireBearers: true}); err != nil {
		t.Fatal(err)
	}
	schedule("example_browser_session_required") // no token lasts for a request: the session is as good as gone
	if _, err := site.Do(signin.Order{BearerMS: 600_000, ExpireBearers: true}); err != nil {
		t.Fatal(err)
	}
	schedule("")
	b.VerifyComplete(t)
	if _, err := site.Do(signin.Order{Wall: signin.WallUp}); err != nil {
		t.Fatal(err)
	}
	schedule("example_browser_challenge")
}
