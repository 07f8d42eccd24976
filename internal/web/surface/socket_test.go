package surface

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// door serves one hub to all callers, like the console after admitting them.
type door struct {
	*httptest.Server
	hub    *Hub
	out    atomic.Bool
	closed atomic.Bool
	ending chan struct{}
}

func newDoor(t *testing.T, h *Hub) *door {
	d := &door{hub: h, ending: make(chan struct{})}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Serve(w, r, func(*http.Request) bool { return !d.out.Load() },
			func(context.Context) (string, string, *time.Time, error) {
				if d.closed.Load() {
					return "", "", nil, nil
				}
				return "run_1", "q1", nil, nil
			}, d.ending)
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *door) dial(t *testing.T, origin string) (*websocket.Conn, *http.Response, error) {
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	return websocket.Dial(t.Context(), d.URL, &websocket.DialOptions{HTTPHeader: header})
}

// must returns the next message, which must be of the kind.
func must(t *testing.T, conn *websocket.Conn, kind websocket.MessageType) []byte {
	t.Helper()
	got, body, err := conn.Read(t.Context())
	if err != nil || got != kind {
		t.Fatalf("a message of kind %v and %d bytes: %v", got, len(body), err)
	}
	return body
}

func stateOf(t *testing.T, conn *websocket.Conn) viewerNote {
	t.Helper()
	var n viewerNote
	if err := json.Unmarshal(must(t, conn, websocket.MessageText), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOriginsOfOthersAreRefused(t *testing.T) {
	d := newDoor(t, New(t.Context(), Config{Public: "https://pdpp.example"}))
	for origin, want := range map[string]int{
		"":                         http.StatusForbidden, // no browser
		"null":                     http.StatusForbidden,
		"https://elsewhere.test":   http.StatusForbidden,
		"http://pdpp.example":      http.StatusForbidden,
		"https://pdpp.example:444": http.StatusForbidden,
		"https://pdpp.example":     http.StatusSwitchingProtocols,
		d.URL:                      http.StatusSwitchingProtocols,
	} {
		conn, answer, err := d.dial(t, origin)
		if answer == nil || answer.StatusCode != want {
			t.Errorf("from %q: %v, %v", origin, answer, err)
		}
		if conn != nil {
			_ = conn.CloseNow()
		}
	}
}

// A window over a real connection: pictures and input are unchanged, and every end is announced.
func TestSocket(t *testing.T) {
	seen := &meter{}
	h := New(t.Context(), Config{Meter: seen})
	d := newDoor(t, h)
	near, far := net.Pipe()
	h.Attach("run_1", near)
	say := func(m surface.PageMessage) {
		t.Helper()
		if err := surface.Send(far, m); err != nil {
			t.Fatal(err)
		}
	}
	from := surface.NewReader(far)
	hears := func(want surface.PageMessage) {
		t.Helper()
		f, err := from.Next()
		if err != nil {
			t.Fatal(err)
		}
		m, err := surface.ParseFrame(f)
		if err != nil {
			t.Fatal(err)
		}
		differs(t, "the page", want, m)
	}
	say(surface.Ready{})
	conn, _, err := d.dial(t, d.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(surface.MaxPayload)
	if n := stateOf(t, conn); n.State != stateOpening {
		t.Errorf("first %+v", n)
	}
	if n := stateOf(t, conn); n.State != stateLive || n.Question != "q1" {
		t.Errorf("then %+v", n)
	}
	does := func(kind surface.FrameKind, body string) {
		if err := conn.Write(t.Context(), websocket.MessageBinary, append([]byte{byte(kind)}, body...)); err != nil {
			t.Fatal(err)
		}
	}
	does(surface.KindView, `{"width":800,"height":600,"scale":1,"quality":60}`)
	hears(desk)
	big := surface.Picture{Seq: 9, Width: 800, Height: 600, Scale: 1,
		JPEG: append([]byte{0xFF, 0xD8, 0xFF}, make([]byte, 200<<10)...)}
	say(big)
	body := must(t, conn, websocket.MessageBinary)
	m, err := surface.ParseFrame(surface.Frame{Kind: surface.FrameKind(body[0]), Payload: body[1:]})
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "the picture", surface.PageMessage(big), m)
	does(surface.KindSeen, "\x00\x00\x00\x09")
	hears(surface.Seen{Seq: 9})
	does(surface.KindInput, `{"kind":"text","text":"`+strings.Repeat(`\u0041`, surface.MaxText)+`"}`)
	hears(surface.Input{Kind: surface.InputText, Text: strings.Repeat("A", surface.MaxText)})

	d.out.Store(true) // signed out elsewhere
	_, _, err = conn.Read(t.Context())
	if websocket.CloseStatus(err) != statusSignedOut {
		t.Errorf("signed out: %v", err)
	}
	hears(surface.End{})
	if p, b, i := seen.pictures.Load(), seen.bytes.Load(), seen.inputs.Load(); p != 1 || b < 200<<10 || i != 1 ||
		seen.watched.Load() != 1 {
		t.Errorf("counted %d pictures, %d bytes, %d inputs", p, b, i)
	}

	d.out.Store(false)
	second, _, err := d.dial(t, d.URL)
	if err != nil {
		t.Fatal(err)
	}
	stateOf(t, second)
	stateOf(t, second)
	d.closed.Store(true) // cancelled, answered or expired
	if n := stateOf(t, second); n.State != stateOver || n.Why != overClosed {
		t.Errorf("at the end %+v", n)
	}
	if _, _, err = second.Read(t.Context()); websocket.CloseStatus(err) != statusOver {
		t.Errorf("closed: %v", err)
	}
	third, _, err := d.dial(t, d.URL) // a closed question shows nothing
	if err != nil {
		t.Fatal(err)
	}
	if n := stateOf(t, third); n.State != stateOpening {
		t.Errorf("of a closed question %+v", n)
	}
	close(d.ending)
	if _, _, err := third.Read(t.Context()); err == nil {
		t.Error("a server that ends keeps its windows")
	}
}

type meter struct{ pictures, bytes, inputs, watched atomic.Int64 }

func (m *meter) SurfacePicture(n int)         { m.pictures.Add(1); m.bytes.Add(int64(n)) }
func (m *meter) SurfaceInput()                { m.inputs.Add(1) }
func (m *meter) SurfaceWatched(time.Duration) { m.watched.Add(1) }

// Whatever a window sends, the page gets messages that are within their bounds and meant for it.
func FuzzWindow(f *testing.F) {
	f.Add([]byte("\x43"), []byte(`{"kind":"key","action":"down","key":"a"}`))
	f.Add([]byte("\x41"), []byte(`{"width":800,"height":600,"scale":1,"quality":60,"paused":true}`))
	f.Add([]byte("\x42"), []byte("\x00\x00\x00\x01"))
	f.Add([]byte("\x44"), []byte(`{"id":"c1","value":"1","accept":true}`))
	f.Add([]byte("\x06"), []byte(``))
	f.Fuzz(func(t *testing.T, kinds, payload []byte) {
		h := New(t.Context(), Config{Answer: func(context.Context, string,
			bool) error {
			t.Error("a window answered the question")
			return nil
		}})
		near, far := net.Pipe()
		defer far.Close()
		h.Attach("run_1", near)
		if err := surface.Send(far, surface.Ready{}); err != nil {
			t.Fatal(err)
		}
		until(t, "the page is attached", func() bool { return h.pageOf("run_1") != nil })
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			from := surface.NewReader(far)
			for {
				f, err := from.Next()
				if err != nil {
					return
				}
				m, err := surface.ParseFrame(f)
				switch m := m.(type) {
				case surface.View:
					if m.Paused {
						t.Error("a window paused the page")
					}
				case surface.End:
					return
				case surface.Seen, surface.Input, surface.Choose:
				default:
					t.Errorf("the page got %v, %v", f, err)
				}
			}
		}()
		words := make(chan any, len(kinds))
		for _, k := range kinds {
			if k == 0 {
				words <- viewerRequest{Take: true, Go: true}
			} else {
				words <- surface.Frame{Kind: surface.FrameKind(k), Payload: payload}
			}
		}
		close(words)
		w := &window{t: t, words: words}
		_ = h.attend(t.Context(), w, func(context.Context) (Asked, bool) { return Asked{RunID: "run_1"}, true })
		_ = far.SetReadDeadline(time.Now().Add(time.Second))
		<-ended
	})
}

func (h *Hub) pageOf(runID string) *page { p, _ := h.pageToShow(runID); return p }
