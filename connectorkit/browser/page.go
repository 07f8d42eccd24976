package browser

import (
	"context"

	"pdpp/governor/governhttp"
)

// Page is one page of the browser. Each call is bounded by its context and by a limit of its own.
type Page struct{}

// Goto loads the address and waits until its document is there.
func (p *Page) Goto(ctx context.Context, address string) error { return errUnbuilt }

// Fetch sends one request as the site's page would, through the run's governor. Every final
// answer is handed over, whatever its status.
func (p *Page) Fetch(ctx context.Context, r governhttp.Request) (*governhttp.Response, error) {
	return nil, errUnbuilt
}

// WaitFor waits until an element that the selector finds is visible.
func (p *Page) WaitFor(ctx context.Context, selector string) error { return errUnbuilt }

// Text gives the visible text of the first element that the selector finds.
func (p *Page) Text(ctx context.Context, selector string) (string, error) { return "", errUnbuilt }

// Click clicks on the first element that the selector finds.
func (p *Page) Click(ctx context.Context, selector string) error { return errUnbuilt }

// Fill replaces the value of the first field that the selector finds.
func (p *Page) Fill(ctx context.Context, selector, value string) error { return errUnbuilt }

// Download saves what the trigger makes the page download and gives the file's path. The
// file is at most limit bytes and is gone after the run.
func (p *Page) Download(ctx context.Context, limit int64, trigger func(context.Context) error) (string, error) {
	return "", errUnbuilt
}

// Checkpoint says how far the sign-in has come. It resets the watchdog and, when
// diagnostics are on, leaves an outline of the page.
func (p *Page) Checkpoint(ctx context.Context, label string) {}
