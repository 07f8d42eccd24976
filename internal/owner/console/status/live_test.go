package status

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// reader is a browser that keeps what it got.
type reader struct {
	mu     sync.Mutex
	header http.Header
	got    strings.Builder
}

func (r *reader) Header() http.Header { return r.header }
func (r *reader) WriteHeader(int)     {}
func (r *reader) Flush()              {}
func (r *reader) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got.Write(b)
}

// take returns the events since the last call, without heartbeats.
func (r *reader) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for e := range strings.SplitSeq(r.got.String(), "\n\n") {
		if e != "" && !strings.HasPrefix(e, "event: beat") && !strings.HasPrefix(e, "retry:") {
			out = append(out, e)
		}
	}
	r.got.Reset()
	return out
}

func (r *reader) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got.String()
}

// listen opens the events of an address in the background.
func listen(ctx context.Context, h http.Handler, path string) (*reader, <-chan struct{}) {
	w := &reader{header: http.Header{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", path, nil))
	}()
	return w, done
}

func text1(id, words string) part {
	p, err := render(context.Background(), id, templ.Raw(`<p id="`+id+`">`+words+`</p>`))
	if err != nil {
		panic(err)
	}
	return p
}

// shared is a value that a test changes while the hub reads it.
type shared[T any] struct {
	mu    sync.Mutex
	value T
}

func (s *shared[T]) get() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

func (s *shared[T]) set(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value = v
}

// Two hundred open pages cost one look a second, and each gets only what changed.
func TestOneLookServesEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Now: time.Now})
		var looks atomic.Int64
		word := &shared[string]{value: "one"}
		look := func(context.Context) (pieces, error) {
			looks.Add(1)
			return pieces{text1("a", word.get()), text1("b", "still")}, nil
		}
		now, _ := look(t.Context())
		looks.Store(0)
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.stream(w, r, "board", look) })
		ctx, cancel := context.WithCancel(t.Context())
		var readers []*reader
		var ends []<-chan struct{}
		for range 200 {
			r, done := listen(ctx, h, "/sources/events?seen="+now.digest())
			readers, ends = append(readers, r), append(ends, done)
		}
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		if looks.Load() > 6 {
			t.Errorf("%d looks in five seconds", looks.Load())
		}
		for _, r := range readers {
			if got := r.take(); len(got) != 0 {
				t.Fatalf("nothing changed, and %v was sent", got)
			}
		}
		word.set("two")
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		for _, r := range readers {
			if got := r.take(); len(got) != 1 || got[0] != "event: part\ndata: <p id=\"a\">two</p>" {
				t.Fatalf("sent %q", got)
			}
		}
		late, done := listen(ctx, h, "/sources/events?seen="+now.digest())
		synctest.Wait()
		if got := late.take(); len(got) != 2 {
			t.Errorf("a page from before the change got %q", got)
		}
		cancel()
		for _, done := range append(ends, done) {
			<-done
		}
		synctest.Wait()
		before := looks.Load()
		time.Sleep(time.Minute)
		synctest.Wait()
		if looks.Load() > before+1 {
			t.Errorf("nobody looks, and the hub made %d rounds", looks.Load()-before)
		}
	})
}

// A slow look makes the rounds rarer: never more than a twentieth of the time.
func TestRoundsLeaveTheMachineAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Now: time.Now})
		var looks atomic.Int64
		look := func(context.Context) (pieces, error) {
			looks.Add(1)
			time.Sleep(500 * time.Millisecond)
			return pieces{text1("a", "x")}, nil
		}
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.stream(w, r, "slow", look) })
		ctx, cancel := context.WithCancel(t.Context())
		_, done := listen(ctx, h, "/sources/events")
		time.Sleep(104 * time.Second)
		cancel()
		<-done
		if looks.Load() != 10 {
			t.Errorf("%d looks of half a second in 104 seconds, want 10", looks.Load())
		}
		time.Sleep(time.Minute) // the hub stops without subscribers
	})
}

// Events end with the session, with the server and with what they are about; signs
// of life come every ten seconds.
func TestEventsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ending, signedIn, failure := make(chan struct{}), &shared[bool]{value: true}, &shared[error]{}
		p := New(Config{Now: time.Now, Ending: ending, SignedIn: func(*http.Request) bool { return signedIn.get() }})
		look := func(context.Context) (pieces, error) { return pieces{text1("a", "x")}, failure.get() }
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.stream(w, r, r.URL.Path, look) })
		r, done := listen(t.Context(), h, "/one")
		time.Sleep(35 * time.Second)
		synctest.Wait()
		if n := strings.Count(r.all(), "event: beat"); n != 4 {
			t.Errorf("%d signs of life in 35 seconds", n)
		}
		signedIn.set(false)
		<-done
		if !strings.HasSuffix(r.all(), "event: goto\ndata: /login\n\n") {
			t.Errorf("the end of a session is told as %q", r.all())
		}
		signedIn.set(true)
		_, done = listen(t.Context(), h, "/two")
		close(ending)
		<-done
		p.ending = nil
		failure.set(errOver)
		r, done = listen(t.Context(), h, "/three")
		<-done
		if got := r.all(); !strings.HasSuffix(got, "event: over\ndata: 1\n\n") || !strings.Contains(got, `<p id="a">`) {
			t.Errorf("the last events are %q", got)
		}
		failure.set(api.NotFound("It is gone.", ""))
		_, done = listen(t.Context(), h, "/four")
		<-done
		time.Sleep(time.Minute)
	})
}

// leaving is a browser that is gone after so many writes.
type leaving struct {
	reader
	left int
}

func (l *leaving) Write(b []byte) (int, error) {
	if l.left--; l.left < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(b), nil
}

// A page that left is not written to until the owner signs out.
func TestEventsEndWithTheirReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Now: time.Now, SignedIn: func(*http.Request) bool { return true }})
		look := func(context.Context) (pieces, error) { return pieces{text1("a", "x")}, nil }
		for writes := range 6 {
			began := time.Now()
			ctx, stop := context.WithTimeout(t.Context(), time.Hour)
			p.stream(&leaving{reader{header: http.Header{}}, writes}, httptest.NewRequestWithContext(ctx, "GET", "/one", nil),
				"/one", look)
			if ctx.Err() != nil || writes < 3 && time.Since(began) >= pageBeatInterval {
				t.Errorf("gone after %d writes, it was kept", writes)
			}
			stop()
		}
		time.Sleep(time.Minute) // without subscribers, the rounds end
	})
}

// A failed look leaves the pages unchanged and is logged once.
func TestFailedLookKeepsThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		p := New(Config{Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))})
		failure := &shared[error]{}
		look := func(context.Context) (pieces, error) { return pieces{text1("a", "x")}, failure.get() }
		now, _ := look(t.Context())
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.stream(w, r, "board", look) })
		ctx, cancel := context.WithCancel(t.Context())
		r, done := listen(ctx, h, "/sources/events?seen="+now.digest())
		time.Sleep(1500 * time.Millisecond)
		failure.set(errors.New("the database rests"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := r.take(); len(got) != 0 {
			t.Errorf("sent %q", got)
		}
		cancel()
		<-done
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d lines in the log:\n%s", n, &log)
		}
	})
}

// One changed connection is one event; a connection that changes its group, or a new
// one, brings the groups.
func TestDashboardSendsTheRowThatChanged(t *testing.T) {
	well := plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`)
	other := plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_b"}}`)
	k := newKeeper(well, other)
	p := New(Config{Owner: k, Now: func() time.Time { return noon }})
	before, err := p.lookAtBoard(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids := func(all pieces) (out []string) {
		for _, p := range all {
			out = append(out, p.id)
		}
		return out
	}
	again, _ := p.lookAtBoard(t.Context())
	if got := again.changed(before.keys()); len(got) != 0 || again.digest() != before.digest() {
		t.Errorf("nothing changed, and %v is sent", ids(got))
	}
	k.facts.all[0].Connection.DisplayName = "Renamed"
	after, _ := p.lookAtBoard(t.Context())
	if got := ids(after.changed(before.keys())); fmt.Sprint(got) != "[row-con_a]" && fmt.Sprint(got) != "[groups]" {
		t.Errorf("a new name sends %v", got)
	}
	before = after
	k.facts.all[1] = plant(t, "scheduled-healthy",
		`{"connection": {"connection_id": "con_b"}, "credential": {"status": "rejected", "rejected_at": `+
			`"2026-03-10T11:30:00Z"}}`)
	after, _ = p.lookAtBoard(t.Context())
	if got := ids(after.changed(before.keys())); fmt.Sprint(got) != "[board-head strip groups]" {
		t.Errorf("a connection that needs its owner sends %v", got)
	}
}

func TestEventsCannotBeBroken(t *testing.T) {
	got := string(eventOf("part", "<p>a\r\nevent: part\rdata: b\n\nevent: goto\ndata: /x</p>"))
	for line := range strings.SplitSeq(strings.TrimSuffix(got, "\n\n"), "\n") {
		if line != "event: part" && !strings.HasPrefix(line, "data: ") {
			t.Errorf("a line of its own: %q", line)
		}
	}
	if strings.Count(got, "\n\n") != 1 || strings.Contains(got, "\r") {
		t.Errorf("more than one event: %q", got)
	}
}

// talking is a keeper with a run that reports a message about the whole run.
type talking struct {
	*keeper
	output shared[string]
}

func (k *talking) RunByID(context.Context, string) (api.Run, error) {
	return api.Run{ID: "run_1", ConnectionID: "con_a", DisplayName: "Photobox", Status: "running", StartedAt: noon,
		Message: k.output.get()}, nil
}

func (k *talking) Connection(ctx context.Context, id string) (api.Detail, error) {
	d, err := k.keeper.Connection(ctx, id)
	run, _ := k.RunByID(ctx, "run_1")
	d.ActiveRun = &run
	return d, err
}

// A message about the whole run, such as the number of its connection attempt, appears on the
// run's page and the connection's page. Both pages update it live.
func TestWhatARunSaysIsSeenLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &talking{keeper: newKeeper(plant(t, "scheduled-healthy", `{"connection": {"connection_id": "con_a"}}`))}
		k.output.set("trying to reach api.example.com, attempt 2 of 3")
		h := serve(k)
		for _, path := range []string{"/runs/run_1", "/sources/con_a"} {
			if got := one(t, page(t, h, path), "data-run-message",
				""); got != "Trying to reach api.example.com, attempt 2 of 3" {
				t.Errorf("%s says %q", path, got)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		r, done := listen(ctx, h, "/runs/run_1/events")
		synctest.Wait()
		r.take()
		k.output.set("trying to reach api.example.com, attempt 3 of 3")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := strings.Join(r.take(), " "); !strings.Contains(got, "Trying to reach api.example.com, attempt 3 of 3") {
			t.Errorf("an open page gets %q", got)
		}
		cancel()
		<-done
		time.Sleep(time.Minute) // until the rounds end
	})
}
