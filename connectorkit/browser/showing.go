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

// showing is a page that the owner acts on: a tab, the windows it opens, and the channel on
// which they are seen. A nil one shows nothing.
type showing struct {
	b       *Browser
	root    *tab
	address string // where it began
	cancel  context.CancelFunc
	screen  *screen // nil when nobody can look on
	work    sync.WaitGroup
}

// show opens the page where the owner signs in, or the one that is walled off, and lets it
// be seen.
func (d *realDesk) show(ctx context.Context, walled bool) (func(), error) {
	b := (*Browser)(d)
	address := b.site.SignIn
	if address == "" || walled {
		address = b.pages.home.String()
	}
	limited, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	t, err := b.tabs.open(limited)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s := &showing{b: b, root: t, address: address, cancel: stop}
	if b.surface != nil {
		s.screen = newScreen(b.surface, b.tabs, t, b.process)
	}
	b.mu.Lock()
	b.seeing = s
	b.mu.Unlock()
	away := sync.OnceFunc(s.away)
	if s.screen != nil { // otherwise nobody would answer a dialog
		if err := t.attend(limited); err != nil {
			away()
			return nil, err
		}
	}
	// What the owner asked to see comes as a click of theirs would; repetitions keep the pace.
	if err := t.load(limited, address); err != nil {
		if err := b.paced(limited, func(ctx context.Context) error { return t.load(ctx, address) }); err != nil {
			away()
			return nil, err
		}
	}
	before, err := b.mark(limited, walled) // as it was before anybody could act
	if err != nil {
		away()
		return nil, err
	}
	t.interactive(limited)
	if s.screen != nil {
		s.work.Go(func() { s.screen.run(running) })
	}
	s.work.Go(func() { s.settle(running, before, walled) })
	return away, nil
}

// away ends what the owner sees and closes the page with its windows.
func (s *showing) away() {
	s.cancel()
	s.b.mu.Lock()
	s.b.seeing = nil
	s.b.mu.Unlock()
	s.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), metadataLimit)
	defer cancel()
	for {
		t, _ := s.b.tabs.newest(s.root.id)
		if t == nil {
			return
		}
		if t.close(ctx) != nil {
			return // it is gone, or ends with the browser
		}
		s.b.tabs.drop(t.s.id)
	}
}

// current is the page that is seen.
func (s *showing) current() *tab {
	if t, _ := s.b.tabs.newest(s.root.id); t != nil {
		return t
	}
	return s.root
}

func (s *showing) blocked(host string) {
	if s != nil && s.screen != nil {
		s.screen.tellBlocked(host)
	}
}

// mark is a text that changes with the session's cookies.
func (b *Browser) mark(ctx context.Context, walled bool) (string, error) {
	all, err := cookies(ctx, b.process)
	if err != nil {
		return "", err
	}
	pattern := b.site.Cookie
	if walled {
		pattern = "" // what a wall sets has its own name
	}
	return sessionMark(all, b.pages.home.Hostname(), pattern), nil
}

// settle watches the session's cookies and, when they change, asks the site once. A session
// that is alive then is told to whoever shows the page, so that nobody has to say so.
func (s *showing) settle(ctx context.Context, before string, walled bool) {
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
		now, err := s.b.mark(limited, walled)
		cancel()
		if err != nil || now == before || time.Since(last) < probeEvery {
			continue
		}
		before, last = now, time.Now()
		state, err := s.b.site.Probe(ctx, s.b.page)
		if err != nil {
			continue // the question is open: the owner says when it is done
		}
		if live, ok := state.(Live); ok && live.Account != "" {
			if s.screen != nil {
				s.screen.send(surface.Settled{})
			}
			return
		}
	}
}
