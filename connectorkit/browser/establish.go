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
	// captureLimit bounds one diagnostic that no caller waits for.
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

// signInDesk is what establishing a session needs of a browser.
type signInDesk interface {
	// noSession reports, without a request, that there is no session.
	noSession(ctx context.Context) bool
	// probe asks the site who is signed in.
	probe(ctx context.Context) (SessionState, error)
	// show shows the page to the owner. It returns when the page is visible; away hides it.
	show(ctx context.Context, walled bool) (away func(), err error)
	// place returns what the page shows, within its own time limit.
	place(ctx context.Context) pagePlace
	// capture leaves a diagnostic of what is shown.
	capture(ctx context.Context, label string, at time.Time) error
	// keep writes the session and its account down.
	keep(ctx context.Context, account string) error
}

// sessionEstablisher proves that a session is alive, with the owner's help where the run may ask.
type sessionEstablisher struct {
	key     string
	stall   time.Duration
	account string // tag of the account of earlier runs; empty for none
	tag     func(account string) string
	ask     func(context.Context, protocol.Interaction) error // nil when this run may not ask
	desk    signInDesk
	log     *slog.Logger

	dog *watchdog

	mu       sync.Mutex
	progress progressMarker
}

// progressMarker is how far a sign-in has come.
type progressMarker struct {
	label string
	at    time.Time
}

var errStalled = errors.New("the sign-in made no progress")

// run establishes the session. It returns when that is done or the watchdog bites, even if
// something of the page never answers.
func (e *sessionEstablisher) run(ctx context.Context) error {
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
	return connectorkit.EndRun(e.key+"_session_establish_timeout",
		"the site did not get ready within its time; it is tried again, and `pdpp doctor` tries the browser alone",
		protocol.RetryByRuntime, true)
}

func (e *sessionEstablisher) establish(ctx context.Context) error {
	e.checkpoint(ctx, atBegin)
	e.checkpoint(ctx, atProbe)
	var state SessionState = SignedOut{}
	var err error
	if !e.desk.noSession(ctx) {
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
		return e.failWithout(state)
	}
	tag := e.tag(live.Account)
	if e.account != "" && e.account != tag {
		return connectorkit.EndRun(e.key+"_account_changed",
			"another account is signed in than this connection collects; sign in with the first one, or connect the other as "+
				"a new connection",
			protocol.ManualActionRequired, false)
	}
	if err := e.desk.keep(ctx, tag); err != nil {
		return err
	}
	e.checkpoint(ctx, atEstablished)
	return nil
}

// failWithout words the end of a run that has no session.
func (e *sessionEstablisher) failWithout(state SessionState) error {
	switch state.(type) {
	case SignedOut:
		return connectorkit.EndRun(e.key+"_session_required", sessionMissing, protocol.RefreshCredentials, false)
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
func (e *sessionEstablisher) signIn(ctx context.Context, state SessionState) (SessionState, error) {
	_, walled := state.(Walled)
	_, out := state.(SignedOut)
	if e.ask == nil || !walled && !out {
		return nil, e.failWithout(state)
	}
	away, err := e.desk.show(ctx, walled)
	if err != nil {
		return nil, err
	}
	defer away()
	e.recordProgress(atHandOff)
	looked := e.captureWhileAsking(ctx, atHandOff)
	err = e.askOwner(ctx, walled)
	looked()
	if err != nil {
		return nil, err
	}
	away()
	e.checkpoint(ctx, atProbeAgain)
	return e.desk.probe(ctx)
}

// askOwner asks the owner to act on the page. The watchdog rests meanwhile (RT-15.3).
func (e *sessionEstablisher) askOwner(ctx context.Context, walled bool) error {
	at := e.desk.place(ctx)
	text := "Sign in on the page that is shown"
	if walled {
		text = "The site wants to see a person: do what the page asks for"
	}
	limit := handOffLimit.Seconds()
	e.dog.pause()
	defer e.dog.resume()
	err := e.ask(ctx, protocol.Interaction{Kind: protocol.AskManualAction, Message: text + at.words(),
		TimeoutSeconds: &limit})
	if errors.Is(err, connectorkit.ErrNotAnswered) {
		if walled {
			return e.failWithout(Walled{})
		}
		return e.failWithout(SignedOut{})
	}
	return err
}

// checkpoint records the progress, resets the watchdog and, with diagnostics on, writes one. An error of a diagnostic
// changes nothing (RT-14.1).
func (e *sessionEstablisher) checkpoint(ctx context.Context, label string) {
	e.recordProgress(label)
	limited, cancel := context.WithTimeout(ctx, captureLimit)
	defer cancel()
	e.capture(limited, label)
	e.dog.progress()
}

func (e *sessionEstablisher) recordProgress(label string) {
	e.mu.Lock()
	e.progress = progressMarker{label, time.Now()}
	e.mu.Unlock()
	e.dog.progress()
}

// captureWhileAsking writes a diagnostic while the owner is asked, because a page with an open dialog may be slow to
// inspect. The returned function ends it soon.
func (e *sessionEstablisher) captureWhileAsking(ctx context.Context, label string) (end func()) {
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
func (e *sessionEstablisher) capture(ctx context.Context, label string) {
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

func (e *sessionEstablisher) marker() progressMarker {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.progress
}

// pagePlace is the part of a page's address and title that may be shown.
type pagePlace struct {
	address string // without query and fragment
	title   string
}

func (p pagePlace) words() string {
	switch {
	case p.title != "" && p.address != "":
		return fmt.Sprintf(": %q at %s", p.title, p.address)
	case p.address != "":
		return ": " + p.address
	}
	return ""
}
