package surface

import (
	"io"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// over is why there is nothing more to see.
type over string

const (
	overSettled over = "settled" // the owner is signed in, and the run goes on
	overClosed  over = "closed"  // the run shows its page no longer
	overIdle    over = "idle"    // nobody used it
	overGone    over = "gone"    // the channel ended; another may come
)

// outgoing is how many frames wait for a connector that is slow to take them. Beyond it
// those who send wait as well.
const outgoing = 64

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
	kept    map[surface.Kind]surface.Frame // the newest of those that describe the page
	has     *viewer                        // that sees and acts
	viewers map[*viewer]struct{}
	shown   surface.View  // as pictures were last asked for
	unseen  *surface.Seen // the picture that nobody has acknowledged
	paused  bool
	pause   *time.Timer
	expire  *time.Timer
}

func newPage(h *Hub, runID string, conn io.ReadWriteCloser) *page {
	return &page{
		hub: h, runID: runID, conn: conn, out: make(chan surface.Frame, outgoing), gone: make(chan struct{}),
		kept: map[surface.Kind]surface.Frame{}, viewers: map[*viewer]struct{}{},
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
func (p *page) read() over {
	from := surface.NewReader(p.conn)
	for {
		f, err := from.Next()
		if err != nil {
			return overGone
		}
		m, err := surface.Parse(f)
		if err != nil {
			return overGone
		}
		p.take(f, m)
	}
}

func (p *page) take(f surface.Frame, m surface.Message) {
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
		go p.hub.answer(p.runID, true)
	case surface.Closed:
		p.close(overClosed)
	}
}

// begin lets the page be seen. Its time without anybody runs from now.
func (p *page) begin() {
	p.mu.Lock()
	if p.ended || p.ready {
		p.mu.Unlock()
		return
	}
	p.ready, p.paused = true, false
	p.expire = time.AfterFunc(endAfter, p.expired)
	p.mu.Unlock()
	p.hub.ring()
}

// close ends what is shown. The run may show something again.
func (p *page) close(why over) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closeLocked(why)
}

func (p *page) closeLocked(why over) {
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
func (p *page) end(why over) {
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

// expired ends a page that nobody used for too long.
func (p *page) expired() {
	p.mu.Lock()
	if !p.ready {
		p.mu.Unlock()
		return
	}
	p.closeLocked(overIdle)
	p.mu.Unlock()
	p.hub.answer(p.runID, false)
}

// idle stops the pictures for somebody who does nothing.
func (p *page) idle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ready || p.has == nil || p.paused {
		return
	}
	p.paused = true
	p.has.tell(note{State: statePaused})
	if view := p.shown; view.Width > 0 {
		view.Paused = true
		p.offer(view)
	}
}

// touch notes that somebody is there.
func (p *page) touch() {
	p.expire.Reset(endAfter)
	if p.pause == nil {
		p.pause = time.AfterFunc(pauseAfter, p.idle)
	} else {
		p.pause.Reset(pauseAfter)
	}
}

// join lets a viewer see the page: all of it if nobody else does. False when the page is over.
func (p *page) join(v *viewer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ready {
		return false
	}
	p.viewers[v] = struct{}{}
	if p.has == nil {
		p.give(v)
	} else {
		v.tell(note{State: stateElsewhere})
	}
	return true
}

// give makes a viewer the one who sees and acts.
func (p *page) give(v *viewer) {
	if p.has == v {
		return
	}
	if p.has != nil {
		p.has.forget()
		p.has.tell(note{State: stateElsewhere})
	}
	p.has = v
	p.paused = false
	p.touch()
	p.begins(v)
	for _, kind := range []surface.Kind{surface.KindPlace, surface.KindChoices, surface.KindDialog} {
		if f, ok := p.kept[kind]; ok {
			v.frame(f)
		}
	}
}

// begins tells a viewer that it has the page, and asks for its pictures.
func (p *page) begins(v *viewer) {
	v.tell(note{State: stateLive, Question: v.asked.Question, Until: v.asked.Until})
	if view, ok := v.wants(); ok {
		p.show(view)
	}
}

// show asks for pictures, of which none is outstanding then.
func (p *page) show(view surface.View) {
	if p.unseen != nil {
		p.offer(*p.unseen)
		p.unseen = nil
	}
	p.shown = view
	p.offer(view)
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
		p.offer(surface.End{})
	}
	for other := range p.viewers {
		other.tell(note{State: stateFree})
	}
}

// offer hands the connector what it can do without, when it is too slow to take more.
func (p *page) offer(m surface.Message) {
	f, err := surface.Encode(m)
	if err != nil {
		return // of our own making, and within bounds
	}
	select {
	case p.out <- f:
	default:
	}
}
