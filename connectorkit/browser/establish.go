package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// handOffLimit is how long the owner has to sign in.
	handOffLimit = 1800 * time.Second
	// captureLimit bounds one diagnostic; one that somebody waits for has less.
	captureLimit = 10 * time.Second
	lastCapture  = 1500 * time.Millisecond
	// firstLook is how long the owner waits for a diagnostic before they are asked; it goes on
	// while they act.
	firstLook = 250 * time.Millisecond
)

// The checkpoints of the kit around a sign-in.
const (
	atBegin        = "session-establish:begin"
	atProbe        = "session-establish:probe"
	atHandOff      = "session-establish:hand-off"
	atProbeAgain   = "session-establish:probe-after-hand-off"
	atEstablished  = "session-establish:established"
	atStalled      = "session-establish:stalled"
	sessionMissing = "sign in again: open this connection and choose Sign in"
)

// desk is what establishing a session needs of a browser.
type desk interface {
	// blank tells that there is no session, without asking the site.
	blank(ctx context.Context) bool
	// probe asks the site who is signed in.
	probe(ctx context.Context) (State, error)
	// show opens the page where the owner acts, for the owner to see. It returns when there
	// is something to see; the page is taken away by the function it gives.
	show(ctx context.Context, walled bool) (away func(), err error)
	// place says what is shown, within a bound of its own.
	place(ctx context.Context) place
	// capture leaves a diagnostic of what is shown.
	capture(ctx context.Context, label string, at time.Time) error
	// keep writes the session and its account down.
	keep(ctx context.Context, account string) error
}

// establishing proves that a session is alive, with the owner's help where the run may ask.
type establishing struct {
	key     string
	stall   time.Duration
	account string // tag of the account of earlier runs; empty for none
	tag     func(account string) string
	ask     func(context.Context, protocol.Interaction) error // nil when this run may not ask
	desk    desk
	log     *slog.Logger

	dog *watchdog

	mu       sync.Mutex
	progress marker
}

// marker is how far a sign-in has come.
type marker struct {
	label string
	at    time.Time
}

var errStalled = errors.New("the sign-in made no progress")

// run establishes the session. It returns when that is done or the watchdog bites, even if
// something of the page never answers.
func (e *establishing) run(ctx context.Context) error {
	watched, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.dog = newWatchdog(e.stall, func() { cancel(errStalled) })
	defer e.dog.stop()
	done := make(chan error, 1)
	go func() { done <- e.establish(watched) }()
	var err error
	select {
	case err = <-done:
	case <-watched.Done():
		err = context.Cause(watched)
	}
	if !errors.Is(context.Cause(watched), errStalled) {
		return err
	}
	last := e.marker()
	limited, end := context.WithTimeout(ctx, lastCapture)
	defer end()
	e.capture(limited, atStalled)
	e.log.Error("sign-in stalled", "after", last.label, "since", last.at.UTC().Format(time.RFC3339))
	return connectorkit.End(e.key+"_session_establish_timeout",
		"the site did not get ready within its time; it is tried again, and `pdpp doctor` tries the browser alone",
		protocol.RetryByRuntime, true)
}

func (e *establishing) establish(ctx context.Context) error {
	e.checkpoint(ctx, atBegin)
	e.checkpoint(ctx, atProbe)
	var state State = SignedOut{}
	var err error
	if !e.desk.blank(ctx) {
		if state, err = e.desk.probe(ctx); err != nil {
			return err
		}
	}
	if _, live := state.(Live); !live {
		if state, err = e.signIn(ctx, state); err != nil {
			return err
		}
	}
	live, ok := state.(Live)
	if !ok || live.Account == "" {
		return e.without(state)
	}
	tag := e.tag(live.Account)
	if e.account != "" && e.account != tag {
		return connectorkit.End(e.key+"_account_changed",
			"another account is signed in than this connection collects; sign in with the first one, or connect the other as a new connection",
			protocol.ManualActionRequired, false)
	}
	if err := e.desk.keep(ctx, tag); err != nil {
		return err
	}
	e.checkpoint(ctx, atEstablished)
	return nil
}

// without words the end of a run that has no session.
func (e *establishing) without(state State) error {
	switch state.(type) {
	case SignedOut:
		return connectorkit.End(e.key+"_session_required", sessionMissing, protocol.RefreshCredentials, false)
	case Walled:
		return connectorkit.Fail(connectorkit.Challenge, errors.New("the probe met a wall"))
	case Live:
		return connectorkit.Fail(connectorkit.Malformed, errors.New("the probe found a session without an account"))
	default:
		return connectorkit.Fail(connectorkit.Unavailable, errors.New("the probe found nothing out"))
	}
}

// signIn hands the page to the owner, if this run may ask, and probes again: neither the
// owner's word nor a cookie proves a session.
func (e *establishing) signIn(ctx context.Context, state State) (State, error) {
	_, walled := state.(Walled)
	_, out := state.(SignedOut)
	if e.ask == nil || !walled && !out {
		return nil, e.without(state)
	}
	away, err := e.desk.show(ctx, walled)
	if err != nil {
		return nil, err
	}
	defer away()
	e.reached(atHandOff)
	looked := e.lookOn(ctx, atHandOff)
	err = e.question(ctx, walled)
	looked()
	if err != nil {
		return nil, err
	}
	away()
	e.checkpoint(ctx, atProbeAgain)
	return e.desk.probe(ctx)
}

// question asks the owner to act on the page. The watchdog rests meanwhile (RT-15.3).
func (e *establishing) question(ctx context.Context, walled bool) error {
	at := e.desk.place(ctx)
	text := "Sign in on the page that is shown"
	if walled {
		text = "The site wants to see a person: do what the page asks for"
	}
	limit := handOffLimit.Seconds()
	e.dog.pause()
	defer e.dog.resume()
	err := e.ask(ctx, protocol.Interaction{Kind: protocol.AskManualAction, Message: text + at.words(), TimeoutSeconds: &limit})
	if errors.Is(err, connectorkit.ErrNotAnswered) {
		if walled {
			return e.without(Walled{})
		}
		return e.without(SignedOut{})
	}
	return err
}

// checkpoint notes how far things have come, lets the watchdog begin anew and, when
// diagnostics are on, leaves one. What goes wrong with that changes nothing (RT-14.1).
func (e *establishing) checkpoint(ctx context.Context, label string) {
	e.reached(label)
	limited, cancel := context.WithTimeout(ctx, captureLimit)
	defer cancel()
	e.capture(limited, label)
	e.dog.progress()
}

func (e *establishing) reached(label string) {
	e.mu.Lock()
	e.progress = marker{label, time.Now()}
	e.mu.Unlock()
	e.dog.progress()
}

// lookOn leaves a diagnostic while the owner is asked: a page may be slow to be looked at, as
// one that has opened a dialog is. What it gives ends that, soon.
func (e *establishing) lookOn(ctx context.Context, label string) (end func()) {
	limited, cancel := context.WithTimeout(ctx, captureLimit)
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.capture(limited, label)
	}()
	within := func(d time.Duration) {
		select {
		case <-done:
		case <-time.After(d):
		}
	}
	within(firstLook)
	return func() {
		within(lastCapture)
		cancel()
	}
}

// capture leaves a diagnostic within the context, even if the page does not keep to it.
func (e *establishing) capture(ctx context.Context, label string) {
	at := time.Now()
	done := make(chan error, 1)
	go func() { done <- e.desk.capture(ctx, label, at) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		e.log.Warn("no diagnostic of the page", "label", label, "cause", err)
	}
}

func (e *establishing) marker() marker {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.progress
}

// place is what a page says about itself, as far as it may be repeated.
type place struct {
	address string // without query and fragment
	title   string
}

func (p place) words() string {
	switch {
	case p.title != "" && p.address != "":
		return fmt.Sprintf(": %q at %s", p.title, p.address)
	case p.address != "":
		return ": " + p.address
	}
	return ""
}
