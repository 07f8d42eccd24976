package matrix_test

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/dendrite"
	"github.com/pdpp-go/pdpp/providersim"
)

// realThrottle collects more than a real server's limiter allows at once: first without and then with learned limits.
// The limiter has its default settings: a number of requests in each cool-off. Only the body names the wait.
func realThrottle(t *testing.T) {
	const rooms, burst, coolOff = 40, 20, 500
	program, dir := dendrite.Program(t), t.TempDir()
	database, drop, err := realserver.CreateDatabase(realserver.PostgresAddress(t), "dendrite")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	}()
	var who *person
	// The person speaks at a server without limits, and is collected from one with them.
	with := func(limits dendrite.Limits, do func(*dendrite.Server)) {
		t.Helper()
		server, stop, err := dendrite.Start(program, database, dir, limits)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}()
		do(server)
	}
	speak := func(server *dendrite.Server) {
		if who == nil {
			who = fill(t, server, 4)
			for range rooms {
				if err := who.create(false); err != nil {
					t.Fatal(err)
				}
			}
		}
		who.Account, who.friend = who.On(server), who.friend.On(server)
		for _, room := range who.rooms[3:] {
			for range 25 {
				if _, err := who.Send(room, "m.room.message", map[string]any{"msgtype": "m.text", "body": "Slower"}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	with(dendrite.Limits{}, speak)
	address := ""
	target := target(t, 0)
	target.Start = func(*testing.T) *connectortest.Sim {
		return who.sim("", providersim.NewGate(providersim.GateOptions{}))
	}
	b := connectortest.NewHarness(t, target)
	for _, name := range []string{"cold", "warm"} {
		with(dendrite.Limits{Threshold: burst, CoolOffMS: coolOff}, func(server *dendrite.Server) {
			var counted *realserver.AnswerCounter
			counted, address = realserver.CountAnswers(t, server.URL)
			b.Env["MATRIX_HOMESERVER"] = address
			who.Account = who.On(server)
			begin := time.Now()
			b.Succeed(t)
			took := time.Since(begin).Seconds()
			served, refused := counted.Served.Load(), counted.Refused.Load()
			per := 1000 * float64(refused) / float64(served+refused)
			t.Logf("%s: %d requests served in %.0f s, %.2f of the rate that the server allows; %d refused, %.1f per 1,000",
				name, served, took, float64(served)/took/(1000*burst/coolOff), refused, per)
			b.VerifyComplete(t)
			if per > 100 || served < 2*rooms {
				t.Errorf("%s: %d of %d requests were refused", name, refused, served+refused)
			}
		})
		with(dendrite.Limits{}, speak)
	}
}
