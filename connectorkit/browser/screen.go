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

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// placeEvery is how often the page's place is looked at while somebody looks on.
const placeEvery = 500 * time.Millisecond

// inFlight is how many pictures are on their way at most. One way to the owner and back takes
// about 90 ms on two cores: with fewer, a page that moves is seen in less than 25 pictures a
// second; with more, a slow line shows what is long past.
const inFlight = 3

// stepOnScreen bounds a command that a screen waits for.
const stepOnScreen = 2 * time.Second

// channel is our end of the surface channel. Whoever is at the other end may have stopped
// reading.
type channel interface {
	io.ReadWriter
	SetWriteDeadline(time.Time) error
}

// screen shows a page and its windows on the surface channel, and hands the owner's acts to
// the one that is seen. Pictures flow one by one: the next is sent when the last was seen.
// Nothing of them is kept.
type screen struct {
	channel channel
	tabs    *tabs
	root    *tab
	process *process
	hand    *hand

	out chan surface.Message // to the channel, in order

	mu      sync.Mutex
	view    *surface.View // how the owner looks; nil for not at all
	place   surface.Place
	seq     uint32
	waiting map[uint32]int64 // pictures that were sent: their number at the browser
	dialogs int
}

func newScreen(c channel, ts *tabs, root *tab, p *process) *screen {
	return &screen{
		channel: c, tabs: ts, root: root, process: p, hand: newHand(),
		out: make(chan surface.Message, 16), waiting: map[uint32]int64{},
	}
}

// run serves the channel until ctx ends. A channel that breaks ends the showing alone: the
// question goes on without pictures.
func (s *screen) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	defer work.Wait()
	defer context.AfterFunc(ctx, func() { _ = s.channel.SetWriteDeadline(time.Now().Add(stepOnScreen)) })()
	said := make(chan surface.Message)
	work.Go(func() {
		defer cancel()
		s.write(ctx)
	})
	go func() { // it ends with the channel, which outlives this showing
		defer cancel()
		s.read(ctx, said)
	}()
	s.send(surface.Ready{})
	for ctx.Err() == nil {
		t, changed := s.tabs.newest(s.root.id)
		if t == nil {
			break
		}
		s.watch(ctx, t, changed, said)
	}
	_ = s.channel.SetWriteDeadline(time.Now().Add(stepOnScreen))
	s.bid(surface.Closed{Reason: "the page is not shown any more"})
}

// send puts a message on its way; one that nobody takes is dropped.
func (s *screen) send(m surface.Message) {
	select {
	case s.out <- m:
	case <-time.After(stepOnScreen):
	}
}

// bid is the last message of a showing.
func (s *screen) bid(m surface.Message) { _ = surface.Send(s.channel, m) } // whoever looked may be gone

func (s *screen) write(ctx context.Context) {
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

func (s *screen) read(ctx context.Context, said chan<- surface.Message) {
	frames := surface.NewReader(s.channel)
	for {
		f, err := frames.Next()
		if err != nil {
			return
		}
		m, err := surface.Parse(f)
		if err != nil {
			return
		}
		select {
		case said <- m:
		case <-ctx.Done():
			return
		}
	}
}

// watch shows one tab until another one is the newest.
func (s *screen) watch(ctx context.Context, t *tab, changed <-chan struct{}, said <-chan surface.Message) {
	pictures, endPictures := t.s.Subscribe(page.ScreencastFrame.Method)
	defer endPictures()
	moved, endMoved := s.process.browser.Subscribe(target.TargetInfoChanged.Method)
	defer endMoved()
	if !s.front(ctx, t) {
		select { // it is going, and the list of tabs says so, or it is slow to come
		case <-changed:
		case <-time.After(stepOnScreen):
		case <-ctx.Done():
		}
		return
	}
	defer s.leave(t)
	asks := t.dialogs()
	tick := time.NewTicker(placeEvery) // a title that a script changes is no event
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if s.watchedNow() {
				s.lookPlace(ctx, t)
			}
		case raw, ok := <-pictures:
			if !ok {
				pictures = nil
				continue
			}
			s.picture(t, raw)
		case raw, ok := <-asks:
			if !ok {
				asks = nil
				continue
			}
			s.ask(t, raw)
		case raw, ok := <-moved:
			if !ok {
				return
			}
			var e target.EventTargetInfoChanged
			if decode(raw, &e) == nil && e.TargetInfo != nil && e.TargetInfo.TargetID == t.id {
				s.lookPlace(ctx, t)
			}
		case m := <-said:
			s.hear(ctx, t, m)
		case <-changed:
			next, again := s.tabs.newest(s.root.id)
			if next != t {
				return
			}
			changed = again
		case <-ctx.Done():
			return
		}
	}
}

func (s *screen) watchedNow() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view != nil && !s.view.Paused
}

// front brings a tab before the owner, in the size of their view.
func (s *screen) front(ctx context.Context, t *tab) bool {
	limited, cancel := context.WithTimeout(ctx, stepOnScreen)
	defer cancel()
	if t.attend(limited) != nil {
		return false
	}
	t.s.post(page.BringToFront.Method, cdp.Empty{})
	t.s.post(emulation.SetFocusEmulationEnabled.Method, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	s.lookPlace(limited, t)
	s.mu.Lock()
	view, dialog := s.view, t.dialog
	s.mu.Unlock()
	if dialog != nil {
		s.send(*dialog)
	}
	s.frame(t, view)
	return true
}

func (s *screen) leave(t *tab) {
	t.s.post(page.StopScreencast.Method, cdp.Empty{})
	s.mu.Lock()
	clear(s.waiting)
	s.mu.Unlock()
}

// frame begins, changes or ends the pictures of a tab.
func (s *screen) frame(t *tab, v *surface.View) {
	s.mu.Lock()
	clear(s.waiting)
	s.mu.Unlock()
	t.s.post(page.StopScreencast.Method, cdp.Empty{}) // one that goes on makes no picture of a page that stands still
	if v == nil || v.Paused {
		return
	}
	t.s.post(emulation.SetDeviceMetricsOverride.Method, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(v.Width), Height: int64(v.Height), DeviceScaleFactor: v.Scale,
	})
	quality := int64(v.Quality)
	t.s.post(page.StartScreencast.Method, page.StartScreencastParams{
		Format: page.StartScreencastFormatJpeg, Quality: &quality, EveryNthFrame: 1, MaxFramesInFlight: inFlight,
		MaxWidth: int64(math.Ceil(float64(v.Width) * v.Scale)), MaxHeight: int64(math.Ceil(float64(v.Height) * v.Scale)),
	})
}

func (s *screen) picture(t *tab, raw jsontext.Value) {
	var e page.EventScreencastFrame
	if decode(raw, &e) != nil || e.Metadata == nil {
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
	p := surface.Picture{Seq: seq, Width: int(e.Metadata.DeviceWidth), Height: int(e.Metadata.DeviceHeight), Scale: view.Scale, JPEG: e.Data}
	if _, err := surface.Encode(p); err != nil { // a picture that is out of bounds is left out
		s.seen(t, seq)
		return
	}
	s.send(p)
}

// seen lets the browser make the next picture.
func (s *screen) seen(t *tab, seq uint32) {
	s.mu.Lock()
	n, ok := s.waiting[seq]
	delete(s.waiting, seq)
	s.mu.Unlock()
	if ok {
		t.s.post(page.ScreencastFrameAck.Method, page.ScreencastFrameAckParams{SessionID: n})
	}
}

// hear does what the owner's side says.
func (s *screen) hear(ctx context.Context, t *tab, m surface.Message) {
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
		s.frame(t, &m)
	case surface.Seen:
		s.seen(t, m.Seq)
	case surface.Input:
		if list, open := s.hand.act(ctx, t, m); open {
			s.send(list)
		}
	case surface.Choose:
		s.choose(ctx, t, m)
	case surface.End:
		s.mu.Lock()
		s.view = nil
		s.mu.Unlock()
		s.frame(t, nil)
	}
}

func (s *screen) choose(ctx context.Context, t *tab, c surface.Choose) {
	s.mu.Lock()
	dialog := t.dialog
	s.mu.Unlock()
	if dialog != nil && dialog.ID == c.ID {
		t.s.post(page.HandleJavaScriptDialog.Method, page.HandleJavaScriptDialogParams{Accept: c.Accept, PromptText: c.Value})
		return
	}
	s.hand.choose(ctx, t, c)
}

// ask passes a dialog of the page on, or its end, which has no type.
func (s *screen) ask(t *tab, raw jsontext.Value) {
	var e page.EventJavascriptDialogOpening
	if decode(raw, &e) != nil {
		return
	}
	if e.Type == "" {
		s.asked(t)
		return
	}
	s.mu.Lock()
	s.dialogs++
	d := surface.Dialog{ID: "dialog-" + strconv.Itoa(s.dialogs), Kind: string(e.Type), Message: cut(e.Message), Default: cut(e.DefaultPrompt)}
	t.dialog = &d
	s.mu.Unlock()
	s.send(d)
}

func (s *screen) asked(t *tab) {
	s.mu.Lock()
	d := t.dialog
	t.dialog = nil
	s.mu.Unlock()
	if d != nil {
		s.send(surface.Dialog{ID: d.ID})
	}
}

// lookPlace tells where the page is now: an event may be about what has passed.
func (s *screen) lookPlace(ctx context.Context, t *tab) {
	limited, cancel := context.WithTimeout(ctx, stepOnScreen)
	defer cancel()
	got, err := cdp.Call(limited, s.process.browser, target.GetTargetInfo, target.GetTargetInfoParams{TargetID: t.id})
	if err == nil && got.TargetInfo != nil {
		s.tellPlace(got.TargetInfo)
	}
}

func (s *screen) tellPlace(info *target.Info) {
	place := surface.Place{Title: cut(titleOf(info.Title, info.URL))}
	if u, err := originOf(info.URL); err == nil {
		place.Origin = cut(u.Scheme + "://" + u.Host)
	}
	s.mu.Lock()
	same := s.place == place
	s.place = place
	s.mu.Unlock()
	if !same {
		s.send(place)
	}
}

// tellBlocked names a host whose document was not loaded.
func (s *screen) tellBlocked(host string) {
	s.mu.Lock()
	s.place.Blocked = cut(host)
	place := s.place
	s.mu.Unlock()
	s.send(place)
}

// cut keeps a page's text within the channel's bound.
func cut(text string) string {
	if len(text) <= surface.MaxText {
		return text
	}
	text = text[:surface.MaxText]
	for len(text) > 0 && text[len(text)-1]&0xC0 == 0x80 {
		text = text[:len(text)-1]
	}
	return text[:max(0, len(text)-1)]
}
