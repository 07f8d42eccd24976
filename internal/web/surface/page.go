package surface

import (
	"io"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// endReason is why there is nothing more to see.
type endReason string

const (
	overSettled endReason = "settled" // the owner is signed in, and the run goes on
	overClosed  endReason = "closed"  // the run shows its page no longer
	overIdle    endReason = "idle"    // no one used it
	overGone    endReason = "gone"    // the channel ended; another may come
)

// outgoingFrames is how many frames wait for a connector that is slow to take them. Beyond it
// those who send wait as well.
const outgoingFrames = 64

// page is what one run shows. One viewer has it; the others see that it is shown elsewhere.
type page struct {
	hub   *Hub
	runID string
	conn  io.ReadWriteCloser
	out   chan surface.Frame
	gone  chan struct{} // closed at the end

	mu      sync.Mutex
	ready   bool
	ended   bool
	kept    map[surface.FrameKind]surface.Frame // the newest of those that describe the page
	has     *viewer                             // that sees and acts
	viewers map[*viewer]struct{}
	shown   surface.View  // as pictures were last asked for
	unseen  *surface.Seen // the picture without an acknowledgement
	paused  bool
	pause   *time.Timer
	expire  *time.Timer
}

func newPage(h *Hub, runID string, conn io.ReadWriteCloser) *page {
	return &page{
		hub: h, runID: runID, conn: conn, out: make(chan surface.Frame, outgoingFrames), gone: make(chan struct{}),
		kept: map[surface.FrameKind]surface.Frame{}, viewers: map[*viewer]struct{}{},
	}
}

func (p *page) open() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ready && !p.ended
}

// write hands frames to the connector, one after the other.
func (p *page) write() {
	for {
		select {
		case <-p.gone:
			return
		case f := <-p.out:
			if surface.Write(p.conn, f) != nil {
				_ = p.conn.Close() // reading ends with it
				return
			}
		}
	}
}

// read takes what the connector shows until the channel ends or breaks.
func (p *page) read() endReason {
	from := surface.NewReader(p.conn)
	for {
		f, err := from.Next()
		if err != nil {
			return overGone
		}
		m, err := surface.ParseFrame(f)
		if err != nil {
			return overGone
		}
		p.handleFrame(f, m)
	}
}

func (p *page) handleFrame(f surface.Frame, m surface.PageMessage) {
	switch m := m.(type) {
	case surface.Ready:
		p.begin()
	case surface.Picture:
		p.mu.Lock()
		p.unseen = &surface.Seen{Seq: m.Seq}
		if p.has != nil && !p.paused {
			p.has.picture(f)
		}
		p.mu.Unlock()
	case surface.Place, surface.Choices, surface.Dialog:
		p.mu.Lock()
		p.kept[f.Kind] = f
		if p.has != nil {
			p.has.frame(f)
		}
		p.mu.Unlock()
	case surface.Settled:
		p.close(overSettled)
		p.hub.tasks.start(func() { p.hub.answer(p.runID, true) })
	case surface.Closed:
		p.close(overClosed)
	}
}

// begin shows the page. Its idle time starts now.
func (p *page) begin() {
	p.mu.Lock()
	if p.ended || p.ready {
		p.mu.Unlock()
		return
	}
	p.ready, p.paused = true, false
	p.expire = time.AfterFunc(endAfter, p.expired)
	p.mu.Unlock()
	p.hub.wakeWaiting()
}

// close ends what is shown. The run may show something again.
func (p *page) close(why endReason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeLocked(why)
}

func (p *page) closeLocked(why endReason) {
	if !p.ready {
		return
	}
	p.ready, p.unseen = false, nil
	clear(p.kept)
	p.stopTimers()
	for v := range p.viewers {
		v.end(why)
	}
	clear(p.viewers)
	p.has, p.shown = nil, surface.View{}
}

func (p *page) stopTimers() {
	if p.pause != nil {
		p.pause.Stop()
	}
	if p.expire != nil {
		p.expire.Stop()
	}
}

// end is the end of the channel.
func (p *page) end(why endReason) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.closeLocked(why)
	p.ended = true
	close(p.gone)
	_ = p.conn.Close()
}

// expired ends a page that was unused for too long.
func (p *page) expired() {
	p.mu.Lock()
	if !p.ready {
		p.mu.Unlock()
		return
	}
	p.closeLocked(overIdle)
	p.mu.Unlock()
	p.hub.tasks.start(func() { p.hub.answer(p.runID, false) })
}

// pausePictures stops the pictures for an inactive viewer.
func (p *page) pausePictures() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ready || p.has == nil || p.paused {
		return
	}
	p.paused = true
	p.has.tell(viewerNote{State: statePaused})
	if view := p.shown; view.Width > 0 {
		view.Paused = true
		p.trySend(view)
	}
}

// resetTimers records activity of the viewer.
func (p *page) resetTimers() {
	p.expire.Reset(endAfter)
	if p.pause == nil {
		p.pause = time.AfterFunc(pauseAfter, p.pausePictures)
	} else {
		p.pause.Reset(pauseAfter)
	}
}

// join adds a viewer. It controls the page if no other viewer does. It returns false if the page is over.
func (p *page) join(v *viewer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ready {
		return false
	}
	p.viewers[v] = struct{}{}
	if p.has == nil {
		p.giveControl(v)
	} else {
		v.tell(viewerNote{State: stateElsewhere})
	}
	return true
}

// forwardToPage lets a viewer see and control the page.
func (p *page) giveControl(v *viewer) {
	if p.has == v {
		return
	}
	if p.has != nil {
		p.has.forget()
		p.has.tell(viewerNote{State: stateElsewhere})
	}
	p.has = v
	p.paused = false
	p.resetTimers()
	p.startViewing(v)
	for _, kind := range []surface.FrameKind{surface.KindPlace, surface.KindChoices, surface.KindDialog} {
		if f, ok := p.kept[kind]; ok {
			v.frame(f)
		}
	}
}

// startViewing notifies a viewer that it controls the page, and requests its pictures.
func (p *page) startViewing(v *viewer) {
	v.tell(viewerNote{State: stateLive, Question: v.asked.Question, Until: v.asked.Until})
	if view, ok := v.wants(); ok {
		p.requestPictures(view)
	}
}

// requestPictures asks for pictures, of which none is outstanding then.
func (p *page) requestPictures(view surface.View) {
	if p.unseen != nil {
		p.trySend(*p.unseen)
		p.unseen = nil
	}
	p.shown = view
	p.trySend(view)
}

// leave takes a viewer away. The longest there of the others is not asked: it takes over
// when it wants to.
func (p *page) leave(v *viewer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.viewers, v)
	if p.has != v {
		return
	}
	p.has, p.shown = nil, surface.View{}
	if p.pause != nil {
		p.pause.Stop()
	}
	if p.ready {
		p.trySend(surface.End{})
	}
	for other := range p.viewers {
		other.tell(viewerNote{State: stateFree})
	}
}

// trySend hands the connector what it can do without, when it is too slow to take more.
func (p *page) trySend(m surface.PageMessage) {
	f, err := surface.Encode(m)
	if err != nil {
		return // of our own making, and within bounds
	}
	select {
	case p.out <- f:
	default:
	}
}
