package surface

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/protocol/surface"
)

const (
	// largestWord bounds what a window sends at once: text of 4 KiB, however it is escaped.
	largestWord = 32 << 10
	// writeWithin is how long a window may take for one message before it counts as gone.
	writeWithin = 15 * time.Second
	// goodbyeWithin is how long a window may take to answer a close.
	goodbyeWithin = 250 * time.Millisecond
)

// Reasons of the end of a window's connection, beside those of the protocol.
const (
	statusSignedOut websocket.StatusCode = 4001
	statusOver      websocket.StatusCode = 4002
)

// Serve connects a window of the owner by WebSocket, and returns when it has ended. The caller must be admitted
// already; signedIn is checked again during the connection. Asked returns the run on which page the owner is to act.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, signedIn func(*http.Request) bool,
	asked func(context.Context) (runID, question string, until *time.Time, err error), ending <-chan struct{}) {
	if !h.sameOrigin(r) {
		reply.WriteFailure(w, r, reply.TypePermission, &usererr.Error{
			Status: http.StatusForbidden, Code: "cross_origin_request", Message: "Only a page of this console may open this.",
			Next: "Open the connection in the console.",
		})
		return
	}
	// checked above
	conn, err := websocket.Accept(w, r,
		&websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // it has answered
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(largestWord)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	if ending != nil {
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			select {
			case <-ending:
				cancel()
			case <-stop:
			}
		}()
	}
	out := false
	var last Asked
	err = h.attend(ctx, socket{conn}, func(ctx context.Context) (Asked, bool) {
		if !signedIn(r) {
			out = true
			return Asked{}, false
		}
		run, question, until, err := asked(ctx)
		if err == nil { // a failing store does not mean that the question is over
			last = Asked{RunID: run, Question: question, Until: until}
		}
		return last, true
	})
	defer time.AfterFunc(goodbyeWithin, cancel).Stop() // stops the reader
	switch {
	case out:
		_ = conn.Close(statusSignedOut, "signed out")
	case errors.Is(err, errBadInput):
		_ = conn.Close(websocket.StatusPolicyViolation, "not an input")
	case err == nil && ctx.Err() == nil:
		_ = conn.Close(statusOver, "over")
	}
}

// sameOrigin reports whether the request comes from a page of this server. Browsers always send their origin, and
// other clients are not allowed.
func (h *Hub) sameOrigin(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Host == "" {
		return false
	}
	if strings.EqualFold(origin.Host, r.Host) {
		return true
	}
	public, err := url.Parse(h.Public)
	return err == nil && public.Host != "" && public.Scheme == origin.Scheme && strings.EqualFold(origin.Host, public.Host)
}

// socket is a window that is reached by WebSocket: frames as binary messages, of which the
// first byte is the kind, and everything else as JSON.
type socket struct{ conn *websocket.Conn }

func (s socket) write(ctx context.Context, kind websocket.MessageType, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return s.conn.Write(ctx, kind, body)
}

func (s socket) tell(ctx context.Context, n viewerNote) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.write(ctx, websocket.MessageText, body)
}

func (s socket) send(ctx context.Context, f surface.Frame) error {
	return s.write(ctx, websocket.MessageBinary, append([]byte{byte(f.Kind)}, f.Payload...))
}

func (s socket) receive(ctx context.Context) (surface.Frame, viewerRequest, error) {
	kind, body, err := s.conn.Read(ctx)
	if err != nil {
		return surface.Frame{}, viewerRequest{}, err
	}
	if kind == websocket.MessageBinary {
		if len(body) == 0 || body[0] == 0 {
			return surface.Frame{}, viewerRequest{}, errBadInput
		}
		return surface.Frame{Kind: surface.FrameKind(body[0]), Payload: body[1:]}, viewerRequest{}, nil
	}
	var w viewerRequest
	if json.Unmarshal(body, &w) != nil {
		return surface.Frame{}, viewerRequest{}, errBadInput
	}
	return surface.Frame{}, w, nil
}
