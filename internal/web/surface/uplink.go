package surface

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// ProofHeader is the header with which a server proves to a worker that it received the ticket.
const ProofHeader = "Pdpp-Page-Proof"

const (
	// dialWithin bounds the way to the server.
	dialWithin = 10 * time.Second
	// redialFirst and redialMost are the pauses before another try.
	redialFirst = 200 * time.Millisecond
	redialMost  = 2 * time.Second
	// beatEvery is how often each end of a link makes sure of the other, and beatWithin how
	// long that may take.
	beatEvery  = 5 * time.Second
	beatWithin = 10 * time.Second
)

// ErrNotAsked means that a run asks nothing on its page.
var ErrNotAsked = errors.New("the run asks nothing on its page")

// errPlain means that pictures and keys could be read in transit.
var errPlain = errors.New("the server's address is neither https nor on this machine")

// errStranger means that the responding server is not the owner's.
var errStranger = errors.New("what answered at the server's address is not the owner's server")

// Passage is a way into the server that the owner's console is on, which is used once.
type Passage struct {
	Address string // of the page's question there
	Ticket  string // is shown
	Proof   string // the answer of the right server
}

// Uplink carries the pages of this process's runs to the hub of another process. It replaces a broken link for as long
// as the page exists.
type Uplink struct {
	// passage returns a new passage for the question that a run asks now, or ErrNotAsked.
	passage func(ctx context.Context, runID string) (Passage, error)
	log     *slog.Logger
	tasks   tasks
}

// NewUplink returns an uplink. What it carries ends with ctx; Wait returns after that. Passage returns a new passage
// for the question that a run asks now, or ErrNotAsked.
func NewUplink(ctx context.Context, passage func(ctx context.Context, runID string) (Passage, error),
	log *slog.Logger) *Uplink {
	return &Uplink{passage: passage, log: log, tasks: tasks{ctx: ctx}}
}

// Wait returns when the uplink's context and everything that the uplink started have ended.
func (u *Uplink) Wait() { u.tasks.Wait() }

// Attach carries the channel of a run's page until the channel or the uplink's context ends. It returns at once.
func (u *Uplink) Attach(runID string, conn io.ReadWriteCloser) {
	c := newCarrier(runID, conn)
	ctx, cancel := context.WithCancel(u.tasks.ctx)
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	u.tasks.start(func() {
		defer cancel()
		c.read()
	})
	if !u.tasks.start(func() { u.carry(ctx, c) }) {
		cancel()
	}
}

// carry links a page to the server whenever there is something to show.
func (u *Uplink) carry(ctx context.Context, c *carrier) {
	pause, reported := redialFirst, false
	for {
		select {
		case <-c.wanted():
		case <-ctx.Done():
			return
		}
		began := time.Now()
		err := u.link(ctx, c)
		if time.Since(began) > redialMost || errors.Is(err, ErrNotAsked) {
			pause = redialFirst // it was there, or its question is on the way
		}
		if err != nil && !errors.Is(err, ErrNotAsked) && !reported && ctx.Err() == nil {
			reported = true // logged once per page; the console shows it, too
			u.log.Warn("the page of a run is not shown in the console yet; it is tried again", "run_id", c.runID, "error", err)
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, redialMost)
		case <-ctx.Done():
			return
		}
	}
}

// link carries frames until the link breaks or the page is over. It returns an error if there was no link.
func (u *Uplink) link(ctx context.Context, c *carrier) error {
	limited, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	to, err := u.passage(limited, c.runID)
	if err != nil {
		return err
	}
	if !isPrivateAddress(to.Address) {
		return errPlain
	}
	conn, answer, err := websocket.Dial(limited, to.Address, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + to.Ticket}}, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		if answer != nil {
			return fmt.Errorf("the server answered %s", answer.Status)
		}
		return fmt.Errorf("reach the server: %w", err)
	}
	defer func() { _ = conn.CloseNow() }()
	if to.Proof == "" || answer.Header.Get(ProofHeader) != to.Proof {
		return errStranger
	}
	c.carryOver(newFrameStream(ctx, conn))
	return nil
}

// isPrivateAddress reports whether traffic to an address cannot be read in transit.
func isPrivateAddress(address string) bool {
	at, err := url.Parse(address)
	if err != nil {
		return false
	}
	if at.Scheme == "https" || at.Scheme == "wss" {
		return true
	}
	ip, err := netip.ParseAddr(at.Hostname())
	return err == nil && ip.IsLoopback() || strings.EqualFold(at.Hostname(), "localhost")
}

// newFrameStream reads and writes frames on a WebSocket, each as one message. It ends with ctx, with
// either side, and when the other side does not answer any more.
func newFrameStream(ctx context.Context, conn *websocket.Conn) io.ReadWriteCloser {
	ctx, cancel := context.WithCancel(ctx)
	raw := websocket.NetConn(ctx, conn, websocket.MessageBinary)
	conn.SetReadLimit(largestMessage)
	go func() {
		defer cancel()
		pingUntilGone(ctx, conn)
	}()
	return &frameStream{raw, cancel}
}

type frameStream struct {
	io.ReadWriteCloser
	cancel context.CancelFunc
}

func (s *frameStream) Close() error {
	defer s.cancel()
	return s.ReadWriteCloser.Close()
}

// pingUntilGone returns when the other side is gone.
func pingUntilGone(ctx context.Context, conn *websocket.Conn) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		limited, cancel := context.WithTimeout(ctx, beatWithin)
		err := conn.Ping(limited)
		cancel()
		if err != nil {
			return
		}
	}
}
