package chatgpt_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest/inprocess"
	"github.com/pdpp-go/pdpp/connectors/chatgpt"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim"
	sim "github.com/pdpp-go/pdpp/providersim/chatgpt"
)

// noted returns a runner over an account that is signed in.
func noted(t *testing.T, cfg sim.Config) (*inprocess.MemoryRunner, *sim.ChatGPT) {
	t.Helper()
	g := sim.New(cfg)
	cookie, err := g.Site().SignIn(person)
	if err != nil {
		t.Fatal(err)
	}
	n := inprocess.NewMemoryRunner(t, chatgpt.Connector(), nil)
	n.Transport = &inprocess.Visitor{Handler: g.Handler(), Cookies: map[string]string{sim.SessionCookie: cookie.Value}}
	return n, g
}

// TestHiddenBucket collects a history one by one behind an unannounced bucket, with a run every hour, in virtual
// time. Hours later everything is stored, at nearly the pace of a client that knows the bucket. The pace starts
// slowly, reaches the ceiling, never crosses it, and is kept and reported from run to run. Pressure from gap recovery
// does not delay new conversations.
func TestHiddenBucket(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"RC-01", "RC-02", "RC-03", "RC-04", "RC-05"} {
		t.Attr("spec", id)
	}
	for name, c := range map[string]struct {
		chats, burst int
		every        time.Duration
		waits        bool // longer than a run does: the rest is for the next one
	}{
		"one a minute":         {700, 200, time.Minute, false},
		"one in eight minutes": {240, 200, 8 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { collectBehind(t, c.chats, c.burst, c.every, c.waits) })
		})
	}
}

// collectBehind collects behind a bucket of so many at once and one more every so often.
func collectBehind(t *testing.T, chats, burst int, every time.Duration, waits bool) {
	n, g := noted(t, sim.Config{Seed: 2, Chats: chats, Projects: 3, DetailBurst: burst, DetailEvery: every,
		NoBatch: http.StatusNotFound})
	var rates []*protocol.CollectionRate
	n.Observe = func(m protocol.Message) {
		if p, ok := m.(*protocol.Progress); ok && p.CollectionRate != nil {
			rates = append(rates, p.CollectionRate)
		}
	}
	began, runs, added := time.Now(), 0, 0
	for done := false; !done; runs++ {
		if runs > 12 {
			t.Fatalf("%d conversations wait after %d runs", n.Pending(), runs)
		}
		at := time.Now()
		if runs == 1 {
			gone, err := g.Mutate(providersim.Mutation{Op: "add_chats", N: 3})
			if err != nil {
				t.Fatal(err)
			}
			added = len(gone.IDs)
		}
		n.Run()
		if runs == 1 && waits && (n.Pending() == 0 || len(n.Records[sim.StreamConversations]) < burst+added) {
			t.Errorf("%d wait, %d conversations are listed: recovery kept the run from what is new", n.Pending(),
				len(n.Records[sim.StreamConversations]))
		}
		if oracle := min(chats+added, burst+int(time.Since(began)/every)); g.Granted() < oracle*95/100 {
			t.Errorf("run %d: %d conversations after %s, an oracle has %d", runs, g.Granted(), time.Since(began), oracle)
		}
		if done = n.Pending() == 0 && runs > 0; !done {
			time.Sleep(time.Until(at.Add(time.Hour)))
		}
	}
	if got, want := len(n.Records[sim.StreamMessages]), len(g.Truth()[sim.StreamMessages]); got != want {
		t.Errorf("%d of %d messages", got, want)
	}
	var last time.Time
	shortest := time.Hour
	for _, r := range g.Gate().Requests() {
		if strings.HasPrefix(r.Path, "/backend-api/conversation/") {
			if !last.IsZero() {
				shortest = min(shortest, r.At.Sub(last))
			}
			last = r.At
		}
	}
	if shortest < 250*time.Millisecond || shortest > 300*time.Millisecond {
		t.Errorf("the shortest time between two conversations is %s, the ceiling 250ms", shortest)
	}
	if mark := n.Bookmark(sim.StreamConversations); !strings.Contains(mark, "pacing_detail_interval_ms") {
		t.Errorf("the pace is not on the bookmark: %s", mark)
	}
	if len(rates) == 0 || rates[0].CeilingIntervalMS != 250 {
		t.Errorf("the pace is told %d times", len(rates))
	}
	hours := int(time.Since(began)/time.Hour) + 1
	if refused := g.Gate().Stats().ByStatus[http.StatusTooManyRequests]; refused > 4*hours {
		t.Errorf("%d refusals in %d hours", refused, hours)
	}
}

var measure = flag.String("measure", "",
	"where TestFirstCollection writes its figures of a long history; without it the history is short")

// firstCollection is what a first collection took, for the benchmark.
type firstCollection struct {
	Name    string  `json:"name"`
	Share   float64 `json:"share"` // of what an oracle has, at the end of the run where it is lowest
	Refused int     `json:"refused"`
	Chats   int     `json:"chats"`
	Runs    int     `json:"runs"`
	Minutes float64 `json:"minutes"`
	Longest float64 `json:"longest_minutes"` // of one run
	Again   int     `json:"again"`           // requests of a run after twenty changes
}

// TestFirstCollection compares a first collection behind hidden buckets with the pace of a client that knows them:
// one by one, and ten at a time. It runs in virtual time with a run every hour. The run after it requests only
// changes. make bench measures 2,000 conversations with it.
func TestFirstCollection(t *testing.T) {
	t.Parallel()
	chats := 220
	if *measure != "" {
		chats = 2000
	}
	var all []firstCollection
	for name, cfg := range map[string]sim.Config{
		"one by one":    {NoBatch: http.StatusNotFound, DetailBurst: 200, DetailEvery: time.Minute},
		"ten at a time": {DetailBurst: 200, DetailEvery: time.Minute, BatchBurst: 60, BatchEvery: 10 * time.Second},
	} {
		cfg.Seed, cfg.Chats, cfg.Projects = 2, chats, 8
		synctest.Test(t, func(t *testing.T) { all = append(all, collectFirst(t, name, cfg)) })
	}
	for _, c := range all {
		if c.Share < 0.95 || c.Again > 60 {
			t.Errorf("%s: %.2f of what an oracle has, and %d requests after 20 changes", c.Name, c.Share, c.Again)
		}
	}
	if *measure == "" {
		return
	}
	data, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(*measure, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func collectFirst(t *testing.T, name string, cfg sim.Config) firstCollection {
	n, g := noted(t, cfg)
	out := firstCollection{Name: name, Share: 1, Chats: cfg.Chats}
	began := time.Now()
	oracle := func() int {
		since := time.Since(began)
		if cfg.NoBatch == 0 {
			return 10 * (cfg.BatchBurst + int(since/cfg.BatchEvery))
		}
		return cfg.DetailBurst + int(since/cfg.DetailEvery)
	}
	want := len(g.Truth()[sim.StreamMessages])
	for len(n.Records[sim.StreamMessages]) < want {
		if out.Runs++; out.Runs > 100 {
			t.Fatalf("%s: the history was not collected in a hundred runs", name)
		}
		if out.Runs > 1 {
			time.Sleep(time.Until(began.Add(time.Since(began).Truncate(time.Hour) + time.Hour)))
		}
		at := time.Now()
		n.Run()
		of := map[string]bool{}
		for _, data := range n.Records[sim.StreamMessages] {
			of[lane.Item(json.RawMessage(data))] = true
		}
		out.Share = min(out.Share, float64(len(of))/float64(min(cfg.Chats, oracle())))
		out.Longest = max(out.Longest, time.Since(at).Minutes())
	}
	out.Minutes, out.Refused = time.Since(began).Minutes(), g.Gate().Stats().ByStatus[http.StatusTooManyRequests]
	time.Sleep(5 * time.Hour)
	if _, err := g.Mutate(providersim.Mutation{Op: "touch_chats", N: 20}); err != nil {
		t.Fatal(err)
	}
	before := g.Gate().Stats().Requests
	n.Run()
	out.Again = g.Gate().Stats().Requests - before
	return out
}
