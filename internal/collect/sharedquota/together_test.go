package sharedquota_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/collect/sharedquota"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

const leaseTime = 20 * time.Second

// ledger is the store's part in memory, so that a whole world lives in virtual time. storetest holds the real ones
// to what is assumed here.
type ledger struct {
	mu      sync.Mutex
	members []*entry
	joined  int64
	learned []byte
}

type entry struct {
	store.AllowanceMember
	until time.Time
}

func (l *ledger) JoinAllowance(ctx context.Context, lease store.Lease, key, _ string, now time.Time) (store.Allowance,
	error) {
	l.mu.Lock()
	l.joined++
	l.members = append(l.members, &entry{store.AllowanceMember{RunID: lease.RunID, Holder: lease.Holder, Joined: l.joined},
		now.Add(leaseTime)})
	l.mu.Unlock()
	all, err := l.Allowances(ctx, []string{key}, now)
	return all[0], err
}

func (l *ledger) UpdateAllowances(_ context.Context, allowanceUpdates []store.AllowanceUpdate, _ time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range allowanceUpdates {
		for _, m := range l.members {
			if m.RunID == t.RunID && t.News != nil {
				m.News = t.News
			}
		}
		if t.Learned != nil {
			l.learned = t.Learned
		}
	}
	return nil
}

func (l *ledger) Allowances(_ context.Context, keys []string, now time.Time) ([]store.Allowance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := store.Allowance{Key: keys[0], Learned: l.learned}
	for _, m := range l.members {
		if m.until.After(now) {
			a.Members = append(a.Members, m.AllowanceMember)
		}
	}
	return []store.Allowance{a}, nil
}

// renew renews the leases of a process's runs.
func (l *ledger) renew(holder string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.members {
		if m.Holder == holder {
			m.until = now.Add(leaseTime)
		}
	}
}

// sharing names the runs that draw together with those of other processes.
func (l *ledger) sharing() (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.members {
		if slices.ContainsFunc(l.members, func(o *entry) bool { return o.Holder != m.Holder }) {
			ids = append(ids, m.RunID)
		}
	}
	return ids
}

// provider accepts a number of requests per second from all runs together, and counts by run.
type provider struct {
	rate, burst float64

	mu       sync.Mutex
	tokens   float64
	at       time.Time
	from     time.Time // what came before does not count
	passed   map[string]int
	refusals int
}

type asker struct {
	*provider
	run string
}

func (a asker) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(20 * time.Millisecond):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.tokens = min(a.burst, a.tokens+a.rate*now.Sub(a.at).Seconds())
	a.at = now
	status := http.StatusOK
	counts := now.After(a.from)
	if a.tokens < 1 {
		status = http.StatusTooManyRequests
		if counts {
			a.refusals++
		}
	} else if a.tokens--; counts {
		a.passed[a.run]++
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// connector asks without end, one request for each record.
func (p *provider) connector(t *testing.T, run string) connectorkit.Connector {
	c, err := connectorkit.New([]byte(`{"protocol_version":"0.1.0","connector_id":"tunes","version":"1",`+
		`"display_name":"Tunes",
		"streams":[{"name":"log","semantics":"append_only","checkpoint":"slice","primary_key":"id",`+
		`"schema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}]}`),
		func(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
			if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Account: "ann@meadow.example"}); err != nil {
				return nil, err
			}
			client, err := s.HTTP(governhttp.Options{BaseURL: "http://tunes.test", Transport: asker{p, run},
				Classify: connectorkit.ByStatus}, func(c *governor.Config) { c.Ceiling = 10 * time.Millisecond })
			return []connectorkit.Collector{connectorkit.PagedStream{Stream: "log",
				Page: func(ctx context.Context, at connectorkit.Cursor) (connectorkit.Page, error) {
					if _, err := client.Get(ctx, "log", nil); err != nil {
						return connectorkit.Page{}, err
					}
					n, _ := strconv.Atoi(at["n"])
					next := strconv.Itoa(n + 1)
					return connectorkit.Page{Records: []connectorkit.Record{connectorkit.Upsert(map[string]string{"id": next})},
						Next: connectorkit.Cursor{"n": next}, More: true}, nil
				}}}, err
		})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// process is a worker: a hub and its runs.
type process struct {
	name string
	hub  *sharedquota.Hub
	ctx  context.Context
	kill context.CancelFunc
	over sync.WaitGroup
}

func (l *ledger) start(t *testing.T, name string, key credential.Key) *process {
	p := &process{name: name, hub: &sharedquota.Hub{Store: l, Key: key, Now: time.Now}}
	p.ctx, p.kill = context.WithCancel(t.Context())
	p.over.Go(func() { p.hub.Poll(p.ctx) })
	p.over.Go(func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-p.ctx.Done():
				return
			case <-tick.C:
				l.renew(name, time.Now())
				if err := p.hub.Refresh(p.ctx, l.sharing()); err != nil && p.ctx.Err() == nil {
					t.Error(err)
				}
			}
		}
	})
	return p
}

// run executes a connector and acts as its runner: it passes on the quota messages and reads the rest.
func (p *process) run(t *testing.T, c connectorkit.Connector, id string) {
	stdin, toStdin := io.Pipe()
	fromStdout, stdout := io.Pipe()
	var mu sync.Mutex
	say := func(m protocol.Message) {
		line, err := protocol.AppendLine(nil, m)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = toStdin.Write(line)
	}
	p.over.Go(func() {
		lines, dec := protocol.NewLineReader(fromStdout, 0), protocol.NewDecoder(protocol.FromConnector)
		say(&protocol.Start{RunID: id, CollectionMode: protocol.Incremental,
			Scope: protocol.Scope{Streams: []protocol.StreamScope{{Name: "log"}}}, Allowances: true})
		var drawing runner.QuotaMember
		for {
			line, err := lines.Next()
			if err != nil {
				break
			}
			m, err := dec.Decode(bytes.Clone(line))
			if err != nil {
				t.Error(err)
				return
			}
			a, ok := m.(*protocol.Allowance)
			if !ok {
				continue
			}
			if a.RequestID == "" {
				drawing.Publish(a.News, a.Learned)
				continue
			}
			share := func(part runner.QuotaShare) *protocol.AllowanceShare {
				return &protocol.AllowanceShare{Sender: a.Sender, Runs: part.Runs, Place: part.Place, Learned: part.Learned,
					News: part.News}
			}
			var part runner.QuotaShare
			drawing, part, err = p.hub.ForRun(store.Lease{RunID: id, Holder: p.name}).Join(p.ctx,
				runner.QuotaClaim{Provider: a.Provider, Account: a.Account}, func(part runner.QuotaShare) {
					go say(share(part))
				})
			if err != nil {
				t.Error(err)
				return
			}
			first := share(part)
			first.RequestID = a.RequestID
			say(first)
		}
	})
	p.over.Go(func() {
		connectorkit.Run(p.ctx, c, connectorkit.Process{Stdin: stdin, Stdout: stdout, Stderr: io.Discard,
			Env: func(string) string { return "" }, Now: time.Now})
		_ = stdout.Close()
		_ = stdin.Close()
	})
}

// outcome is what all runs together got in a second, how many of a thousand requests were refused, and what each
// run got of them.
type outcome struct {
	rate, refused float64
	runs          map[string]int
}

const (
	warm = 90 * time.Second // that does not count
	long = 3 * time.Minute
)

// together lets runs of some processes collect for a while. If one is to die, that is the last.
func together(t *testing.T, runs, processes int, dies bool) (out outcome) {
	synctest.Test(t, func(t *testing.T) {
		key, err := credential.LoadKey(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		l, p := &ledger{}, &provider{rate: 20, burst: 20, tokens: 20, at: time.Now(), from: time.Now().Add(warm),
			passed: map[string]int{}}
		var all []*process
		for i := range processes {
			all = append(all, l.start(t, fmt.Sprint("worker ", i), key))
		}
		for i := range runs {
			id := fmt.Sprint("run ", i)
			all[i%processes].run(t, p.connector(t, id), id)
			time.Sleep(700 * time.Millisecond)
		}
		if dies {
			time.Sleep(warm / 2)
			all[processes-1].kill()
		}
		time.Sleep(time.Until(p.from.Add(long)))
		p.mu.Lock()
		passed := 0
		for _, n := range p.passed {
			passed += n
		}
		out = outcome{float64(passed) / long.Seconds(), 1000 * float64(p.refusals) / float64(passed+p.refusals), p.passed}
		p.mu.Unlock()
		for _, one := range all {
			one.kill()
			one.over.Wait()
		}
	})
	return out
}

// Several runs of one quota together get what a single run gets. They are refused as seldom as
// a run that keeps a pace, and none of them starves, whichever process they are of; a process that dies gives its
// part back.
//
//pdpp:tier unraced
func TestTogetherAsOneAlone(t *testing.T) {
	alone := together(t, 1, 1, false)
	t.Logf("alone: %.2f in a second, %.2f of a thousand refused", alone.rate, alone.refused)
	for _, c := range []struct {
		runs, processes int
		dies            bool
		live            int
	}{{2, 1, false, 2}, {8, 1, false, 8}, {2, 3, false, 2}, {8, 3, false, 8}, {8, 3, true, 6}} {
		t.Run(fmt.Sprintf("%d runs of %d, one dies %t", c.runs, c.processes, c.dies), func(t *testing.T) {
			o := together(t, c.runs, c.processes, c.dies)
			t.Logf("%.2f in a second (%.2f), %.2f of a thousand refused, %v", o.rate, o.rate/alone.rate, o.refused, o.runs)
			if o.rate < 0.9*alone.rate || o.refused > 15 || len(o.runs) != c.live {
				t.Errorf("%d runs got %.2f in a second, %.2f of a thousand refused", len(o.runs), o.rate, o.refused)
			}
			for id, n := range o.runs {
				if part := o.rate * long.Seconds() / float64(c.live); float64(n) < part/2 {
					t.Errorf("%s got %d, and its part is %.0f", id, n, part)
				}
			}
		})
	}
}
