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
	"github.com/pdpp-go/pdpp/connectorkit/browser/internal/devtools"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// Browser is a running browser with a session that the site has confirmed.
type Browser struct {
	binding  protocol.BrowserBinding
	site     Site
	log      *slog.Logger
	sender   *governhttp.Sender
	process  *process
	tabs     *tabList
	guard    *documentGuard
	pages    *pageTransport
	client   *governhttp.Client
	page     *Page
	captures *captureFolder // nil when diagnostics are off
	surface  *os.File       // nil when the owner cannot see the page

	mu           sync.Mutex
	showingNow   *pageShowing // what the owner sees now; nil for nothing
	sessionSaved time.Time    // when the session was last written down
}

// Open starts the browser of START's binding and confirms its session with the site. The browser ends with the run.
// When the owner is not signed in, a run with an interactive binding shows the page and waits. An error ends the run
// with its code.
func Open(ctx context.Context, s *connectorkit.Setup, site Site) (*Browser, error) {
	raw, offered := s.Binding("browser")
	if !offered {
		return nil, connectorkit.EndRun(s.Key()+"_browser_missing",
			"this run was given no browser; `pdpp doctor` says what is missing on this machine", protocol.ManualActionRequired,
			false)
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
			return nil, connectorkit.EndRun(s.Key()+"_browser_too_old", errTooOld.Error()+"; install a newer one",
				protocol.RetryByRuntime, true)
		}
		return nil, connectorkit.EndRun(s.Key()+"_browser_failed",
			"the browser did not start; `pdpp doctor` says why", protocol.RetryByRuntime, true)
	}
	e := b.newEstablisher(s)
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
		if err := closeOnExec(fd); err != nil {
			return fmt.Errorf("open the surface channel: %w", err)
		}
		b.surface = os.NewFile(uintptr(fd), "surface")
		s.AtEnd(func(context.Context) { _ = b.surface.Close() })
	}
	if dir := b.binding.CaptureDir; dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the folder of diagnostics: %w", err)
		}
		b.captures = &captureFolder{dir: dir}
	}
	p, err := launch(ctx, b.binding)
	if err != nil {
		return err
	}
	b.process = p
	s.AtEnd(b.end)
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return b.prepare(limited, s)
}

func (b *Browser) prepare(ctx context.Context, s *connectorkit.Setup) error {
	_, err := cdp.Call(ctx, b.process.browser, chromium.SetDownloadBehavior,
		chromium.SetDownloadBehaviorParams{Behavior: chromium.SetDownloadBehaviorBehaviorDeny})
	if err != nil {
		return err
	}
	if err := restoreSession(ctx, b.process, b.binding.Home); err != nil {
		return err
	}
	b.guard = newDocumentGuard(b.binding.Hosts, b.binding.Local)
	b.guard.onBlocked = func(host string) {
		b.log.Warn("a document was not loaded", "host", host)
		b.currentShowing().showBlocked(host)
	}
	if b.tabs, err = b.process.attachPages(ctx, b.guard); err != nil {
		return err
	}
	first, err := b.tabs.firstTab(ctx)
	if err != nil {
		return err
	}
	if b.pages, err = newPageTransport(b.site, first, b.tabs.openTab); err != nil {
		return err
	}
	b.pages.ended = errors.Join(governhttp.ErrUnusable, connectorkit.EndRun(s.Key()+"_browser_lost",
		"the browser ended while it was needed; the next run goes on from here", protocol.RetryByRuntime, true))
	b.client, err = s.HTTP(governhttp.Options{BaseURL: b.pages.home.String(), Transport: b.Transport()})
	return err
}

func (b *Browser) newEstablisher(s *connectorkit.Setup) *sessionEstablisher {
	e := &sessionEstablisher{
		key: s.Key(), stall: stallTimeout(s.PartEnv("PDPP_SESSION_ESTABLISH_WATCHDOG_MS")), account: b.binding.Account,
		tag: s.Tag, desk: (*browserDesk)(b), log: s.Log,
	}
	// A scheduled run never waits for a person.
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
	proven := !b.sessionSaved.IsZero()
	b.mu.Unlock()
	if proven {
		limited, cancel := context.WithTimeout(ctx, time.Second/2)
		if err := saveSession(limited, b.process, b.binding.Home); err != nil && !errors.Is(err, devtools.ErrLost) {
			b.log.Warn("the session was not written down again", "cause", err)
		}
		cancel()
	}
	b.process.end(ctx)
}

// governed makes something that loads from the site pass the run's governor.
func (b *Browser) governed(ctx context.Context, send func(context.Context) error) error {
	return b.sender.Do(ctx, func(ctx context.Context) (governor.Outcome, error) {
		err := send(ctx)
		var n *navigationError
		switch {
		case err == nil:
			return governor.Outcome{}, nil // loading a document is no evidence of the API's pace
		case errors.As(err, &n) && n.blockedByGuard(), errors.Is(err, devtools.ErrLost):
			return governor.Outcome{Kind: governor.Rejected}, err
		default:
			return governor.Outcome{Kind: governor.Failed}, err
		}
	})
}

// Transport carries requests as the site's own page would send them.
func (b *Browser) Transport() http.RoundTripper { return (*savingTransport)(b) }

// Page is the page that belongs to the connector.
func (b *Browser) Page() *Page { return b.page }

// savingTransport is the transport that also writes a session down that is used for long: sites
// renew their cookies.
type savingTransport Browser

func (k *savingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := k.pages.RoundTrip(req)
	b := (*Browser)(k)
	b.mu.Lock()
	due := err == nil && !b.sessionSaved.IsZero() && time.Since(b.sessionSaved) >= saveInterval
	if due {
		b.sessionSaved = time.Now()
	}
	b.mu.Unlock()
	if due {
		if err := saveSession(req.Context(), b.process, b.binding.Home); err != nil {
			b.log.Warn("the session was not written down", "cause", err)
		}
	}
	return resp, err
}

func (b *Browser) currentShowing() *pageShowing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.showingNow
}

// browserDesk is a browser as establishing a session needs it.
type browserDesk Browser

// probe asks the connector's own probe. A wall that its request met is one, whatever it made
// of the answer.
func (d *browserDesk) probe(ctx context.Context) (SessionState, error) {
	d.page.walled.Store(false)
	state, err := d.site.Probe(ctx, d.page)
	if _, live := state.(Live); !live && d.page.walled.Load() {
		return Walled{}, nil
	}
	return state, err
}

// noSession reports that the browser has no session cookie, so that no one can be signed in.
func (d *browserDesk) noSession(ctx context.Context) bool {
	if d.site.Cookie == "" {
		return false
	}
	mark, err := (*Browser)(d).sessionState(ctx, false)
	return err == nil && mark == ""
}

func (d *browserDesk) place(ctx context.Context) pagePlace {
	b := (*Browser)(d)
	t, known := b.visibleTab()
	return pageMetadata(ctx, t, known, b.log)
}

// visibleTab is the page that is looked at, and what was known about it when it was opened.
func (b *Browser) visibleTab() (*tab, pagePlace) {
	if s := b.currentShowing(); s != nil {
		return s.currentTab(), pagePlace{address: bareAddress(s.address)}
	}
	b.pages.mu.Lock()
	defer b.pages.mu.Unlock()
	return b.pages.tab, pagePlace{address: bareAddress(b.pages.quiet)}
}

func (d *browserDesk) capture(ctx context.Context, label string, at time.Time) error {
	if d.captures == nil {
		return nil
	}
	b := (*Browser)(d)
	t, known := b.visibleTab()
	o := outlinePage(ctx, t, pageMetadata(ctx, t, known, b.log), label, at)
	return d.captures.write(o)
}

func (d *browserDesk) keep(ctx context.Context, account string) error {
	if err := saveSession(ctx, d.process, d.binding.Home); err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(d.binding.Home, accountFile), []byte(account)); err != nil {
		return fmt.Errorf("keep the account's tag: %w", err)
	}
	b := (*Browser)(d)
	b.mu.Lock()
	b.sessionSaved = time.Now()
	b.mu.Unlock()
	return nil
}
