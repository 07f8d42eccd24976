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
	s      *session

	mu    sync.Mutex
	host  string
	empty string // address whose document is not asked for: it stands here without contents
	world int64  // execution context of our isolated world; zero when there is none

	asks <-chan jsontext.Value // its dialogs, opened and closed; nil before it is attended

	dialog *surface.Dialog // the one that waits for an answer; guarded by the screen's mutex
}

// at is the host of the page's document; empty before the first one.
func (t *tab) at() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.host
}

// stand goes to an address of a site without asking the site for anything: its document is
// an empty text, of that origin.
func (t *tab) stand(ctx context.Context, address string) error {
	t.mu.Lock()
	t.empty = address
	t.mu.Unlock()
	return t.load(ctx, address)
}

// standsAt tells whether the address is where the tab stands without a document of the site.
func (t *tab) standsAt(address string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.empty != "" && t.empty == address
}

func (t *tab) moved(host string) {
	t.mu.Lock()
	t.host = host
	t.mu.Unlock()
}

// attend lets no dialog of the page pass unseen from now on: it waits for its answer, and
// dialogs gives it to whoever shows the page, however late they come. A page that nobody is
// shown is not attended, as nobody would answer. It is for one caller at a time.
func (t *tab) attend(ctx context.Context) error {
	if t.attended() {
		return nil // to ask again would wait for a dialog that is open
	}
	asks, stop := t.followDialogs()
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
func (t *tab) attendHeld() {
	asks, _ := t.followDialogs()
	t.mu.Lock()
	t.asks = asks
	t.mu.Unlock()
	t.s.post(page.Enable.Method, page.EnableParams{})
}

// followDialogs gives the dialogs of the page until it ends. A page that asks twice closes the
// first dialog and opens the second at one moment: they come in that order.
func (t *tab) followDialogs() (<-chan jsontext.Value, func()) {
	return t.s.follow(page.JavascriptDialogOpening.Method, page.JavascriptDialogClosed.Method)
}

func (t *tab) attended() bool {
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

// alive tells whether the page can still be spoken with.
func (t *tab) alive() bool {
	t.p.conn.mu.Lock()
	defer t.p.conn.mu.Unlock()
	return !t.p.conn.gone[t.s.id]
}

// crashed tells whether the page's process has gone.
func (t *tab) crashed() bool {
	t.p.conn.mu.Lock()
	defer t.p.conn.mu.Unlock()
	return t.p.conn.broke[t.id]
}

// navigation is a document that could not be loaded, with Chromium's own word for it.
type navigation struct{ reason string }

func (n *navigation) Error() string { return "load the page: " + n.reason }

// ours tells whether the document was refused here, which says nothing about the site.
func (n *navigation) ours() bool {
	return n.reason == "net::ERR_BLOCKED_BY_CLIENT" || n.reason == "net::ERR_ABORTED"
}

// load goes to the address and returns when its document has begun.
func (t *tab) load(ctx context.Context, address string) error {
	t.forgetWorld()
	got, err := cdp.Call(ctx, t.s, page.Navigate, page.NavigateParams{URL: address})
	if err != nil {
		return err
	}
	if got.ErrorText != "" {
		return &navigation{got.ErrorText}
	}
	return nil
}

// interactive waits a moment for a document to be read, which gives it its title. A page
// that hangs is none the less there; one that has opened a dialog reads no further.
func (t *tab) interactive(ctx context.Context) {
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
	_ = t.call(limited, `() => document.readyState !== "loading" || new Promise(done => document.addEventListener("DOMContentLoaded", done))`, nil)
}

// address is where the page is, as the page's own process knows it.
func (t *tab) address(ctx context.Context) (*url.URL, error) {
	tree, err := cdp.Call(ctx, t.s, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return nil, err
	}
	if tree.FrameTree == nil || tree.FrameTree.Frame == nil {
		return nil, errDetached
	}
	return url.Parse(tree.FrameTree.Frame.URL)
}

func (t *tab) forgetWorld() {
	t.mu.Lock()
	t.world = 0
	t.mu.Unlock()
}

// ownWorld gives the execution context of our isolated world and makes it when there is none.
func (t *tab) ownWorld(ctx context.Context) (int64, error) {
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
		return 0, errDetached
	}
	made, err := cdp.Call(ctx, t.s, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.Frame.ID, WorldName: worldName})
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
	world, err := t.ownWorld(ctx)
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
		if worldGone(err) {
			t.forgetWorld()
		}
		return err
	}
	if got.ExceptionDetails != nil {
		return errScript
	}
	if result == nil || got.Result == nil || len(got.Result.Value) == 0 {
		return nil
	}
	return decode(got.Result.Value, result)
}

// worldGone tells whether an error means that the document was replaced under us.
func worldGone(err error) bool {
	var w *wireError
	if errors.Is(err, errDetached) {
		return true
	}
	if !errors.As(err, &w) {
		return false
	}
	for _, text := range []string{"Cannot find context", "navigated or closed", "context was destroyed", "Promise was collected", "Session with given id not found", "uniqueContextId not found"} {
		if strings.Contains(w.Message, text) {
			return true
		}
	}
	return false
}

func decode(raw jsontext.Value, into any) error {
	return json.Unmarshal(raw, into, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}
