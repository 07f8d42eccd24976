package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/browser/internal/devtools"
	"github.com/pdpp-go/pdpp/protocol/surface"
)

// worldName is what our part of a page is called. A page cannot see into it.
const worldName = "pdpp"

// tab is one page of the browser and the conversation with it. No domain of it is enabled
// that a site could notice; Page is, where the owner is shown it.
type tab struct {
	p      *process
	id     target.ID
	opener target.ID
	s      *devtools.Session

	mu    sync.Mutex
	host  string
	empty string // address that shows an empty document without a request
	world int64  // execution context of our isolated world; zero when there is none

	asks <-chan jsontext.Value // its dialogs, opened and closed; nil before it is attended

	dialog *surface.Dialog // the one that waits for an answer; guarded by the screen's mutex
}

// at is the host of the page's document; empty before the first one.
func (t *tab) currentHost() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.host
}

// loadEmpty goes to an address of a site without a request: its document is an empty text of that origin.
func (t *tab) loadEmpty(ctx context.Context, address string) error {
	t.mu.Lock()
	t.empty = address
	t.mu.Unlock()
	return t.load(ctx, address)
}

// isEmptyAt reports whether the address shows the empty document of loadEmpty.
func (t *tab) isEmptyAt(address string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.empty != "" && t.empty == address
}

func (t *tab) setHost(host string) {
	t.mu.Lock()
	t.host = host
	t.mu.Unlock()
}

// followDialogs queues the dialogs of the page from now on, for a viewer that may come later. Do not call it for a
// page that is not shown, because its dialogs would stay open. It is not safe for concurrent use.
func (t *tab) followDialogs(ctx context.Context) error {
	if t.followsDialogs() {
		return nil // to ask again would wait for a dialog that is open
	}
	asks, stop := t.subscribeDialogs()
	if _, err := cdp.Call(ctx, t.s, page.Enable, page.EnableParams{}); err != nil {
		stop()
		return err
	}
	t.mu.Lock()
	t.asks = asks
	t.mu.Unlock()
	return nil
}

// attendHeld does the same for a page that is held: it may answer only once it goes on.
func (t *tab) followDialogsPaused() {
	asks, _ := t.subscribeDialogs()
	t.mu.Lock()
	t.asks = asks
	t.mu.Unlock()
	t.s.Post(page.Enable.Method, page.EnableParams{})
}

// subscribeDialogs returns the dialog events of the page until it ends. A page may close one dialog and open the next
// at once: the events keep that order.
func (t *tab) subscribeDialogs() (<-chan jsontext.Value, func()) {
	return t.s.SubscribeAll(page.JavascriptDialogOpening.Method, page.JavascriptDialogClosed.Method)
}

func (t *tab) followsDialogs() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asks != nil
}

func (t *tab) dialogs() <-chan jsontext.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asks
}

// close closes the page.
func (t *tab) close(ctx context.Context) error {
	_, err := cdp.Call(ctx, t.p.browser, target.CloseTarget, target.CloseTargetParams{TargetID: t.id})
	return err
}

// alive reports whether the page can still be controlled.
func (t *tab) alive() bool {
	return t.p.conn.Attached(t.s.ID)
}

// crashed reports whether the page's process has crashed.
func (t *tab) crashed() bool {
	return t.p.conn.Crashed(t.id)
}

// navigationError is a document that could not be loaded, with Chromium's own word for it.
type navigationError struct{ reason string }

func (n *navigationError) Error() string { return "load the page: " + n.reason }

// blockedByGuard reports whether the guard rejected the document, which is no evidence about the site.
func (n *navigationError) blockedByGuard() bool {
	return n.reason == "net::ERR_BLOCKED_BY_CLIENT" || n.reason == "net::ERR_ABORTED"
}

// load goes to the address and returns when its document has begun.
func (t *tab) load(ctx context.Context, address string) error {
	t.forgetIsolatedWorld()
	got, err := cdp.Call(ctx, t.s, page.Navigate, page.NavigateParams{URL: address})
	if err != nil {
		return err
	}
	if got.ErrorText != "" {
		return &navigationError{got.ErrorText}
	}
	return nil
}

// awaitDocument waits shortly for the document to be parsed, which sets its title. A page that hangs or opens a dialog
// ends the wait.
func (t *tab) awaitDocument(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	asks, stop := t.s.Subscribe(page.JavascriptDialogOpening.Method)
	defer stop()
	go func() {
		select {
		case <-asks:
			cancel()
		case <-limited.Done():
		}
	}()
	_ = t.call(limited, `() => document.readyState !== "loading" || new Promise(done => `+
		`document.addEventListener("DOMContentLoaded", done))`, nil)
}

// address is where the page is, as the page's own process knows it.
func (t *tab) address(ctx context.Context) (*url.URL, error) {
	tree, err := cdp.Call(ctx, t.s, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return nil, err
	}
	if tree.FrameTree == nil || tree.FrameTree.Frame == nil {
		return nil, devtools.ErrDetached
	}
	return url.Parse(tree.FrameTree.Frame.URL)
}

func (t *tab) forgetIsolatedWorld() {
	t.mu.Lock()
	t.world = 0
	t.mu.Unlock()
}

// isolatedWorld returns the execution context of our isolated world, and creates it when there is none.
func (t *tab) isolatedWorld(ctx context.Context) (int64, error) {
	t.mu.Lock()
	world := t.world
	t.mu.Unlock()
	if world != 0 {
		return world, nil
	}
	tree, err := cdp.Call(ctx, t.s, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return 0, err
	}
	if tree.FrameTree == nil || tree.FrameTree.Frame == nil {
		return 0, devtools.ErrDetached
	}
	made, err := cdp.Call(ctx, t.s, page.CreateIsolatedWorld,
		page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.Frame.ID, WorldName: worldName})
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	t.world = int64(made.ExecutionContextID)
	t.mu.Unlock()
	return int64(made.ExecutionContextID), nil
}

// errScript means that our own function failed in the page.
var errScript = errors.New("a script failed in the page")

// call runs a function of ours in our world of the page and reads what it returns.
func (t *tab) call(ctx context.Context, function string, result any, args ...any) error {
	world, err := t.isolatedWorld(ctx)
	if err != nil {
		return err
	}
	given := make([]*runtime.CallArgument, len(args))
	for i, a := range args {
		text, err := json.Marshal(a)
		if err != nil {
			return fmt.Errorf("encode an argument: %w", err)
		}
		given[i] = &runtime.CallArgument{Value: jsontext.Value(text)}
	}
	yes := true
	id := runtime.ExecutionContextID(world)
	got, err := cdp.Call(ctx, t.s, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: function, ExecutionContextID: id, Arguments: given, ReturnByValue: &yes, AwaitPromise: &yes,
	})
	if err != nil {
		if contextDestroyed(err) {
			t.forgetIsolatedWorld()
		}
		return err
	}
	if got.ExceptionDetails != nil {
		return errScript
	}
	if result == nil || got.Result == nil || len(got.Result.Value) == 0 {
		return nil
	}
	return devtools.Decode(got.Result.Value, result)
}

// contextDestroyed reports whether an error means that the document was replaced during a call.
func contextDestroyed(err error) bool {
	var w *devtools.RemoteError
	if errors.Is(err, devtools.ErrDetached) {
		return true
	}
	if !errors.As(err, &w) {
		return false
	}
	for _, text := range []string{"Cannot find context", "navigated or closed", "context was destroyed",
		"Promise was collected", "Session with given id not found", "uniqueContextId not found"} {
		if strings.Contains(w.Message, text) {
			return true
		}
	}
	return false
}
