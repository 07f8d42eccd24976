package browser

import (
	"context"
	"io"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/browser/internal/devtools"
	"github.com/pdpp-go/pdpp/protocol/surface"
)

// placeInterval is how often the page's address is checked while it is shown.
const placeInterval = 500 * time.Millisecond

// inFlight is how many pictures are on their way at most. One way to the owner and back takes
// about 90 ms on two cores: with fewer, a page that moves is seen in less than 25 pictures a
// second; with more, a slow line shows what is long past.
const inFlight = 3

// screenTimeout bounds a command that a screen waits for.
const screenTimeout = 2 * time.Second

// surfaceChannel is this end of the surface channel. The other end may have stopped reading.
type surfaceChannel interface {
	io.ReadWriter
	SetWriteDeadline(time.Time) error
}

// pageScreen shows a page and its windows on the surface channel, and hands the owner's acts to
// the one that is seen. Pictures flow one by one: the next is sent when the last was seen.
// Nothing of them is kept.
type pageScreen struct {
	channel surfaceChannel
	tabs    *tabList
	root    *tab
	process *process
	hand    *inputHandler

	out chan surface.PageMessage // to the channel, in order

	mu      sync.Mutex
	view    *surface.View // how the owner looks; nil for not at all
	place   surface.Place
	seq     uint32
	waiting map[uint32]int64 // pictures that were sent: their number at the browser
	dialogs int
}

func newPageScreen(c surfaceChannel, ts *tabList, root *tab, p *process) *pageScreen {
	return &pageScreen{
		channel: c, tabs: ts, root: root, process: p, hand: newInputHandler(),
		out: make(chan surface.PageMessage, 16), waiting: map[uint32]int64{},
	}
}

// run serves the channel until ctx ends. A broken channel ends only the pictures: the question stays open.
func (s *pageScreen) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	defer work.Wait()
	defer context.AfterFunc(ctx, func() { _ = s.channel.SetWriteDeadline(time.Now().Add(screenTimeout)) })()
	arriving := make(chan surface.PageMessage)
	work.Go(func() {
		defer cancel()
		s.write(ctx)
	})
	go func() { // it ends with the channel, which outlives this showing
		defer cancel()
		s.read(ctx, arriving)
	}()
	s.send(surface.Ready{})
	for ctx.Err() == nil {
		t, changed := s.tabs.newestOf(s.root.id)
		if t == nil {
			break
		}
		s.watch(ctx, t, changed, arriving)
	}
	_ = s.channel.SetWriteDeadline(time.Now().Add(screenTimeout))
	s.sendClosed(surface.Closed{Reason: "the page is not shown any more"})
}

// send queues a message, and drops it when the other end does not read.
func (s *pageScreen) send(m surface.PageMessage) {
	select {
	case s.out <- m:
	case <-time.After(screenTimeout):
	}
}

// sendClosed is the last message of a showing.
func (s *pageScreen) sendClosed(m surface.PageMessage) { _ = surface.Send(s.channel, m) } // the viewer may be gone

func (s *pageScreen) write(ctx context.Context) {
	for {
		select {
		case m := <-s.out:
			if surface.Send(s.channel, m) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *pageScreen) read(ctx context.Context, arriving chan<- surface.PageMessage) {
	frames := surface.NewReader(s.channel)
	for {
		f, err := frames.Next()
		if err != nil {
			return
		}
		m, err := surface.ParseFrame(f)
		if err != nil {
			return
		}
		select {
		case arriving <- m:
		case <-ctx.Done():
			return
		}
	}
}

// watch shows one tab until another one is the newest.
func (s *pageScreen) watch(ctx context.Context, t *tab, changed <-chan struct{}, arriving <-chan surface.PageMessage) {
	pictures, endPictures := t.s.Subscribe(page.ScreencastFrame.Method)
	defer endPictures()
	moved, endMoved := s.process.browser.Subscribe(target.TargetInfoChanged.Method)
	defer endMoved()
	if !s.bringToFront(ctx, t) {
		select { // the tab is closing, or it is slow
		case <-changed:
		case <-time.After(screenTimeout):
		case <-ctx.Done():
		}
		return
	}
	defer s.stopScreencast(t)
	asks := t.dialogs()
	tick := time.NewTicker(placeInterval) // a title that a script changes is no event
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if s.watchedNow() {
				s.refreshPlace(ctx, t)
			}
		case raw, ok := <-pictures:
			if !ok {
				pictures = nil
				continue
			}
			s.sendPicture(t, raw)
		case raw, ok := <-asks:
			if !ok {
				asks = nil
				continue
			}
			s.showDialog(t, raw)
		case raw, ok := <-moved:
			if !ok {
				return
			}
			var e target.EventTargetInfoChanged
			if devtools.Decode(raw, &e) == nil && e.TargetInfo != nil && e.TargetInfo.TargetID == t.id {
				s.refreshPlace(ctx, t)
			}
		case m := <-arriving:
			s.handleMessage(ctx, t, m)
		case <-changed:
			next, again := s.tabs.newestOf(s.root.id)
			if next != t {
				return
			}
			changed = again
		case <-ctx.Done():
			return
		}
	}
}

func (s *pageScreen) watchedNow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view != nil && !s.view.Paused
}

// bringToFront brings a tab before the owner, in the size of their view.
func (s *pageScreen) bringToFront(ctx context.Context, t *tab) bool {
	limited, cancel := context.WithTimeout(ctx, screenTimeout)
	defer cancel()
	if t.followDialogs(limited) != nil {
		return false
	}
	t.s.Post(page.BringToFront.Method, cdp.Empty{})
	t.s.Post(emulation.SetFocusEmulationEnabled.Method, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	s.refreshPlace(limited, t)
	s.mu.Lock()
	view, dialog := s.view, t.dialog
	s.mu.Unlock()
	if dialog != nil {
		s.send(*dialog)
	}
	s.sendView(t, view)
	return true
}

func (s *pageScreen) stopScreencast(t *tab) {
	t.s.Post(page.StopScreencast.Method, cdp.Empty{})
	s.mu.Lock()
	clear(s.waiting)
	s.mu.Unlock()
}

// sendView begins, changes or ends the pictures of a tab.
func (s *pageScreen) sendView(t *tab, v *surface.View) {
	s.mu.Lock()
	clear(s.waiting)
	s.mu.Unlock()
	t.s.Post(page.StopScreencast.Method, cdp.Empty{}) // a running screencast sends no picture of an unchanged page
	if v == nil || v.Paused {
		return
	}
	t.s.Post(emulation.SetDeviceMetricsOverride.Method, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(v.Width), Height: int64(v.Height), DeviceScaleFactor: v.Scale,
	})
	quality := int64(v.Quality)
	t.s.Post(page.StartScreencast.Method, page.StartScreencastParams{
		Format: page.StartScreencastFormatJpeg, Quality: &quality, EveryNthFrame: 1, MaxFramesInFlight: inFlight,
		MaxWidth: int64(math.Ceil(float64(v.Width) * v.Scale)), MaxHeight: int64(math.Ceil(float64(v.Height) * v.Scale)),
	})
}

func (s *pageScreen) sendPicture(t *tab, raw jsontext.Value) {
	var e page.EventScreencastFrame
	if devtools.Decode(raw, &e) != nil || e.Metadata == nil {
		return
	}
	s.mu.Lock()
	view := s.view
	s.seq++
	seq := s.seq
	s.waiting[seq] = e.SessionID
	s.mu.Unlock()
	if view == nil {
		return
	}
	p := surface.Picture{Seq: seq, Width: int(e.Metadata.DeviceWidth), Height: int(e.Metadata.DeviceHeight),
		Scale: view.Scale, JPEG: e.Data}
	if _, err := surface.Encode(p); err != nil { // a picture that is out of bounds is left out
		s.acknowledge(t, seq)
		return
	}
	s.send(p)
}

// acknowledge lets the browser make the next picture.
func (s *pageScreen) acknowledge(t *tab, seq uint32) {
	s.mu.Lock()
	n, ok := s.waiting[seq]
	delete(s.waiting, seq)
	s.mu.Unlock()
	if ok {
		t.s.Post(page.ScreencastFrameAck.Method, page.ScreencastFrameAckParams{SessionID: n})
	}
}

// handleMessage performs a message of the owner's side.
func (s *pageScreen) handleMessage(ctx context.Context, t *tab, m surface.PageMessage) {
	switch m := m.(type) {
	case surface.View:
		s.mu.Lock()
		s.view = &m
		place, dialog := s.place, t.dialog
		s.mu.Unlock()
		s.send(place)
		if dialog != nil {
			s.send(*dialog)
		}
		s.sendView(t, &m)
	case surface.Seen:
		s.acknowledge(t, m.Seq)
	case surface.Input:
		s.mu.Lock()
		dialog := t.dialog != nil
		s.mu.Unlock()
		if list, open := s.hand.apply(ctx, t, m, dialog); open {
			s.send(list)
		}
	case surface.Choose:
		s.choose(ctx, t, m)
	case surface.End:
		s.mu.Lock()
		s.view = nil
		s.mu.Unlock()
		s.sendView(t, nil)
	}
}

func (s *pageScreen) choose(ctx context.Context, t *tab, c surface.Choose) {
	s.mu.Lock()
	dialog := t.dialog
	s.mu.Unlock()
	if dialog != nil && dialog.ID == c.ID {
		t.s.Post(page.HandleJavaScriptDialog.Method, page.HandleJavaScriptDialogParams{Accept: c.Accept, PromptText: c.Value})
		return
	}
	s.hand.choose(ctx, t, c)
}

// showDialog passes a dialog of the page on, or its end, which has no type.
func (s *pageScreen) showDialog(t *tab, raw jsontext.Value) {
	var e page.EventJavascriptDialogOpening
	if devtools.Decode(raw, &e) != nil {
		return
	}
	if e.Type == "" {
		s.dialogShown(t)
		return
	}
	s.mu.Lock()
	s.dialogs++
	d := surface.Dialog{ID: "dialog-" + strconv.Itoa(s.dialogs), Kind: string(e.Type), Message: truncateText(e.Message),
		Default: truncateText(e.DefaultPrompt)}
	t.dialog = &d
	s.mu.Unlock()
	s.send(d)
}

func (s *pageScreen) dialogShown(t *tab) {
	s.mu.Lock()
	d := t.dialog
	t.dialog = nil
	s.mu.Unlock()
	if d != nil {
		s.send(surface.Dialog{ID: d.ID})
	}
}

// refreshPlace sends the current address of the page: an event may be outdated.
func (s *pageScreen) refreshPlace(ctx context.Context, t *tab) {
	limited, cancel := context.WithTimeout(ctx, screenTimeout)
	defer cancel()
	got, err := cdp.Call(limited, s.process.browser, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: t.id})
	if err == nil && got.TargetInfo != nil {
		s.showPlace(got.TargetInfo)
	}
}

func (s *pageScreen) showPlace(info *target.Info) {
	place := surface.Place{Title: truncateText(pageTitle(info.Title, info.URL))}
	if u, err := siteOrigin(info.URL); err == nil {
		place.Origin = truncateText(u.Scheme + "://" + u.Host)
	}
	s.mu.Lock()
	same := s.place == place
	s.place = place
	s.mu.Unlock()
	if !same {
		s.send(place)
	}
}

// showBlocked shows the host of a document that was not loaded.
func (s *pageScreen) showBlocked(host string) {
	s.mu.Lock()
	s.place.Blocked = truncateText(host)
	place := s.place
	s.mu.Unlock()
	s.send(place)
}

// truncateText keeps a page's text within the channel's bound.
func truncateText(text string) string {
	if len(text) <= surface.MaxText {
		return text
	}
	text = text[:surface.MaxText]
	for len(text) > 0 && text[len(text)-1]&0xC0 == 0x80 {
		text = text[:len(text)-1]
	}
	return text[:max(0, len(text)-1)]
}
