package surface

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

func differs(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// What the page shows reaches the window, and what the owner does the page, in order. A
// picture is asked for only when the last one was seen.
func TestPageIsShownAndUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(time.Hour)
		a := &world{asked: Asked{RunID: "run_1", Question: "q1", Until: &until}}
		h := New(t.Context(), Config{})
		w := a.open(t, h)
		w.does(desk) // before there is a page
		differs(t, "before", []any{viewerNote{State: stateOpening}}, w.heard())
		c := attach(t, h, "run_1")
		differs(t, "attached", []any(nil), w.heard())
		place := surface.Place{Origin: "https://shop.example", Title: "Sign in"}
		c.say(surface.Ready{}, place)
		differs(t, "shown", []any{viewerNote{State: stateLive, Question: "q1", Until: &until}, place}, w.heard())
		differs(t, "asked of the connector", []surface.PageMessage{desk}, c.heard())
		c.say(shot(1))
		differs(t, "a picture", []any{shot(1)}, w.heard())
		w.does(surface.Seen{Seq: 1}, key("a"), key("b"), surface.Input{Kind: surface.InputText, Text: "word"})
		synctest.Wait()
		differs(
			t,
			"done on the page",
			[]surface.PageMessage{
				surface.Seen{Seq: 1},
				key("a"),
				key("b"),
				surface.Input{Kind: surface.InputText, Text: "word"},
			},
			c.heard(),
		)
		choices := surface.Choices{ID: "c1", Options: []surface.Choice{{Label: "One", Value: "1"}}}
		c.say(choices, surface.Dialog{ID: "d1", Kind: surface.DialogAlert, Message: "hello"})
		differs(t, "a list and a dialog",
			[]any{choices, surface.Dialog{ID: "d1", Kind: surface.DialogAlert, Message: "hello"}}, w.heard())
		w.does(surface.Choose{ID: "c1", Value: "1", Accept: true})
		synctest.Wait()
		w.end()
		<-w.ended
		synctest.Wait()
		differs(t, "at the end", []surface.PageMessage{surface.Choose{ID: "c1", Value: "1", Accept: true}, surface.End{}},
			c.heard())
		again := a.open(t, h)
		differs(t, "whoever comes back",
			[]any{viewerNote{State: stateOpening}, viewerNote{State: stateLive, Question: "q1", Until: &until}, place,
				surface.Dialog{ID: "d1", Kind: surface.DialogAlert, Message: "hello"}}, again.heard())
	})
}

func TestOneViewerHasThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := scene(t)
		first := a.open(t, h)
		first.does(desk)
		first.heard()
		second := a.open(t, h)
		small := desk
		small.Width = 390
		second.does(small, key("x"))
		differs(t, "the second", []any{viewerNote{State: stateOpening}, viewerNote{State: stateElsewhere}}, second.heard())
		differs(t, "the page", []surface.PageMessage{desk}, c.heard())
		c.say(shot(1))
		differs(t, "no picture", []any(nil), second.heard())

		second.words <- viewerRequest{Take: true}
		differs(t, "taken over", []any{viewerNote{State: stateLive, Question: "q1"},
			surface.Place{Origin: "https://shop.example", Title: "Sign in"}}, second.heard())
		got := first.heard()
		differs(t, "told", viewerNote{State: stateElsewhere}, got[len(got)-1])
		differs(t, "the page", []surface.PageMessage{surface.Seen{Seq: 1}, small}, c.heard())
		first.does(key("y"))
		c.say(shot(2))
		differs(t, "the first is blind", []any(nil), first.heard())
		differs(t, "and has no hands", []surface.PageMessage(nil), c.heard())
		differs(t, "the second sees", []any{shot(2)}, second.heard())

		second.end()
		differs(t, "it is free", []any{viewerNote{State: stateFree}}, first.heard())
		first.words <- viewerRequest{Take: true}
		differs(t, "and taken back",
			[]any{viewerNote{State: stateLive, Question: "q1"}, surface.Place{Origin: "https://shop.example", Title: "Sign in"}},
			first.heard())
	})
}

// Pictures stop after five minutes without input, to the moment, and go on when asked.
func TestIdleWindowIsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := scene(t)
		w := a.open(t, h)
		w.does(desk)
		w.heard()
		after(3 * time.Minute)
		w.does(key("a"))
		after(pauseAfter - 1)
		c.heard()
		differs(t, "a moment before", []any(nil), w.heard())
		after(1)
		paused := desk
		paused.Paused = true
		differs(t, "told", []any{viewerNote{State: statePaused}}, w.heard())
		differs(t, "asked", []surface.PageMessage{paused}, c.heard())
		w.does(key("b"))
		c.say(shot(7))
		differs(t, "no picture", []any(nil), w.heard())
		differs(t, "no input", []surface.PageMessage(nil), c.heard())
		w.words <- viewerRequest{Go: true}
		differs(t, "on again", []any{viewerNote{State: stateLive, Question: "q1"}}, w.heard())
		differs(t, "asked", []surface.PageMessage{surface.Seen{Seq: 7}, desk}, c.heard())
	})
}

// A question ends thirty minutes after the last input, or after it was asked if no one comes.
func TestUnusedPageEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, _ := scene(t)
		after(endAfter - 1)
		differs(t, "nobody came", []bool(nil), a.given())
		after(1)
		differs(t, "nobody came", []bool{false}, a.given())
	})
	synctest.Test(t, func(t *testing.T) {
		h, a, _ := scene(t)
		w := a.open(t, h)
		w.does(desk)
		after(20 * time.Minute)
		w.words <- viewerRequest{Go: true}
		after(endAfter - 1)
		w.heard()
		differs(t, "a moment before", []bool(nil), a.given())
		after(1)
		differs(t, "told", []any{viewerNote{State: stateOver, Why: overIdle}}, w.heard())
		differs(t, "answered", []bool{false}, a.given())
		<-w.ended
	})
}

// A page that settles itself answers the question, also when the store is away for a moment.
func TestSettledPageAnswersTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := scene(t)
		a.set(func(a *world) { a.refuse = 3 })
		w := a.open(t, h)
		w.heard()
		c.say(surface.Settled{})
		differs(t, "told", []any{viewerNote{State: stateOver, Why: overSettled}}, w.heard())
		<-w.ended
		after(3 * settleAgain)
		differs(t, "answered", []bool{true}, a.given())
		after(2 * endAfter)
		differs(t, "once", []bool{true}, a.given())
	})
}

// Every end reaches the window within a second.
func TestStreamEnds(t *testing.T) {
	for name, c := range map[string]struct {
		by       func(*world, *child)
		messages []any
	}{
		"signed out": {func(a *world, _ *child) { a.set(func(a *world) { a.out = true }) }, nil},
		"answered": {func(a *world, _ *child) { a.set(func(a *world) { a.asked = Asked{} }) },
			[]any{viewerNote{State: stateOver, Why: overClosed}}},
		"another question": {func(a *world, _ *child) { a.set(func(a *world) { a.asked.Question = "q2" }) },
			[]any{viewerNote{State: stateOver, Why: overClosed}}},
		"closed": {func(_ *world, c *child) { c.say(surface.Closed{Reason: "timeout"}) },
			[]any{viewerNote{State: stateOver, Why: overClosed}}},
		"run is gone": {func(a *world, c *child) {
			_ = c.conn.Close()
			synctest.Wait()
			a.set(func(a *world) { a.asked = Asked{} })
		}, []any{viewerNote{State: stateLost}, viewerNote{State: stateOver, Why: overClosed}}},
		"broken frame": {func(a *world, c *child) {
			_, _ = c.conn.Write([]byte{2, 0, 0, 0, 1, 9})
			synctest.Wait()
			a.set(func(a *world) { a.asked.Question = "q2" })
		}, []any{viewerNote{State: stateLost}, viewerNote{State: stateOver, Why: overClosed}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, a, page := scene(t)
				w := a.open(t, h)
				w.does(desk)
				w.heard()
				began := time.Now()
				c.by(a, page)
				<-w.ended
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %v", took)
				}
				differs(t, "messages", c.messages, w.heard())
			})
		})
	}
}

// A page with a broken channel is shown again to the same window when it returns on another.
func TestPageComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := scene(t)
		w := a.open(t, h)
		w.does(desk)
		w.heard()
		_ = c.conn.Close()
		after(time.Hour)
		differs(t, "told", []any{viewerNote{State: stateLost}}, w.heard())
		c = attach(t, h, "run_1")
		c.say(surface.Ready{})
		differs(t, "again", []any{viewerNote{State: stateLive, Question: "q1"}}, w.heard())
		differs(t, "asked for", []surface.PageMessage{desk}, c.heard())
		w.does(key("a"))
		synctest.Wait()
		differs(t, "used", []surface.PageMessage{key("a")}, c.heard())
		c = attach(t, h, "run_1") // before the other is known to be gone
		c.say(surface.Ready{})
		differs(t, "replaced", []any{viewerNote{State: stateLost}, viewerNote{State: stateLive, Question: "q1"}}, w.heard())
		w.end()
		<-w.ended
	})
}

// A run may show a second page after the first, for another question.
func TestAnotherHandOffOfTheSameRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := scene(t)
		c.say(surface.Settled{})
		synctest.Wait()
		a.set(func(a *world) { a.asked.Question = "q2" })
		w := a.open(t, h)
		differs(t, "not yet", []any{viewerNote{State: stateOpening}}, w.heard())
		c.say(surface.Ready{})
		differs(t, "again", []any{viewerNote{State: stateLive, Question: "q2"}}, w.heard())
	})
}

// A thousand events at once take the four seconds that they may.
func TestEventsArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := scene(t)
		w := a.open(t, h)
		w.heard()
		began := time.Now()
		const events = 5 * perSecond
		for range events {
			w.does(key("a"))
		}
		synctest.Wait()
		after(time.Second / perSecond)
		if took := time.Since(began).Round(time.Millisecond); took != 4*time.Second {
			t.Errorf("%d events took %v", events, took)
		}
		if got := len(c.heard()); got != events {
			t.Errorf("the page got %d of %d", got, events)
		}
	})
}

// A slow window gets the newest picture, and nothing that is older.
func TestSlowWindowSeesTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := scene(t)
		w := a.open(t, h)
		w.does(desk)
		w.heard()
		w.slow = make(chan struct{})
		for n := range uint32(50) {
			c.say(shot(n))
			synctest.Wait()
		}
		w.slow <- struct{}{}
		w.slow <- struct{}{}
		differs(t, "seen", []any{shot(0), shot(49)}, w.heard())
	})
}

// What is no input ends the window, and reaches no page.
func TestBadWordsEndTheWindow(t *testing.T) {
	long := `{"kind":"text","text":"` + strings.Repeat("x", surface.MaxText+1) + `"}`
	for name, f := range map[string]surface.Frame{
		"too long a text":    {Kind: surface.KindInput, Payload: []byte(long)},
		"another method":     {Kind: surface.KindInput, Payload: []byte(`{"kind":"navigate","text":"file:///etc/passwd"}`)},
		"not JSON":           {Kind: surface.KindInput, Payload: []byte(`{`)},
		"a connector's word": {Kind: surface.KindSettled},
		"a kind of its own":  {Kind: 200, Payload: []byte(`{}`)},
		"a view out of bound": {Kind: surface.KindView,
			Payload: []byte(`{"width":1000000,"height":1,"scale":1,"quality":1}`)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, a, c := scene(t)
				w := a.open(t, h)
				w.heard()
				w.words <- f
				<-w.ended
				if !errors.Is(w.err, errBadInput) {
					t.Errorf("it ended as %v", w.err)
				}
				synctest.Wait()
				differs(t, "the page", []surface.PageMessage{surface.End{}}, c.heard())
				differs(t, "answers", []bool(nil), a.given())
			})
		})
	}
}
