package surface

import (
	"context"
	"net/http"

	"github.com/coder/websocket"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

// largestMessage bounds what a worker sends at once: a frame.
const largestMessage = surface.MaxPayload + 16

// ServeWorker takes the page of a run from the worker that makes it, by WebSocket, and returns
// when the link has ended. Who asks must have shown its ticket; Proof is what it knows this
// server by.
func (h *Hub) ServeWorker(w http.ResponseWriter, r *http.Request, runID, proof string, ending <-chan struct{}) {
	w.Header().Set(ProofHeader, proof)
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // it has answered
	}
	defer func() { _ = conn.CloseNow() }()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	p := h.attach(runID, newFrameStream(ctx, conn))
	select {
	case <-p.gone:
	case <-ending:
		p.end(overGone)
	}
}
