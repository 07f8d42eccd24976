package browser

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/browser/internal/devtools"
)

// tabList is the list of a browser's pages. Every new page is paused until the guard checks its documents. The
// goroutines of the list belong to the connection, which joins them when the browser ends.
type tabList struct {
	p     *process
	guard *documentGuard

	mu      sync.Mutex
	byID    map[target.ID]*tab
	order   []*tab // in the order in which they were attached
	changed chan struct{}
}

func targetFilter(kind string) target.Filter {
	filter := make(target.Filter, 2)
	filter[0].Type = kind
	filter[1].Exclude = true
	return filter
}

// attachPages attaches to the existing pages and to every later one.
func (p *process) attachPages(ctx context.Context, g *documentGuard) (*tabList, error) {
	ts := &tabList{p: p, guard: g, byID: map[target.ID]*tab{}, changed: make(chan struct{})}
	attached, _ := p.browser.Subscribe(target.AttachedToTarget.Method) // both end with the browser
	detached, _ := p.browser.Subscribe(target.DetachedFromTarget.Method)
	p.conn.Go(func(context.Context) { ts.follow(attached, detached) })
	if err := autoAttach(ctx, p.browser, "page"); err != nil {
		return nil, fmt.Errorf("attach to the browser's pages: %w", err)
	}
	return ts, nil
}

// autoAttach makes the browser attach to every target of a kind and pause it.
func autoAttach(ctx context.Context, s *devtools.Session, kind string) error {
	flat := true
	_, err := cdp.Call(ctx, s, target.SetAutoAttach, target.SetAutoAttachParams{
		AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: &flat, Filter: targetFilter(kind),
	})
	return err
}

// follow adds and removes pages until the browser ends.
func (ts *tabList) follow(attached, detached <-chan jsontext.Value) {
	for attached != nil || detached != nil {
		select {
		case raw, ok := <-attached:
			if !ok {
				attached = nil
				continue
			}
			var e target.EventAttachedToTarget
			if devtools.Decode(raw, &e) == nil && e.TargetInfo != nil {
				ts.p.conn.Go(func(ctx context.Context) { ts.addPage(ctx, &e) })
			}
		case raw, ok := <-detached:
			if !ok {
				detached = nil
				continue
			}
			var e target.EventDetachedFromTarget
			if devtools.Decode(raw, &e) == nil {
				ts.remove(e.SessionID)
			}
		}
	}
}

// addPage adds an attached page to the list and resumes it.
func (ts *tabList) addPage(ctx context.Context, e *target.EventAttachedToTarget) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	info := e.TargetInfo
	t := &tab{p: ts.p, id: info.TargetID, opener: info.OpenerID, s: ts.p.conn.Attach(e.SessionID, info.TargetID)}
	ts.mu.Lock()
	opener := ts.byID[t.opener]
	ts.mu.Unlock()
	if opener != nil {
		t.setHost(opener.currentHost())
		if opener.followsDialogs() {
			t.followDialogsPaused()
		}
	}
	if ts.guardSession(ctx, t, t.s) != nil {
		return // the page is gone already
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.byID[t.id] = t
	ts.order = append(ts.order, t)
	ts.notifyChanged()
}

// notifyChanged wakes those that wait for another page. The caller holds the lock.
func (ts *tabList) notifyChanged() {
	close(ts.changed)
	ts.changed = make(chan struct{})
}

// guardSession puts a session of a page under the guard and resumes it. It does the same for frames that run in
// processes of their own.
func (ts *tabList) guardSession(ctx context.Context, t *tab, s *devtools.Session) error {
	frames, _ := s.Subscribe(target.AttachedToTarget.Method) // ends with the page
	ts.p.conn.Go(func(context.Context) {
		for raw := range frames {
			var e target.EventAttachedToTarget
			if devtools.Decode(raw, &e) != nil {
				continue
			}
			ts.p.conn.Go(func(ctx context.Context) {
				ctx, cancel := context.WithTimeout(ctx, startTimeout)
				defer cancel()
				_ = ts.guardSession(ctx, t, ts.p.conn.Attach(e.SessionID, t.id)) // a closed frame needs no guard
			})
		}
	})
	if err := ts.guard.watch(ctx, s, t); err != nil {
		return err
	}
	if err := autoAttach(ctx, s, "iframe"); err != nil {
		return err
	}
	_, err := cdp.Call(ctx, s, runtime.RunIfWaitingForDebugger, cdp.Empty{})
	return err
}

func (ts *tabList) remove(id target.SessionID) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for i, t := range ts.order {
		if t.s.ID == id {
			ts.order = slices.Delete(ts.order, i, i+1)
			delete(ts.byID, t.id)
			ts.notifyChanged()
			return
		}
	}
}

// waitForTab returns the first tab that accept reports true for, and waits until one exists.
func (ts *tabList) waitForTab(ctx context.Context, accept func(*tab) bool) (*tab, error) {
	for {
		ts.mu.Lock()
		i := slices.IndexFunc(ts.order, accept)
		var found *tab
		if i >= 0 {
			found = ts.order[i]
		}
		changed := ts.changed
		ts.mu.Unlock()
		if found != nil {
			return found, nil
		}
		select {
		case <-changed:
		case <-ts.p.lost():
			return nil, devtools.ErrLost
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// newestOf returns the newest page that the page root has opened, directly or indirectly, or root itself. The channel
// is closed when the result may differ.
func (ts *tabList) newestOf(root target.ID) (*tab, <-chan struct{}) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	family := map[target.ID]bool{root: true}
	var last *tab
	for _, t := range ts.order {
		if family[t.id] || family[t.opener] {
			family[t.id] = true
			last = t
		}
	}
	return last, ts.changed
}

// firstTab returns the page with which the browser started.
func (ts *tabList) firstTab(ctx context.Context) (*tab, error) {
	return ts.waitForTab(ctx, func(*tab) bool { return true })
}

// openTab opens a new page.
func (ts *tabList) openTab(ctx context.Context) (*tab, error) {
	created, err := cdp.Call(ctx, ts.p.browser, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		return nil, fmt.Errorf("open a page: %w", err)
	}
	return ts.waitForTab(ctx, func(t *tab) bool { return t.id == created.TargetID })
}
