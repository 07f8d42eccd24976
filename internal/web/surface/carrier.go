package surface

import (
	"io"
	"sync"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// carrier is a page that is carried to another process. It keeps what describes the page, but no picture, so that a
// new link continues where the last one ended.
type carrier struct {
	runID string
	conn  io.ReadWriteCloser // the connector's
	gone  chan struct{}      // closed at the end

	toPage sync.Mutex // frames to the connector are written one after the other

	mu    sync.Mutex
	open  chan struct{} // closed while there is something to show
	ready bool
	kept  map[surface.FrameKind]surface.Frame
	link  io.ReadWriteCloser // nil without one
}

func newCarrier(runID string, conn io.ReadWriteCloser) *carrier {
	return &carrier{runID: runID, conn: conn, gone: make(chan struct{}), open: make(chan struct{}),
		kept: map[surface.FrameKind]surface.Frame{}}
}

// wanted is closed while the page is to be shown.
func (c *carrier) wanted() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// read takes what the connector shows until the channel ends or breaks.
func (c *carrier) read() {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unlink()
		close(c.gone)
		_ = c.conn.Close()
	}()
	from := surface.NewReader(c.conn)
	for {
		f, err := from.Next()
		if err != nil {
			return
		}
		m, err := surface.ParseFrame(f)
		if err != nil {
			return
		}
		c.handleFrame(f, m)
	}
}

// handleFrame stores what describes the page, and forwards the frame. Without a link there is no viewer, so nothing
// else is lost.
func (c *carrier) handleFrame(f surface.Frame, m surface.PageMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m.(type) {
	case surface.Ready:
		if !c.ready {
			c.ready = true
			close(c.open)
		}
	case surface.Place, surface.Choices, surface.Dialog, surface.Settled:
		c.kept[f.Kind] = f
	}
	if c.link != nil && surface.Write(c.link, f) != nil {
		c.unlink()
	}
	if _, over := m.(surface.Closed); over && c.ready {
		c.ready, c.open = false, make(chan struct{})
		clear(c.kept)
		c.unlink()
	}
}

// unlink ends the link, if there is one.
func (c *carrier) unlink() {
	if c.link != nil {
		_ = c.link.Close()
		c.link = nil
	}
}

// begin makes link the current one and sends it the page's description. It returns false if there is nothing to show
// any more.
func (c *carrier) begin(link io.ReadWriteCloser) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gone:
		return false
	default:
	}
	if !c.ready {
		return false
	}
	frames := []surface.Frame{{Kind: surface.KindReady}}
	for _, kind := range []surface.FrameKind{
		surface.KindPlace, surface.KindChoices, surface.KindDialog, surface.KindSettled,
	} {
		if f, ok := c.kept[kind]; ok {
			frames = append(frames, f)
		}
	}
	for _, f := range frames {
		if surface.Write(link, f) != nil {
			return false
		}
	}
	c.link = link
	return true
}

// carryOver carries frames over a link until it ends. After that the page has no viewer.
func (c *carrier) carryOver(link io.ReadWriteCloser) {
	defer func() { _ = link.Close() }()
	if !c.begin(link) {
		return
	}
	from := surface.NewReader(link)
	for {
		f, err := from.Next()
		if err != nil || !c.forwardToPage(f) {
			break
		}
	}
	c.mu.Lock()
	if c.link == link {
		c.link = nil
	}
	c.mu.Unlock()
	if end, err := surface.Encode(surface.End{}); err == nil {
		c.write(end)
	}
}

// forwardToPage sends the connector a frame from the owner's side. It returns false for a frame that the side must
// not send.
func (c *carrier) forwardToPage(f surface.Frame) bool {
	m, err := surface.ParseFrame(f)
	if err != nil {
		return false
	}
	switch m := m.(type) {
	case surface.View, surface.Seen, surface.Input, surface.End:
	case surface.Choose:
		c.mu.Lock()
		dropAnswered(c.kept, m)
		c.mu.Unlock()
	case nil:
		return true // of a later version
	default:
		return false
	}
	return c.write(f)
}

func (c *carrier) write(f surface.Frame) bool {
	c.toPage.Lock()
	defer c.toPage.Unlock()
	return surface.Write(c.conn, f) == nil
}
