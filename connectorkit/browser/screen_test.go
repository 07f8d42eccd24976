package browser

import (
	"bytes"
	"context"
	"fmt"
	"image/jpeg"
	"net"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/protocol/surface"
)

// owner views a page through the channel as the console does: it acknowledges each picture and stores the messages.
type owner struct {
	t    *testing.T
	conn interface {
		Read([]byte) (int, error)
		Write([]byte) (int, error)
	}

	mu           sync.Mutex
	pageMessages []surface.PageMessage
	last         surface.Picture
	count        int
	unseen       bool
	arrived      chan struct{}
}

func looking(t *testing.T, conn interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
}) *owner {
	o := &owner{t: t, conn: conn, arrived: make(chan struct{})}
	go o.read()
	return o
}

func (o *owner) read() {
	frames := surface.NewReader(o.conn)
	for {
		f, err := frames.Next()
		if err != nil {
			return
		}
		m, err := surface.ParseFrame(f)
		if err != nil {
			o.t.Errorf("a broken frame: %v", err)
			return
		}
		o.mu.Lock()
		p, picture := m.(surface.Picture)
		if picture {
			o.last = p
			o.count++
		} else {
			o.pageMessages = append(o.pageMessages, m)
		}
		unseen := o.unseen
		close(o.arrived)
		o.arrived = make(chan struct{})
		o.mu.Unlock()
		if picture && !unseen {
			o.say(surface.Seen{Seq: p.Seq})
		}
	}
}

func (o *owner) say(messages ...surface.PageMessage) {
	for _, m := range messages {
		if err := surface.Send(o.conn, m); err != nil {
			o.t.Logf("say %T: %v", m, err)
		}
	}
}

// wait returns the first message at or after from that f accepts.
func (o *owner) wait(
	ctx context.Context,
	from int,
	what string,
	f func(surface.PageMessage) bool,
) (surface.PageMessage, int) {
	o.t.Helper()
	m, n := o.heard(ctx, from, f)
	if m == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.t.Errorf("waited in vain for %s: %+v", what, o.pageMessages)
	}
	return m, n
}

// heard is like wait, but returns nil when the context ends.
func (o *owner) heard(ctx context.Context, from int, f func(surface.PageMessage) bool) (surface.PageMessage, int) {
	for {
		o.mu.Lock()
		for i := from; i < len(o.pageMessages); i++ {
			if f(o.pageMessages[i]) {
				m := o.pageMessages[i]
				o.mu.Unlock()
				return m, i + 1
			}
		}
		arrived := o.arrived
		o.mu.Unlock()
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil, from
		}
	}
}

func (o *owner) pictures(ctx context.Context, more int) surface.Picture {
	o.t.Helper()
	o.mu.Lock()
	until := o.count + more
	o.mu.Unlock()
	for {
		o.mu.Lock()
		last, count, arrived := o.last, o.count, o.arrived
		o.mu.Unlock()
		if count >= until {
			return last
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			o.t.Errorf("%d pictures came, wanted %d", count, until)
			return last
		}
	}
}

func click(x, y float64) []surface.PageMessage {
	i := surface.Input{Kind: surface.InputPointer, X: x, Y: y, Button: "left", Clicks: 1}
	down, up := i, i
	down.Action, down.Buttons, up.Action = surface.ActionDown, 1, surface.ActionUp
	return []surface.PageMessage{
		surface.Input{Kind: surface.InputPointer, Action: surface.ActionMove, X: x, Y: y},
		down,
		up,
	}
}

func key(name string) []surface.PageMessage {
	i := surface.Input{Kind: surface.InputKey, Key: name, Code: name}
	down, up := i, i
	down.Action, up.Action = surface.ActionDown, surface.ActionUp
	return []surface.PageMessage{down, up}
}

func isPlace(title string) func(surface.PageMessage) bool {
	return func(m surface.PageMessage) bool {
		p, ok := m.(surface.Place)
		return ok && p.Title == title
	}
}

var viewOfTest = surface.View{Width: 800, Height: 600, Scale: 1, Quality: 60}

// window lets an owner see what a run in the room shows.
func window(t *testing.T, room *protocol.BrowserBinding) *owner {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	room.SurfaceFD = pair[1]
	ours := os.NewFile(uintptr(pair[0]), "worker's end")
	conn, err := net.FileConn(ours)
	must(t, err)
	must(t, ours.Close())
	t.Cleanup(func() { _ = conn.Close() })
	return looking(t, conn)
}

// TestOwnerSignsInByHand: a whole sign-in through the channel, without a word from the owner.
func TestOwnerSignsInByHand(t *testing.T) {
	t.Attr("spec", "RT-13.2")
	web := newSite(t)
	b := roomFor(t, web)
	o := window(t, &b)
	const password = "correct horse 4711"
	var typed string
	web.mux.HandleFunc("POST /typed", func(w http.ResponseWriter, r *http.Request) {
		typed = r.FormValue("password")
		http.SetCookie(w, web.signIn("ada"))
		http.Redirect(w, r, "/home", http.StatusSeeOther)
	})
	web.mux.HandleFunc(
		"GET /hand",
		document("By hand", `<style>body{margin:0}input{position:absolute;left:0;width:300px;height:40px}</style>
		<form method=post action=/typed><input name=account style="top:0">
		<input name=password type=password style="top:60px">
		<button style="position:absolute;top:120px">Go on</button></form>`),
	)
	of := web.known()
	of.SignIn = web.URL + "/hand"
	settled := false
	r := play(t, shelf(of, nil), b, runOptions{answer: func(q *protocol.Interaction) protocol.ResponseStatus {
		if want := `"By hand" at ` + web.URL + "/hand"; !strings.Contains(q.Message, want) {
			t.Errorf("asked %q, want %q in it", q.Message, want)
		}
		ctx := within(t, time.Minute)
		o.wait(ctx, 0, "ready", func(m surface.PageMessage) bool { return m == surface.Ready{} })
		o.say(viewOfTest)
		o.wait(ctx, 0, "the place", func(m surface.PageMessage) bool {
			p, ok := m.(surface.Place)
			return ok && p.Origin == web.URL && p.Title == "By hand"
		})
		p := o.pictures(ctx, 1)
		if img, err := jpeg.DecodeConfig(bytes.NewReader(p.JPEG)); err != nil || p.Width != 800 || p.Height != 600 ||
			img.Width != 800 {
			t.Errorf("a picture of %dx%d, %v, %v", p.Width, p.Height, img, err)
		}
		o.say(click(100, 20)...)
		for _, c := range "ada" {
			o.say(key(string(c))...)
		}
		o.say(key("Tab")...)
		o.say(surface.Input{Kind: surface.InputText, Text: password})
		o.say(key("Enter")...)
		_, n := o.wait(ctx, 0, "settled", func(m surface.PageMessage) bool { return m == surface.Settled{} })
		settled = n > 0
		return protocol.ResponseSuccess
	}})
	if typed != password || !settled || len(r.records) != 3 {
		t.Errorf("typed %q, settled %v, %+v", typed, settled, r)
	}
	o.wait(within(t, 10*time.Second), 0, "the end",
		func(m surface.PageMessage) bool { _, ok := m.(surface.Closed); return ok })
	if strings.Contains(r.stderr, password) || strings.Contains(r.stderr, "page_metadata_timeout") {
		t.Errorf("the log says %s", r.stderr)
	}
}

// TestDialogBeforeAnybodyLooks: a page that asks while it is read waits for the owner's answer,
// and a window that it opened and that asks at once waits for its own.
func TestDialogBeforeAnybodyLooks(t *testing.T) {
	web := newSite(t)
	b := roomFor(t, web)
	o := window(t, &b)
	web.mux.HandleFunc(
		"GET /asks",
		document(
			"Asks",
			`<script>if (confirm('Is it you?')) document.write('<button style="position:fixed;inset:0" `+
				`onclick="window.open(\'/asks/name\')">Go on</button>')</script>`,
		),
	)
	web.mux.HandleFunc("GET /asks/name",
		document("Name", `<script>location = '/asks/in?name=' + prompt('Your name?', 'nobody')</script>`))
	web.mux.HandleFunc("GET /asks/in", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, web.signIn(r.FormValue("name")))
		http.Redirect(w, r, "/home", http.StatusSeeOther)
	})
	of := web.known()
	of.SignIn = web.URL + "/asks"
	r := play(t, shelf(of, nil), b, runOptions{answer: func(*protocol.Interaction) protocol.ResponseStatus {
		ctx := within(t, time.Minute)
		reported, before := 0, ""
		for _, question := range []surface.Dialog{{Kind: surface.DialogConfirm, Message: "Is it you?"},
			{Kind: surface.DialogPrompt, Message: "Your name?", Default: "nobody"}} {
			var m surface.PageMessage
			m, reported = o.wait(ctx, reported, question.Message,
				func(m surface.PageMessage) bool { d, ok := m.(surface.Dialog); return ok && d.Kind != "" })
			got, _ := m.(surface.Dialog)
			id := got.ID
			got.ID = ""
			if got != question || id == before {
				t.Errorf("asked %+v by id %s after %s, want %+v", got, id, before, question)
			}
			before = id
			o.say(surface.Choose{ID: id, Value: "ada", Accept: true})
			_, reported = o.wait(ctx, reported, "its end",
				func(m surface.PageMessage) bool { return m == surface.Dialog{ID: id} })
			if question.Kind == surface.DialogConfirm {
				o.say(viewOfTest)
				o.pictures(ctx, 1)
				o.say(click(100, 100)...)
			}
		}
		o.wait(ctx, reported, "settled", func(m surface.PageMessage) bool { return m == surface.Settled{} })
		return protocol.ResponseSuccess
	}})
	if len(r.records) != 3 {
		t.Errorf("%+v", r)
	}
}

// stage shows a path of the lent browser's site to an owner.
func stage(t *testing.T, b *lent, path string) (*owner, *tab) {
	t.Helper()
	ctx := within(t, time.Minute)
	root, err := b.tabs.openTab(ctx)
	must(t, err)
	must(t, root.load(ctx, b.web.URL+path))
	theirs, ours := net.Pipe()
	running, stop := context.WithCancel(t.Context())
	s := newPageScreen(ours, b.tabs, root, b.process)
	s.hand.limit = time.Minute // a busy machine must not turn a list into a click
	b.guard.onBlocked = s.showBlocked
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.run(running)
	}()
	o := looking(t, theirs)
	t.Cleanup(func() {
		stop()
		<-done
		_ = theirs.Close()
		_ = ours.Close()
		b.guard.onBlocked = func(string) {}
		for n, _ := b.tabs.newestOf(root.id); n != nil; n, _ = b.tabs.newestOf(root.id) {
			_ = n.close(context.Background())
			b.tabs.remove(n.s.ID)
		}
	})
	o.wait(ctx, 0, "ready", func(m surface.PageMessage) bool { return m == surface.Ready{} })
	o.say(viewOfTest)
	o.pictures(ctx, 1)
	return o, root
}

// TestTruncatedText cuts texts at the bound of the channel, between two characters.
func TestTruncatedText(t *testing.T) {
	for _, letter := range []string{"a", "\u00e9", "\u20ac", "\U0001f600"} {
		for extra := range 5 {
			text := strings.Repeat("a", surface.MaxText-extra) + strings.Repeat(letter, 4)
			got := truncateText(text)
			if !strings.HasPrefix(text, got) || !utf8.ValidString(got) || len(got) > surface.MaxText ||
				len(got) < surface.MaxText-len(letter) {
				t.Errorf("%q after %d: %d bytes", letter, surface.MaxText-extra, len(got))
			}
		}
	}
	for _, whole := range []string{"", "\u20ac", strings.Repeat("a", surface.MaxText)} {
		if got := truncateText(whole); got != whole {
			t.Errorf("%d bytes became %d", len(whole), len(got))
		}
	}
}

// TestScreen: lists, dialogs and windows reach the owner, who acts on them.
func TestScreen(t *testing.T) {
	b := lend(t)
	b.web.mux.HandleFunc(
		"GET /s/page",
		document("Page", `<style>body{margin:0} body>*{position:absolute;left:0;width:200px;height:40px}</style>
		<select id=list style="top:0" onchange="document.title='chose '+this.value">
		<option value=a>Ash<option value=b selected>Birch<option value=c disabled>Cedar</select>
		<button style="top:60px" onclick="document.title='said '+confirm('Really?')">Ask</button>
		<button style="top:120px" onclick="window.open('/s/window')">Window</button>
		<a style="top:180px" href="/s/next">Next</a>`),
	)
	b.web.mux.HandleFunc(
		"GET /s/window",
		document(
			"Window",
			`<style>body{margin:0}</style><button style="width:200px;height:100px" onclick="opener.document.title='back'; `+
				`window.close()">Done</button>`,
		),
	)
	b.web.mux.HandleFunc("GET /s/next", document("Next", "next"))
	o, _ := stage(t, b, "/s/page")
	ctx := within(t, time.Minute)

	o.say(click(100, 20)...)
	m, n := o.wait(ctx, 0, "a list", func(m surface.PageMessage) bool { _, ok := m.(surface.Choices); return ok })
	list, _ := m.(surface.Choices)
	want := []surface.Choice{{Label: "Ash", Value: "0"}, {Label: "Birch", Value: "1", Selected: true},
		{Label: "Cedar", Value: "2", Disabled: true}}
	if !slices.Equal(list.Options, want) {
		t.Errorf("the list has %+v", list.Options)
	}
	o.say(surface.Choose{ID: list.ID, Value: "0", Accept: true})
	_, n = o.wait(ctx, n, "the choice", isPlace("chose a"))

	o.say(click(100, 80)...)
	m, n = o.wait(ctx, n, "a dialog", func(m surface.PageMessage) bool {
		d, ok := m.(surface.Dialog)
		return ok &&
			d.Kind != ""
	})
	dialog, _ := m.(surface.Dialog)
	if dialog.Kind != surface.DialogConfirm || dialog.Message != "Really?" {
		t.Errorf("asked %+v", dialog)
	}
	o.say(surface.Choose{ID: dialog.ID, Accept: true})
	_, n = o.wait(ctx, n, "the answer", isPlace("said true"))

	o.say(click(100, 140)...)
	_, n = o.wait(ctx, n, "the window", isPlace("Window"))
	o.say(viewOfTest) // its last picture may have come before its name
	o.pictures(ctx, 1)
	o.say(click(100, 50)...)
	_, n = o.wait(ctx, n, "the page again", isPlace("back"))

	o.say(click(10, 190)...)
	_, n = o.wait(ctx, n, "the next page", isPlace("Next"))
	o.say(surface.Input{Kind: surface.InputBack})
	_, n = o.wait(ctx, n, "the page before", isPlace("back"))
	o.say(surface.Input{Kind: surface.InputReload})
	o.wait(ctx, n, "the page anew", isPlace("Page"))
}

// TestStillPage: whoever looks anew at a page that nothing moves on gets a picture of it.
func TestStillPage(t *testing.T) {
	b := lend(t)
	b.web.mux.HandleFunc("GET /s/still", document("Still", `<h1>Nothing moves</h1>`))
	o, _ := stage(t, b, "/s/still")
	ctx := within(t, time.Minute)
	for range 5 {
		o.say(viewOfTest)
		o.pictures(ctx, 1)
	}
}

// TestPickers: fields whose own windows no picture shows are offered to the owner, and take what they
// choose and nothing that they cannot have.
func TestPickers(t *testing.T) {
	b := lend(t)
	b.web.mux.HandleFunc(
		"GET /s/pickers",
		document("Pickers", `<style>body{margin:0} body>*{position:absolute;left:0;width:200px;height:40px}</style>
		<input type=date style="top:0" value=1984-05-06 min=1900-01-01 max=2020-12-31 
		onchange="document.title='born '+this.value" oninput="this.told=1">
		<input type=color style="top:60px" value="#336699" onchange="document.title='likes '+this.value">
		<input type=time style="top:120px" readonly value=10:00>
		<fieldset disabled style="top:180px;border:0;padding:0"><input type=month style="width:200px;height:40px"></fieldset>
		<label style="top:240px">When <input type=datetime-local step=1 style="position:absolute;left:100px"
		onchange="document.title='at '+this.value"></label>`),
	)
	o, root := stage(t, b, "/s/pickers")
	ctx := within(t, 3*time.Minute)
	announced := 0
	open := func(x, y float64) (c surface.Choices) {
		t.Helper()
		// A browser that is still busy with a page drops what is clicked: then it is clicked again.
		for range 6 {
			o.say(click(x, y)...)
			patient, enough := context.WithTimeout(ctx, 20*time.Second)
			m, n := o.heard(patient, announced, func(m surface.PageMessage) bool { _, ok := m.(surface.Choices); return ok })
			enough()
			if m != nil {
				c, announced = m.(surface.Choices), n
				return c
			}
		}
		t.Errorf("no picker was offered at %v, %v", x, y)
		return c
	}
	choose := func(c surface.Choices, value, title string) {
		t.Helper()
		o.say(surface.Choose{ID: c.ID, Value: value, Accept: true})
		_, announced = o.wait(ctx, announced, title, isPlace(title))
	}
	for _, c := range []struct {
		x, y         float64
		want         surface.Choices
		value, title string
	}{
		{100, 20, surface.Choices{Picker: "date", Value: "1984-05-06", Min: "1900-01-01", Max: "2020-12-31"}, "1991-12-24",
			"born 1991-12-24"},
		{100, 80, surface.Choices{Picker: "color", Value: "#336699"}, "#ff8800", "likes #ff8800"},
		// by its label
		{10, 250, surface.Choices{Picker: "datetime-local", Step: "1"}, "2026-02-03T04:05:06", "at 2026-02-03T04:05:06"},
	} {
		got := open(c.x, c.y)
		id := got.ID
		c.want.ID = id
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("offered %+v, want %+v", got, c.want)
		}
		choose(got, c.value, c.title)
	}
	// What the field cannot have leaves it; so do those that no one may change.
	born := open(100, 20)
	o.say(surface.Choose{ID: born.ID, Value: "tomorrow", Accept: true})
	o.say(click(100, 140)...)
	o.say(click(100, 200)...)
	if again := open(100, 20); again.Value != "1991-12-24" {
		t.Errorf("it is %+v", again)
	}
	var fields []string
	must(t, root.call(ctx, `() => [...document.querySelectorAll("input")].map(e => e.value)`, &fields))
	if want := []string{"1991-12-24", "#ff8800", "10:00", "", "2026-02-03T04:05:06"}; !slices.Equal(fields, want) {
		t.Errorf("the fields are %q, want %q", fields, want)
	}
}

// TestPicturesWaitToBeSeen: an owner who does not keep up is sent a bounded number of pictures.
func TestPicturesWaitToBeSeen(t *testing.T) {
	b := lend(t)
	b.web.mux.HandleFunc(
		"GET /s/moving",
		document(
			"Moving",
			`<h1 id=n>0</h1><script>let i = 0; const step = () => { n.textContent = ++i; requestAnimationFrame(step); }; `+
				`step()</script>`,
		),
	)
	o, root := stage(t, b, "/s/moving")
	ctx := within(t, time.Minute)
	o.pictures(ctx, 5)
	o.mu.Lock()
	o.unseen = true
	before := o.count
	o.mu.Unlock()
	// The page itself states when many more could have come.
	var at int
	for from := -1; from < 0 || at < from+60; {
		must(t, root.call(ctx, `() => +document.querySelector("#n").textContent`, &at))
		if from < 0 {
			from = at
		}
	}
	o.mu.Lock()
	after, last := o.count, o.last.Seq
	o.unseen = false
	o.mu.Unlock()
	if after-before > inFlight {
		t.Errorf("%d pictures came unseen", after-before)
	}
	for seq := last - inFlight; seq <= last; seq++ {
		o.say(surface.Seen{Seq: seq})
	}
	o.pictures(ctx, 3)
	o.say(surface.View{Width: 400, Height: 300, Scale: 2, Quality: 30})
	for p := o.pictures(ctx, 1); p.Width != 400; p = o.pictures(ctx, 1) {
		if ctx.Err() != nil {
			t.Fatal("the view was not followed")
		}
	}
}

// TestActsAreBounded: what comes faster than a person is dropped, and nothing else is.
func TestActsAreBounded(t *testing.T) {
	h := newInputHandler()
	now := time.Unix(1, 0)
	allowed := 0
	for range 1000 {
		if h.allowed(now) {
			allowed++
		}
		now = now.Add(time.Millisecond)
	}
	if allowed != maxActs {
		t.Errorf("%d acts of 1000 within a second", allowed)
	}
	if !h.allowed(now) {
		t.Error("the next second has none")
	}
	h.second, h.acts = time.Now().Add(time.Hour), maxActs
	if choices, opened := h.apply(t.Context(), nil, surface.Input{Kind: surface.InputKey}, false); opened {
		t.Errorf("an act beyond the bound opened %+v", choices)
	}
}

// TestGuardOnThePage: documents of this machine's network are not loaded, whoever sends the
// browser there, and the owner is told.
func TestGuardOnThePage(t *testing.T) {
	b := lend(t)
	inside := newSite(t) // a service of this machine that the run may not reach
	address := strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)
	b.web.mux.HandleFunc("GET /g/redirect",
		func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address+"/home", http.StatusFound) })
	b.web.mux.HandleFunc(
		"GET /g/page",
		document(
			"Guarded",
			fmt.Sprintf(`<style>body{margin:0} body>*{position:absolute;left:0;width:200px;height:40px;display:block}</style>
		<a style="top:0" href="%[1]s/home">Link</a><a style="top:60px" href="/g/redirect">Redirect</a>
		<a style="top:120px" target=_blank href="http://169.254.169.254/latest">Window</a>
		<iframe style="top:180px" src="%[1]s/framed"></iframe>`, address),
		),
	)
	for name, c := range map[string]struct {
		y    float64
		host string
	}{"link": {20, "localhost"}, "redirect": {80, "localhost"}, "window": {140, "169.254.169.254"}} {
		t.Run(name, func(t *testing.T) {
			o, _ := stage(t, b, "/g/page")
			o.say(click(10, c.y)...)
			o.wait(within(t, time.Minute), 0, "the blocked host", func(m surface.PageMessage) bool {
				p, ok := m.(surface.Place)
				return ok && p.Blocked == c.host
			})
		})
	}
	if n := len(inside.log); n > 0 {
		t.Errorf("%d requests got through: %v", n, inside.log)
	}
}
