package browser

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const (
	// loadLimit bounds a document, stepLimit one step on it.
	loadLimit = 60 * time.Second
	stepLimit = 30 * time.Second
	// lookEvery is how often a page is asked whether something is there.
	lookEvery = 50 * time.Millisecond
)

// Page is one page of the browser. Each call is bounded by its context and by a limit of its own.
type Page struct {
	b          *Browser
	checkpoint func(context.Context, string)
	walled     atomic.Bool // the last probe met the site's wall

	mu  sync.Mutex
	tab *tab // for Goto and what follows; made at the first
}

// Fetch sends one request as the site's page would, through the run's governor. Every final
// answer is handed over, whatever its status.
func (p *Page) Fetch(ctx context.Context, r governhttp.Request) (*governhttp.Response, error) {
	got, err := p.b.client.Do(ctx, r)
	if wall := p.b.site.Wall; got != nil && wall != nil && wall(got) {
		p.walled.Store(true)
	}
	return got, err
}

// Goto loads the address and waits until its document is there. Its host is one that the
// manifest names.
func (p *Page) Goto(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	t, err := p.connectorTab(ctx)
	if err != nil {
		return err
	}
	if err := p.b.governed(ctx, func(ctx context.Context) error { return t.load(ctx, address) }); err != nil {
		return err
	}
	return p.waitForCondition(ctx, t, `() => document.readyState !== "loading"`)
}

func (p *Page) connectorTab(ctx context.Context) (*tab, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tab != nil && p.tab.alive() {
		return p.tab, nil
	}
	t, err := p.b.tabs.openTab(ctx)
	if err != nil {
		return nil, err
	}
	p.tab = t
	return t, t.dismissDialogs(ctx)
}

// dismissDialogs answers the dialogs of a page that is not shown, so that they do not block it.
func (t *tab) dismissDialogs(ctx context.Context) error {
	dialogs, _ := t.s.Subscribe(page.JavascriptDialogOpening.Method) // it ends with the page
	if _, err := cdp.Call(ctx, t.s, page.Enable, page.EnableParams{}); err != nil {
		return err
	}
	go func() {
		for range dialogs {
			t.s.Post(page.HandleJavaScriptDialog.Method, page.HandleJavaScriptDialogParams{Accept: false})
		}
	}()
	return nil
}

// waitForCondition asks the page again and again, documents that replace each other included.
func (p *Page) waitForCondition(ctx context.Context, t *tab, condition string, args ...any) error {
	for {
		var there bool
		err := t.call(ctx, condition, &there, args...)
		switch {
		case err == nil && there:
			return nil
		case err != nil && !contextDestroyed(err):
			return err
		case err != nil && !t.alive():
			return err
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// find and what is done with what was found; visible is what has a size.
const (
	visible = `s => { const e = document.querySelector(s); return !!e && e.getClientRects().length > 0; }`
	textOf  = `s => { const e = document.querySelector(s); return e ? {found: true, text: e.innerText ?? ` +
		`e.textContent ?? ""} : {found: false}; }`
	clickOn = `s => { const e = document.querySelector(s); if (e) e.click(); return {found: !!e}; }`
	fillIn  = `(s, v) => { const e = document.querySelector(s); if (!e) return {found: false}; e.focus(); const ` +
		`own = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), "value"); own?.set ? own.set.call(e, v) : ` +
		`e.value = v; e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", ` +
		`{bubbles: true})); return {found: true}; }`
	maxFoundText = 1 << 20
)

// ErrNotFound means that a page has no such element.
var ErrNotFound = errors.New("the page has no such element")

// WaitFor waits until an element that the selector finds is visible.
func (p *Page) WaitFor(ctx context.Context, selector string) error {
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	t, err := p.connectorTab(ctx)
	if err != nil {
		return err
	}
	return p.waitForCondition(ctx, t, visible, selector)
}

// Text returns the visible text of the first element that matches the selector.
func (p *Page) Text(ctx context.Context, selector string) (string, error) {
	text, err := p.act(ctx, textOf, selector)
	return text[:min(len(text), maxFoundText)], err
}

// Click clicks on the first element that the selector finds.
func (p *Page) Click(ctx context.Context, selector string) error {
	_, err := p.act(ctx, clickOn, selector)
	return err
}

// Fill replaces the value of the first field that the selector finds.
func (p *Page) Fill(ctx context.Context, selector, value string) error {
	_, err := p.act(ctx, fillIn, selector, value)
	return err
}

func (p *Page) act(ctx context.Context, function string, args ...any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	t, err := p.connectorTab(ctx)
	if err != nil {
		return "", err
	}
	var got struct {
		Found bool   `json:"found"`
		Text  string `json:"text"`
	}
	if err := t.call(ctx, function, &got, args...); err != nil {
		return "", err
	}
	if !got.Found {
		return "", fmt.Errorf("%w: %v", ErrNotFound, args[0])
	}
	return got.Text, nil
}

// Checkpoint records the progress of a sign-in. It resets the watchdog and, with diagnostics on, writes an outline of
// the page.
func (p *Page) Checkpoint(ctx context.Context, label string) { p.checkpoint(ctx, label) }
