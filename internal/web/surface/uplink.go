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

// ProofHeader is where a server shows a worker that it is the owner's: the ticket went to
// nobody else.
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

// ErrNotAsked says that a run asks nothing on its page.
var ErrNotAsked = errors.New("the run asks nothing on its page")

// errPlain says that pictures and keys would be read on the way.
var errPlain = errors.New("the server's address is neither https nor on this machine")

// errStranger says that who answered is not the owner's server.
var errStranger = errors.New("what answered at the server's address is not the owner's server")

// Passage is a way into the server that the owner's console is on, which is used once.
type Passage struct {
	Address string // of the page's question there
	Ticket  string // is shown
	Proof   string // the answer of the right server
}

// Uplink brings the pages of this process's runs into the hub of another. A link that breaks
// is made anew for as long as the page is there.
type Uplink struct {
	// Passage gives a new one for the question that a run asks now, ErrNotAsked for none.
	Passage func(ctx context.Context, runID string) (Passage, error)
	Log     *slog.Logger
}

// Attach takes the channel of a run's page, and returns at once. It is carried until it ends.
func (u *Uplink) Attach(runID string, conn io.ReadWriteCloser) {
	c := newCarrier(runID, conn)
	go c.read()
	go func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			<-c.gone
			cancel()
		}()
		u.carry(ctx, c)
	}()
}

// carry links a page to the server whenever there is something to show.
func (u *Uplink) carry(ctx context.Context, c *carrier) {
	pause, told := redialFirst, false
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
		if err != nil && !errors.Is(err, ErrNotAsked) && !told && ctx.Err() == nil {
			told = true // once for a page: the owner is told in the console
			u.Log.Warn("the page of a run is not shown in the console yet; it is tried again", "run_id", c.runID, "error", err)
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, redialMost)
		case <-ctx.Done():
			return
		}
	}
}

// link carries frames until the link breaks or the page is over. Its error tells why there
// was none.
func (u *Uplink) link(ctx context.Context, c *carrier) error {
	limited, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	to, err := u.Passage(limited, c.runID)
	if err != nil {
		return err
	}
	if !private(to.Address) {
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
	c.travel(stream(ctx, conn))
	return nil
}

// private reports whether nobody reads on the way to an address.
func private(address string) bool {
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

// stream reads and writes frames on a WebSocket, each as one message. It ends with ctx, with
// either side, and when the other side does not answer any more.
func stream(ctx context.Context, conn *websocket.Conn) io.ReadWriteCloser {
	ctx, cancel := context.WithCancel(ctx)
	raw := websocket.NetConn(ctx, conn, websocket.MessageBinary)
	conn.SetReadLimit(largestMessage)
	go func() {
		defer cancel()
		beat(ctx, conn)
	}()
	return &streamed{raw, cancel}
}

type streamed struct {
	io.ReadWriteCloser
	cancel context.CancelFunc
}

func (s *streamed) Close() error {
	defer s.cancel()
	return s.ReadWriteCloser.Close()
}

// beat returns when the other side is gone.
func beat(ctx context.Context, conn *websocket.Conn) {
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
