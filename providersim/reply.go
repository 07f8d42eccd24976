package providersim

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// heldAnswer buffers a whole answer so that a fault can damage it. It is the http.ResponseWriter of a provider's
// routes.
type heldAnswer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func newHeldAnswer() *heldAnswer {
	return &heldAnswer{status: http.StatusOK, header: http.Header{}}
}

func newJSONAnswer(status int, body []byte) *heldAnswer {
	a := newHeldAnswer()
	a.status = status
	a.header.Set("Content-Type", "application/json")
	a.body.Write(body)
	return a
}

func (a *heldAnswer) Header() http.Header         { return a.header }
func (a *heldAnswer) WriteHeader(status int)      { a.status = status }
func (a *heldAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }

// applyFault damages the answer as the fault asks.
func (a *heldAnswer) applyFault(f Fault) {
	switch f.Kind {
	case Drift:
		a.applyDrift(f.Drifted)
	case TruncatedJSON:
		a.body.Truncate(a.body.Len() / 2)
	case WrongContentType:
		a.header.Set("Content-Type", "text/plain; charset=utf-8")
	case WrongType:
		a.editFirstItem(f.Field, func(item map[string]any, field string) {
			if _, isNumber := item[field].(json.Number); isNumber {
				item[field] = "forty-two"
			} else {
				item[field] = 42
			}
		})
	case MissingField:
		a.editFirstItem(f.Field, func(item map[string]any, field string) { delete(item, field) })
	}
}

// editFirstItem changes the first object of every list in the answer or in objects within it, or of
// the answer itself when that is a list. An answer without one stays as it is.
func (a *heldAnswer) editFirstItem(field string, edit func(item map[string]any, field string)) {
	if field == "" {
		field = "id"
	}
	var top any
	dec := json.NewDecoder(bytes.NewReader(a.body.Bytes()))
	dec.UseNumber()
	if dec.Decode(&top) != nil {
		return
	}
	editFirstItem(top, field, edit)
	a.body.Reset()
	a.body.Write(EncodeJSON(top))
}

func editFirstItem(value any, field string, edit func(item map[string]any, field string)) {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			editFirstItem(member, field, edit)
		}
	case []any:
		if len(v) == 0 {
			return
		}
		if item, ok := v[0].(map[string]any); ok {
			edit(item, field)
		}
	}
}

func (a *heldAnswer) writeHeaders(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.status)
}

// The client may be gone, so a failed write is ignored.
func (a *heldAnswer) sendAnswer(w http.ResponseWriter) {
	a.writeHeaders(w)
	_, _ = w.Write(a.body.Bytes())
}

// deliverAnswer sends the answer, calls sent, and returns when the client has the answer: a client that reads
// the last answer of a connection to its end closes the connection. It stops waiting for a client that never does.
func (a *heldAnswer) deliverAnswer(w http.ResponseWriter, sent func()) {
	a.header.Set("Connection", "close")
	a.sendAnswer(w)
	sent()
	control := http.NewResponseController(w)
	if control.Flush() != nil {
		return // nothing can be seen of this client
	}
	conn, _, err := control.Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(deliveryPatience))
	_, _ = io.Copy(io.Discard, conn) // whatever ends it, nothing more is to be waited for
}

// deliveryPatience bounds the wait for a client that neither reads nor closes.
const deliveryPatience = time.Minute

func (a *heldAnswer) sendSlowly(ctx context.Context, w http.ResponseWriter, f Fault) {
	size, delay := f.ChunkBytes, time.Duration(f.DelayMS)*time.Millisecond
	if size == 0 {
		size = 64
	}
	if delay == 0 {
		delay = 10 * time.Millisecond
	}
	a.writeHeaders(w)
	flush := http.NewResponseController(w)
	for first := true; a.body.Len() > 0; first = false {
		if !first && !waitFor(ctx, delay) {
			return
		}
		if _, err := w.Write(a.body.Next(size)); err != nil || flush.Flush() != nil {
			return
		}
	}
}

// sendHalfAnswer promises the whole body, sends half and breaks the connection. Over
// TCP the peer sees a reset, over any other transport an early end.
func (a *heldAnswer) sendHalfAnswer(w http.ResponseWriter) {
	a.writeHeaders(w)
	_, _ = w.Write(a.body.Bytes()[:a.body.Len()/2])
	control := http.NewResponseController(w)
	_ = control.Flush()
	conn, _, err := control.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// EncodeJSON renders v compactly and leaves characters such as < as they are.
// It panics when v cannot be rendered, which is a mistake of the simulator.
func EncodeJSON(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
