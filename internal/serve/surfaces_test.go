package serve

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/protocol"
)

// The server reports correct facts about itself. A password set through the console lets the owner in from then on,
// and the previous one does not.
func TestServerAnswersItsOwner(t *testing.T) {
	var guard *auth.Auth
	onBoth(t, func(g *ground) {
		guard = g.listen()
	}, func(t *testing.T, g *ground) {
		before, err := guard.Setup(t.Context(), "")
		g.must(err)
		_, token, err := guard.CreateToken(t.Context(), auth.NewToken{Label: "laptop", Scopes: []string{"all"}})
		g.must(err)
		client := api.NewClient("http://"+g.config.Listener.Addr().String(), token, nil)
		runtime, err := client.Runtime(t.Context())
		g.must(err)
		if want := t.Name()[strings.LastIndexByte(t.Name(), '/')+1:]; runtime.Database != want {
			t.Errorf("the database is said to be %q, want %q", runtime.Database, want)
		}
		// An address without a page is explained to a browser as a page, and to a program as JSON.
		for accept, want := range map[string]string{"text/html,*/*": "There is no such page.</h1>",
			"*/*": `"code":"not_found"`} {
			q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, client.Base+"/no/such/page", nil)
			g.must(err)
			q.Header.Set("Accept", accept)
			answer, err := http.DefaultClient.Do(q)
			g.must(err)
			page, err := io.ReadAll(answer.Body)
			g.must(errors.Join(err, answer.Body.Close()))
			if answer.StatusCode != http.StatusNotFound || !strings.Contains(string(page), want) {
				t.Errorf("for %s: %d %s", accept, answer.StatusCode, page)
			}
		}
		const after = "a lantern over the harbour"
		g.must(client.SetPassword(t.Context(), api.NewPassword{Password: after, KeepTokens: true}))
		for password, opens := range map[string]bool{before: false, after: true} {
			another := auth.New(auth.Config{Store: g.st, Now: time.Now}) // another process
			if err := another.SignIn(httptest.NewRecorder(), httptest.NewRequest("POST", "/login", nil),
				password); (err == nil) != opens {
				t.Errorf("the new password opens %v: %v", opens, err)
			}
		}
	})
}

// surveyor writes what it was offered as a record.
const surveyor = `#!/bin/sh
read -r start
case "$start" in *'"browser":'*) key=browser ;; *) key=none ;; esac
printf '%s\n' '{"type":"RECORD","stream":"beds","key":"'$key'","data":{"id":"'$key'"},'\
'"emitted_at":"2026-01-02T03:04:05Z"}'
printf '%s\n' '{"type":"STATE","stream":"beds","cursor":{"n":1}}'
printf '%s\n' '{"type":"DONE","status":"succeeded","records_emitted":1}'
`

// A run is offered a browser only where there is one, whatever the server could pass on.
func TestBrowserIsOfferedWhereThereIsOne(t *testing.T) {
	for _, capabilities := range [][]string{{"network"}, {"network", "browser"}} {
		want := "none"
		if len(capabilities) > 1 {
			want = "browser"
		}
		t.Run(want, func(t *testing.T) {
			onBoth(t, func(g *ground) {
				g.config.Worker.Capabilities = capabilities
				g.install("garden", needing("garden", `{"bindings":{"network":{"required":true},"browser":{"required":false}}}`),
					surveyor)
				g.connect("cin_garden", "garden")
				g.schedule("cin_garden", time.Hour)
			}, func(t *testing.T, g *ground) {
				var got []store.StoredRecord
				g.until("it has run", func() bool {
					var err error
					got, err = g.st.ListRecords(t.Context(),
						store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "cin_garden", Stream: "beds"}})
					g.must(err)
					return len(got) > 0
				})
				if got[0].Key != want {
					t.Errorf("the run was offered %s, want %s", got[0].Key, want)
				}
			})
		})
	}
}

// Turning on a schedule that does not exist returns an error and creates none.
func TestNoScheduleIsNotSwitchedOn(t *testing.T) {
	inPlot(t, func(t *testing.T, p *plot) {
		time.Sleep(soon)
		if on, err := (repairStore{p.st, time.Now}).EnableSchedule(t.Context(), garden, time.Now()); on || err != nil {
			t.Errorf("switched on: %v, %v", on, err)
		}
		if all, err := p.st.ListSchedules(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("schedules %+v, %v", all, err)
		}
	})
}

// A push is asked for when a look may have made one pending, and otherwise only now and
// then.
func TestPushIsAskedForAfterALook(t *testing.T) {
	inPlot(t, func(t *testing.T, p *plot) {
		time.Sleep(soon)
		now := time.Now()
		s := newProcess(Config{Store: p.st})
		s.keptAt = now
		for looked, want := range map[int]int{0: 0, 1: 1} {
			p.must(s.afterPass(t.Context(), now.Add(time.Second), looked))
			if got := len(s.pushWanted); got != want {
				t.Errorf("after a pass that looked at %d, %d pushes are asked for", looked, got)
			}
			select {
			case <-s.pushWanted:
			default:
			}
		}
	})
}

// The log speaks of pushes that fail, and of no others.
func TestOnlyFailingPushesAreLogged(t *testing.T) {
	inPlot(t, func(t *testing.T, p *plot) {
		p.credential("spade")
		p.schedule(5*time.Minute, true)
		time.Sleep(time.Minute)
		if len(p.pushed()) != 1 || strings.Contains(p.warned(), "pushing") {
			t.Errorf("%d pushes, and the log says %q", len(p.pushed()), p.warned())
		}
		p.must(p.st.PutSetting(t.Context(), "notify_quiet_hours", []byte("whenever"), time.Now()))
		time.Sleep(time.Minute)
		if !strings.Contains(p.warned(), "pushing failed") {
			t.Errorf("the log says %q", p.warned())
		}
		p.must(p.st.PutSetting(t.Context(), "notify_quiet_hours", nil, time.Now()))
	})
}

// parkedConnector asks for what it lacks and then waits silently.
const parkedConnector = `#!/bin/sh
read -r start
printf '%s' '{"type":"INTERACTION","request_id":"key-1","kind":"missing_credentials",'
printf '%s\n' '"message":"Garden needs GARDEN_TOKEN to sign in."}'
read -r answer
exit 1
`

// A run that lacks its credential parks without a limit of its own, and no longer than
// the owner lets the connection collect: when they end it, the question ends, and the
// run with it.
func TestParkedQuestionEndsWithItsConnection(t *testing.T) {
	onBoth(t, func(g *ground) {
		g.install("garden", needing("garden", `{"bindings":{"network":{"required":true}}}`), parkedConnector)
		g.connect("cin_garden", "garden")
		g.schedule("cin_garden", time.Hour)
	}, func(t *testing.T, g *ground) {
		open := func() []store.Interaction {
			all, err := g.st.OpenInteractions(t.Context(), "cin_garden")
			g.must(err)
			return all
		}
		g.until("a run is parked", func() bool { return len(open()) == 1 })
		q := open()[0]
		if q.Kind != protocol.AskMissingCredentials || q.ExpiresAt != nil {
			t.Errorf("the question is %+v", q)
		}
		owner := service.New(service.Config{Store: g.st, Connectors: g.config.Connectors, Now: time.Now})
		g.must(owner.Revoke(t.Context(), "cin_garden"))
		g.until("the question ends", func() bool { return len(open()) == 0 })
		g.until("the run ends", func() bool {
			run, err := g.st.Run(t.Context(), q.RunID)
			g.must(err)
			return run.Status == store.RunCancelled && run.FailureReason == string(runner.ReasonOwnerCancelled)
		})
	})
}
