package browser

import (
	"context"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

const (
	// cookieEvery is how often the session's cookies are looked at while the owner signs in;
	// that asks the site nothing.
	cookieEvery = 500 * time.Millisecond
	// probeEvery is the least time between two probes for that.
	probeEvery = 2 * time.Second
)

// pageShowing is a page that the owner acts on: a tab, the windows it opens, and the channel on
// which they are seen. A nil one shows nothing.
type pageShowing struct {
	b       *Browser
	root    *tab
	address string // where it began
	cancel  context.CancelFunc
	screen  *pageScreen // nil when the owner cannot see the page
	work    sync.WaitGroup
}

// show opens the page where the owner signs in, or the one that is walled off, and lets it
// be seen.
func (d *browserDesk) show(ctx context.Context, walled bool) (func(), error) {
	b := (*Browser)(d)
	address := b.site.SignIn
	if address == "" || walled {
		address = b.pages.home.String()
	}
	limited, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	t, err := b.tabs.openTab(limited)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &pageShowing{b: b, root: t, address: address, cancel: stop}
	if b.surface != nil {
		s.screen = newPageScreen(b.surface, b.tabs, t, b.process)
	}
	b.mu.Lock()
	b.showingNow = s
	b.mu.Unlock()
	away := sync.OnceFunc(s.hide)
	if s.screen != nil { // without a screen a dialog would stay open
		if err := t.followDialogs(limited); err != nil {
			away()
			return nil, err
		}
	}
	// What the owner asked to see comes as a click of theirs would; repetitions keep the pace.
	if err := t.load(limited, address); err != nil {
		if err := b.governed(limited, func(ctx context.Context) error { return t.load(ctx, address) }); err != nil {
			away()
			return nil, err
		}
	}
	before, err := b.sessionState(limited, walled) // before the owner can act
	if err != nil {
		away()
		return nil, err
	}
	t.awaitDocument(limited)
	if s.screen != nil {
		s.work.Go(func() { s.screen.run(running) })
	}
	s.work.Go(func() { s.awaitSession(running, before, walled) })
	return away, nil
}

// hide ends what the owner sees and closes the page with its windows.
func (s *pageShowing) hide() {
	s.cancel()
	s.b.mu.Lock()
	s.b.showingNow = nil
	s.b.mu.Unlock()
	s.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), metadataLimit)
	defer cancel()
	for {
		t, _ := s.b.tabs.newestOf(s.root.id)
		if t == nil {
			return
		}
		if t.close(ctx) != nil {
			return // it is gone, or ends with the browser
		}
		s.b.tabs.remove(t.s.ID)
	}
}

// currentTab is the page that is seen.
func (s *pageShowing) currentTab() *tab {
	if t, _ := s.b.tabs.newestOf(s.root.id); t != nil {
		return t
	}
	return s.root
}

func (s *pageShowing) showBlocked(host string) {
	if s != nil && s.screen != nil {
		s.screen.showBlocked(host)
	}
}

// sessionState is a text that changes with the session's cookies.
func (b *Browser) sessionState(ctx context.Context, walled bool) (string, error) {
	all, err := browserCookies(ctx, b.process)
	if err != nil {
		return "", err
	}
	pattern := b.site.Cookie
	if walled {
		pattern = "" // what a wall sets has its own name
	}
	return sessionMark(all, b.pages.home.Hostname(), pattern), nil
}

// awaitSession watches the session's cookies and, when they change, probes the site once. It closes the question when
// the session is alive, so that the owner need not confirm it.
func (s *pageShowing) awaitSession(ctx context.Context, before string, walled bool) {
	tick := time.NewTicker(cookieEvery)
	defer tick.Stop()
	var last time.Time
	for {
		select {
		case <-tick.C:
		case <-s.b.process.lost():
			return
		case <-ctx.Done():
			return
		}
		limited, cancel := context.WithTimeout(ctx, metadataLimit)
		now, err := s.b.sessionState(limited, walled)
		cancel()
		if err != nil || now == before || time.Since(last) < probeEvery {
			continue
		}
		before, last = now, time.Now()
		state, err := s.b.site.Probe(ctx, s.b.page)
		if err != nil {
			continue // the question stays open until the owner answers it
		}
		if live, ok := state.(Live); ok && live.Account != "" {
			if s.screen != nil {
				s.screen.send(surface.Settled{})
			}
			return
		}
	}
}
