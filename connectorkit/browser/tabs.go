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
)

// tabs are the pages of a browser. Every page is held until the guard watches it, whoever
// opened it.
type tabs struct {
	p     *process
	guard *guard

	mu      sync.Mutex
	byID    map[target.ID]*tab
	order   []*tab // as they came
	changed chan struct{}
}

func only(kind string) target.Filter {
	filter := make(target.Filter, 2)
	filter[0].Type = kind
	filter[1].Exclude = true
	return filter
}

// adopt begins to take in the pages that there are and that come.
func (p *process) adopt(ctx context.Context, g *guard) (*tabs, error) {
	ts := &tabs{p: p, guard: g, byID: map[target.ID]*tab{}, changed: make(chan struct{})}
	joined, _ := p.browser.Subscribe(target.AttachedToTarget.Method) // both end with the browser
	left, _ := p.browser.Subscribe(target.DetachedFromTarget.Method)
	go ts.follow(joined, left)
	flat := true
	_, err := cdp.Call(ctx, p.browser, target.SetAutoAttach, target.SetAutoAttachParams{
		AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: &flat, Filter: only("page"),
	})
	if err != nil {
		return nil, fmt.Errorf("take in the browser's pages: %w", err)
	}
	return ts, nil
}

func (ts *tabs) follow(joined, left <-chan jsontext.Value) {
	for joined != nil || left != nil {
		select {
		case raw, ok := <-joined:
			if !ok {
				joined = nil
				continue
			}
			var e target.EventAttachedToTarget
			if decode(raw, &e) == nil && e.TargetInfo != nil {
				go ts.take(&e)
			}
		case raw, ok := <-left:
			if !ok {
				left = nil
				continue
			}
			var e target.EventDetachedFromTarget
			if decode(raw, &e) == nil {
				ts.drop(e.SessionID)
			}
		}
	}
}

// take makes a tab of a page that was attached, and lets it go on.
func (ts *tabs) take(e *target.EventAttachedToTarget) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	t := &tab{p: ts.p, id: e.TargetInfo.TargetID, opener: e.TargetInfo.OpenerID, s: ts.p.conn.attached(e.SessionID, e.TargetInfo.TargetID)}
	ts.mu.Lock()
	o := ts.byID[t.opener]
	ts.mu.Unlock()
	if o != nil {
		t.moved(o.at())
	}
	if o != nil && o.attended() {
		t.attendHeld()
	}
	if ts.hold(ctx, t, t.s) != nil {
		return // it is gone already
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.byID[t.id] = t
	ts.order = append(ts.order, t)
	close(ts.changed)
	ts.changed = make(chan struct{})
}

// hold puts a session of a page under the guard, frames in processes of their own included,
// and lets it go on.
func (ts *tabs) hold(ctx context.Context, t *tab, s *session) error {
	frames, _ := s.Subscribe(target.AttachedToTarget.Method) // it ends with the page
	go func() {
		for raw := range frames {
			var e target.EventAttachedToTarget
			if decode(raw, &e) == nil {
				go func() {
					ctx, cancel := context.WithTimeout(context.Background(), startLimit)
					defer cancel()
					_ = ts.hold(ctx, t, ts.p.conn.attached(e.SessionID, t.id)) // a frame that is gone needs none
				}()
			}
		}
	}()
	if err := ts.guard.watch(ctx, s, t); err != nil {
		return err
	}
	flat := true
	_, err := cdp.Call(ctx, s, target.SetAutoAttach, target.SetAutoAttachParams{
		AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: &flat, Filter: only("iframe"),
	})
	if err != nil {
		return err
	}
	_, err = cdp.Call(ctx, s, runtime.RunIfWaitingForDebugger, cdp.Empty{})
	return err
}

func (ts *tabs) drop(id target.SessionID) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for i, t := range ts.order {
		if t.s.id == id {
			ts.order = slices.Delete(ts.order, i, i+1)
			delete(ts.byID, t.id)
			close(ts.changed)
			ts.changed = make(chan struct{})
			return
		}
	}
}

// wait gives the first tab that f accepts, as soon as there is one.
func (ts *tabs) wait(ctx context.Context, f func(*tab) bool) (*tab, error) {
	for {
		ts.mu.Lock()
		i := slices.IndexFunc(ts.order, f)
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
			return nil, errLost
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// newest gives the youngest page that descends from the one named, itself included, and a
// channel that is closed when that may be another one.
func (ts *tabs) newest(root target.ID) (*tab, <-chan struct{}) {
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

// first gives the page with which the browser started.
func (ts *tabs) first(ctx context.Context) (*tab, error) {
	return ts.wait(ctx, func(*tab) bool { return true })
}

// open makes a page.
func (ts *tabs) open(ctx context.Context) (*tab, error) {
	made, err := cdp.Call(ctx, ts.p.browser, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		return nil, fmt.Errorf("open a page: %w", err)
	}
	return ts.wait(ctx, func(t *tab) bool { return t.id == made.TargetID })
}
