package miniflux_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver"
	"github.com/pdpp-go/pdpp/connectorkit/connectortest/realserver/miniflux"
	"github.com/pdpp-go/pdpp/providersim"
)

var shared = realserver.Shared[*miniflux.Server]{}

func TestMain(m *testing.M) { shared.Main(m) }

// theServer is the one server of this package.
func theServer(t testing.TB) *miniflux.Server {
	program, base := miniflux.Program(t), realserver.PostgresAddress(t)
	shared.Start = func(dir string) (*miniflux.Server, func() error, error) { return miniflux.Start(program, base, dir) }
	return shared.Get(t)
}

// person is a reader account. The server's tables show what exists.
type person struct {
	*miniflux.Account
	feeds []int64
	made  int
	ahead atomic.Int64 // how much time has passed at the server, by its own clock
}

// openTestAccount makes a new account with articles in three feeds, which are an hour old.
func openTestAccount(t testing.TB, articles int) (*person, *connectortest.Sim) {
	t.Helper()
	server := theServer(t)
	account, err := server.Open()
	if err != nil {
		t.Fatal(err)
	}
	p := &person{Account: account}
	for _, n := range []int{articles / 2, articles / 4, articles - articles/2 - articles/4} {
		if err := p.subscribe(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Age(time.Hour); err != nil {
		t.Fatal(err)
	}
	gate := providersim.NewGate(providersim.GateOptions{Now: func() time.Time {
		return time.Now().Add(time.Duration(p.ahead.Load()))
	}})
	return p, &connectortest.Sim{Provider: p, Gate: gate, Env: map[string]string{
		"MINIFLUX_URL": realserver.StartFront(t, gate, server.URL, "/v1/{list}"), "MINIFLUX_API_KEY": p.Key,
	}}
}

func (p *person) subscribe(articles int) error {
	id, err := p.Subscribe(p.made, articles)
	p.made += articles
	p.feeds = append(p.feeds, id)
	return err
}

// Truth is what the server's tables hold.
func (p *person) Truth() providersim.Truth {
	all, err := p.Tables(context.Background())
	if err != nil {
		panic(err)
	}
	return realserver.GroundTruth(all)
}

// Mutate changes the account as the person and their feeds do.
//
//	publish N          a feed has N new articles
//	rewrite N          a feed has changed its first N articles
//	read N, star N     what the person does with N entries
//	forget N           N entries are read, and the history is flushed
//	subscribe N        a new feed with N articles
//	unsubscribe        the second feed goes, with its entries
//	rename_feed        the first feed gets another title
func (p *person) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	done := providersim.Mutated{Op: m.Op, Now: time.Now()}
	switch m.Op {
	case "publish":
		return done, p.Publish(p.feeds[0], func(f *miniflux.Feed) {
			for range m.N {
				p.made++
				f.Articles = append(f.Articles, miniflux.Article{Number: p.made})
			}
		})
	case "rewrite":
		return done, p.Publish(p.feeds[0], func(f *miniflux.Feed) {
			for i := range m.N {
				f.Articles[i].Edition++
			}
		})
	case "subscribe":
		return done, p.subscribe(m.N)
	case "unsubscribe":
		gone := p.feeds[1]
		p.feeds = slices.Delete(p.feeds, 1, 2)
		return done, p.Send(http.MethodDelete, fmt.Sprintf("/v1/feeds/%d", gone), nil, nil)
	case "rename_feed":
		p.made++
		return done, p.Send(http.MethodPut, fmt.Sprintf("/v1/feeds/%d", p.feeds[0]),
			map[string]any{"title": fmt.Sprintf("Harbour <%d>", p.made)}, nil)
	}
	ids, err := p.some(m.N)
	if err != nil {
		return done, err
	}
	switch m.Op {
	case "read", "forget":
		err = p.Send(http.MethodPut, "/v1/entries", map[string]any{"entry_ids": ids, "status": "read"}, nil)
	case "star":
		for _, id := range ids {
			if err == nil {
				err = p.Send(http.MethodPut, fmt.Sprintf("/v1/entries/%d/bookmark", id), nil, nil)
			}
		}
	default:
		err = fmt.Errorf("no operation %q", m.Op)
	}
	if m.Op == "forget" && err == nil {
		err = p.Send(http.MethodPut, "/v1/flush-history", nil, nil)
	}
	return done, err
}

// some are N entries, spread over the account.
func (p *person) some(n int) ([]int64, error) {
	var all, out []int64
	for key := range p.Truth()["entries"] {
		id, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	slices.Sort(all)
	for i := range n {
		out = append(out, all[(2*i+1)*len(all)/(2*n)])
	}
	return out, nil
}

// ChangeToken is not what an API key does.
func (*person) ChangeToken(providersim.TokenChange) (providersim.TokenStatus, error) {
	return providersim.TokenStatus{}, nil
}
