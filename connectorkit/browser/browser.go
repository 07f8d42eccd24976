package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// Browser is a started browser whose session is proven.
type Browser struct {
	binding  protocol.BrowserBinding
	site     Site
	log      *slog.Logger
	sender   *governhttp.Sender
	process  *process
	tabs     *tabs
	guard    *guard
	pages    *transport
	client   *governhttp.Client
	page     *Page
	captures *captures // nil when diagnostics are off
	surface  *os.File  // nil when nobody can look on

	mu     sync.Mutex
	seeing *showing  // what the owner sees now; nil for nothing
	kept   time.Time // when the session was last written down
}

// Open starts the browser that START's binding names, proves the session and returns; the
// browser ends with the run. When the owner is not signed in, a run that may ask hands the
// page over and waits. An error ends the run with the code that says why.
func Open(ctx context.Context, s *connectorkit.Setup, site Site) (*Browser, error) {
	raw, offered := s.Binding("browser")
	if !offered {
		return nil, connectorkit.End(s.Key()+"_browser_missing",
			"this run was given no browser; `pdpp doctor` says what is missing on this machine", protocol.ManualActionRequired, false)
	}
	binding, err := protocol.ParseBrowserBinding(raw)
	if err != nil {
		return nil, err
	}
	b := &Browser{binding: binding, site: site, log: s.Log, sender: s.Sender("")}
	b.page = &Page{b: b}
	b.sender.Begin() // what a first request waits for passes while the browser starts
	if err := b.start(ctx, s); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s.Log.Error("browser did not start", "cause", err)
		if errors.Is(err, errTooOld) {
			return nil, connectorkit.End(s.Key()+"_browser_too_old", errTooOld.Error()+"; install a newer one",
				protocol.RetryByRuntime, true)
		}
		return nil, connectorkit.End(s.Key()+"_browser_failed",
			"the browser did not start; `pdpp doctor` says why", protocol.RetryByRuntime, true)
	}
	e := b.establishing(s)
	b.page.checkpoint = e.checkpoint
	if err := e.run(ctx); err != nil {
		b.end(context.WithoutCancel(ctx)) // before DONE: a page that hangs is gone when the run is
		return nil, err
	}
	if b.captures != nil && s.PartEnv("PDPP_CAPTURE_FIXTURES") != "1" {
		if err := b.captures.discard(); err != nil {
			b.log.Warn("diagnostics of the sign-in stay", "cause", err)
		}
	}
	return b, nil
}

// start brings the browser up to its first page, with the kept session in it.
func (b *Browser) start(ctx context.Context, s *connectorkit.Setup) error {
	if fd := b.binding.SurfaceFD; fd != 0 {
		if err := own(fd); err != nil {
			return fmt.Errorf("open the surface channel: %w", err)
		}
		b.surface = os.NewFile(uintptr(fd), "surface")
		s.AtEnd(func(context.Context) { _ = b.surface.Close() })
	}
	if dir := b.binding.CaptureDir; dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the folder of diagnostics: %w", err)
		}
		b.captures = &captures{dir: dir}
	}
	p, err := launch(ctx, b.binding)
	if err != nil {
		return err
	}
	b.process = p
	s.AtEnd(b.end)
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return b.furnish(limited, s)
}

func (b *Browser) furnish(ctx context.Context, s *connectorkit.Setup) error {
	_, err := cdp.Call(ctx, b.process.browser, chromium.SetDownloadBehavior, chromium.SetDownloadBehaviorParams{Behavior: chromium.SetDownloadBehaviorBehaviorDeny})
	if err != nil {
		return err
	}
	if err := restoreSession(ctx, b.process, b.binding.Home); err != nil {
		return err
	}
	b.guard = newGuard(b.binding.Hosts, b.binding.Local)
	b.guard.blocked = func(host string) {
		b.log.Warn("a document was not loaded", "host", host)
		b.showing().blocked(host)
	}
	if b.tabs, err = b.process.adopt(ctx, b.guard); err != nil {
		return err
	}
	first, err := b.tabs.first(ctx)
	if err != nil {
		return err
	}
	if b.pages, err = newTransport(b.site, first, b.tabs.open); err != nil {
		return err
	}
	b.pages.ended = errors.Join(governhttp.ErrUnusable, connectorkit.End(s.Key()+"_browser_lost",
		"the browser ended while it was needed; the next run goes on from here", protocol.RetryByRuntime, true))
	b.client, err = s.HTTP(governhttp.Options{BaseURL: b.pages.home.String(), Transport: b.Transport()})
	return err
}

func (b *Browser) establishing(s *connectorkit.Setup) *establishing {
	e := &establishing{
		key: s.Key(), stall: stallOf(s.PartEnv("PDPP_SESSION_ESTABLISH_WATCHDOG_MS")), account: b.binding.Account,
		tag: s.Tag, desk: (*realDesk)(b), log: s.Log,
	}
	// What runs by itself never waits for a person.
	if _, may := s.Binding("interactive"); may && (s.Trigger() == "manual" || s.Trigger() == "") {
		e.ask = func(ctx context.Context, q protocol.Interaction) error {
			_, err := s.Interact(ctx, q)
			return err
		}
	}
	return e
}

// end writes the session down once more, where there was one, and closes the browser.
func (b *Browser) end(ctx context.Context) {
	b.mu.Lock()
	proven := !b.kept.IsZero()
	b.mu.Unlock()
	if proven {
		limited, cancel := context.WithTimeout(ctx, time.Second/2)
		if err := saveSession(limited, b.process, b.binding.Home); err != nil && !errors.Is(err, errLost) {
			b.log.Warn("the session was not written down again", "cause", err)
		}
		cancel()
	}
	b.process.end(ctx)
}

// paced makes something that loads from the site pass the run's governor.
func (b *Browser) paced(ctx context.Context, send func(context.Context) error) error {
	return b.sender.Do(ctx, func(ctx context.Context) (governor.Outcome, error) {
		err := send(ctx)
		var n *navigation
		switch {
		case err == nil:
			return governor.Outcome{}, nil // a document says nothing about the pace of the API
		case errors.As(err, &n) && n.ours(), errors.Is(err, errLost):
			return governor.Outcome{Kind: governor.Rejected}, err
		default:
			return governor.Outcome{Kind: governor.Failed}, err
		}
	})
}

// Transport carries requests as the site's own page would send them.
func (b *Browser) Transport() http.RoundTripper { return (*keeping)(b) }

// Page is the page that belongs to the connector.
func (b *Browser) Page() *Page { return b.page }

// keeping is the transport that also writes a session down that is used for long: sites
// renew their cookies.
type keeping Browser

func (k *keeping) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := k.pages.RoundTrip(req)
	b := (*Browser)(k)
	b.mu.Lock()
	due := err == nil && !b.kept.IsZero() && time.Since(b.kept) >= keepEvery
	if due {
		b.kept = time.Now()
	}
	b.mu.Unlock()
	if due {
		if err := saveSession(req.Context(), b.process, b.binding.Home); err != nil {
			b.log.Warn("the session was not written down", "cause", err)
		}
	}
	return resp, err
}

func (b *Browser) showing() *showing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seeing
}

// realDesk is a browser as establishing a session needs it.
type realDesk Browser

// probe asks the connector's own probe. A wall that its request met is one, whatever it made
// of the answer.
func (d *realDesk) probe(ctx context.Context) (State, error) {
	d.page.walled.Store(false)
	state, err := d.site.Probe(ctx, d.page)
	if _, live := state.(Live); !live && d.page.walled.Load() {
		return Walled{}, nil
	}
	return state, err
}

// blank tells that nobody can be signed in: the browser has no cookie of a session.
func (d *realDesk) blank(ctx context.Context) bool {
	if d.site.Cookie == "" {
		return false
	}
	mark, err := (*Browser)(d).mark(ctx, false)
	return err == nil && mark == ""
}

func (d *realDesk) place(ctx context.Context) place {
	b := (*Browser)(d)
	t, known := b.seen()
	return metadata(ctx, t, known, b.log)
}

// seen is the page that is looked at, and what was known about it when it was opened.
func (b *Browser) seen() (*tab, place) {
	if s := b.showing(); s != nil {
		return s.current(), place{address: bare(s.address)}
	}
	b.pages.mu.Lock()
	defer b.pages.mu.Unlock()
	return b.pages.tab, place{address: bare(b.pages.quiet)}
}

func (d *realDesk) capture(ctx context.Context, label string, at time.Time) error {
	if d.captures == nil {
		return nil
	}
	b := (*Browser)(d)
	t, known := b.seen()
	o := look(ctx, t, metadata(ctx, t, known, b.log), label, at)
	return d.captures.write(o)
}

func (d *realDesk) keep(ctx context.Context, account string) error {
	if err := saveSession(ctx, d.process, d.binding.Home); err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(d.binding.Home, accountFile), []byte(account)); err != nil {
		return fmt.Errorf("keep the account's tag: %w", err)
	}
	b := (*Browser)(d)
	b.mu.Lock()
	b.kept = time.Now()
	b.mu.Unlock()
	return nil
}
