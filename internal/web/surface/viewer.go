package surface

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// viewerState is the page's state as a viewer sees it.
type viewerState string

const (
	stateOpening   viewerState = "opening"   // there is nothing to see yet
	stateLive      viewerState = "live"      // what follows is the page, and input goes there
	stateElsewhere viewerState = "elsewhere" // another viewer has it
	stateFree      viewerState = "free"      // the other viewer has left
	statePaused    viewerState = "paused"    // no pictures until the viewer asks
	stateLost      viewerState = "lost"      // the way to the page broke; it may come back
	stateOver      viewerState = "over"      // nothing follows
)

// viewerNote is a message to a viewer besides frames.
type viewerNote struct {
	State viewerState `json:"state"`
	// Why is the reason of the end. Question names what a live page belongs to, and Until
	// when it ends at the latest.
	Why      endReason  `json:"why,omitempty"`
	Question string     `json:"question,omitempty"`
	Until    *time.Time `json:"until,omitempty"`
	// Machine is where the page is, when it does not come here.
	Machine string `json:"machine,omitempty"`
}

// applyWish is what a viewer asks for beside frames.
type viewerRequest struct {
	Take bool `json:"take"` // the page, from its current viewer
	Go   bool `json:"go"`   // on, after a pause
}

// longestQueue bounds what waits for a viewer beside the newest picture. One that is
// further behind has stopped reading.
const longestQueue = 256

// viewer is one window in which the page is shown.
type viewer struct {
	asked Asked // what it is shown for; set before it joins a page

	news chan struct{}
	mu   sync.Mutex
	view surface.View   // as it was last asked for
	line []any          // notes and frames, in order
	shot *surface.Frame // the newest picture
	why  endReason      // set when it is over
	done bool
	lost bool // too far behind
}

func newViewer() *viewer { return &viewer{news: make(chan struct{}, 1)} }

func (v *viewer) put(change func()) {
	v.mu.Lock()
	change()
	v.mu.Unlock()
	select {
	case v.news <- struct{}{}:
	default:
	}
}

// wants returns the window's size; false before the window has sent it.
func (v *viewer) wants() (surface.View, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.view, v.view.Width > 0
}

func (v *viewer) tell(n viewerNote)     { v.append(n) }
func (v *viewer) frame(f surface.Frame) { v.append(f) }
func (v *viewer) append(item any) {
	v.put(func() {
		if len(v.line) >= longestQueue {
			v.lost = true
			return
		}
		v.line = append(v.line, item)
	})
}

// picture replaces one that was not sent yet.
func (v *viewer) picture(f surface.Frame) { v.put(func() { v.shot = &f }) }

// dropAnswered drops what another viewer has now.
func (v *viewer) forget() { v.put(func() { v.line, v.shot = nil, nil }) }

func (v *viewer) end(why endReason) { v.put(func() { v.why, v.done = why, true }) }

// resetForReturn prepares a viewer for another channel of its page.
func (v *viewer) resetForReturn() {
	v.put(func() { v.line, v.shot, v.why, v.done = nil, nil, "", false })
}

// pendingItems is what a viewer is to be sent.
type pendingItems struct {
	line []any
	why  endReason
	done bool
	lost bool
}

func (v *viewer) takePending() pendingItems {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := pendingItems{line: v.line, why: v.why, done: v.done, lost: v.lost}
	if v.shot != nil {
		t.line = append(t.line, *v.shot)
	}
	v.line, v.shot = nil, nil
	return t
}

// link is how a window is reached. Its methods end with their context.
type link interface {
	tell(context.Context, viewerNote) error
	send(context.Context, surface.Frame) error
	// receive returns a frame, or a wish if the frame has no kind.
	receive(context.Context) (surface.Frame, viewerRequest, error)
}

var (
	errBehind   = errors.New("the viewer does not read")
	errBadInput = errors.New("the viewer sent what is no input")
)

// Asked is the run under way, and what the owner is to do on its page. Both may be empty.
type Asked struct {
	RunID, Question string
	Until           *time.Time
}
