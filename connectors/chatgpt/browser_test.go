package chatgpt_test

import (
	"net/http"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/chatgpt"
	"github.com/pdpp-go/pdpp/providersim/signin"
)

// TestInABrowser collects in a real Chromium under the real runner. A scheduled run asks no questions; the owner then
// signs in with a second step and the same run collects everything. The next scheduled run continues without a
// question. A robot check, a sign-out and another account each end with their own error.
func TestInABrowser(t *testing.T) {
	cfg := chatgpt.Config{
		Seed: 8, Chats: 45, Projects: 2, Memories: 3, GPTs: 2, Shares: 3, OmitEvery: 11, Workspace: "ws-garden",
		Signin: signin.Config{Second: signin.TOTP,
			Accounts: []signin.Account{signin.Person, {ID: "user-wren-02", Name: "Wren", Email: "wren@example.org",
				Password: "other-words-77"}}},
	}
	s, err := chatgpt.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	site := s.Sim.Site()
	b := connectortest.NewHarness(t, connectortest.Target{
		Connector: played(t), Lane: lane,
		Start: func(*testing.T) *connectortest.Sim {
			return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
				Env: map[string]string{"PDPP_CHATGPT_BASE_URL": s.BaseURL}}
		},
	})
	b.UseBrowser(t, s.BaseURL)
	schedule := func() launch.RunResult {
		t.Helper()
		r, err := b.Launcher().Run(t.Context(),
			launch.RunRequest{ConnectionID: connectortest.Connection, Trigger: store.TriggerScheduled})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ended := func(r launch.RunResult, code string, hint protocol.RecoveryAction) {
		t.Helper()
		if e := r.DoneError; r.Status != runner.Failed || e == nil || e.Code != code || hint != "" &&
			(e.RecoveryHint == nil || e.RecoveryHint.Action != hint) {
			t.Fatalf("ended as %s: %+v, want %s\n%s", r.Status, e, code, r.StderrTail)
		}
	}

	ended(schedule(), "chatgpt_session_required", protocol.RefreshCredentials)
	if n := len(b.Sim.Gate.Requests()); n > 4 {
		t.Errorf("%d requests without a session", n)
	}

	owner := &connectortest.SimulatedOwner{Site: site, Account: signin.Person}
	r := b.Run(t, owner.AnswerRun(t, launch.RunRequest{}))
	if r.Status != runner.Succeeded || owner.Asked != 1 {
		t.Fatalf("ended as %s: %v, asked %d times\n%s", r.Status, r.Failure, owner.Asked, r.StderrTail)
	}
	b.VerifyComplete(t)
	if n := s.Sim.Strange(); n > 0 {
		t.Errorf("%d requests lack what the site's own page sends", n)
	}

	for _, m := range []providersim.Mutation{{Op: "touch_chats", N: 4}, {Op: "add_chats", N: 2}} {
		b.Sim.MutateData(t, m)
	}
	order(t, site, signin.Order{ExpireBearers: true})
	if r := schedule(); r.Status != runner.Succeeded {
		t.Fatalf("ended as %s: %v\n%s", r.Status, r.Failure, r.StderrTail)
	}
	b.VerifyComplete(t)

	order(t, site, signin.Order{Wall: signin.WallUp})
	ended(schedule(), "chatgpt_challenge", protocol.ManualActionRequired)
	order(t, site, signin.Order{Wall: signin.WallDown, SignOut: true})
	ended(schedule(), "chatgpt_session_required", protocol.RefreshCredentials)

	before := b.NewestChange(t, chatgpt.StreamMessages)
	other := &connectortest.SimulatedOwner{Site: site, Account: cfg.Signin.Accounts[1]}
	ended(b.Run(t, other.AnswerRun(t, launch.RunRequest{})), "chatgpt_account_changed", "")
	if after := b.NewestChange(t, chatgpt.StreamMessages); after != before {
		t.Error("another account's messages were stored")
	}
	if n := b.Sim.Gate.Stats().ByStatus[http.StatusUnprocessableEntity]; n > 0 {
		t.Errorf("%d requests were larger than the site allows", n)
	}
}

func order(t *testing.T, s *signin.Site, o signin.Order) {
	t.Helper()
	if _, err := s.Do(o); err != nil {
		t.Fatal(err)
	}
}
