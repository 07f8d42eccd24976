package deviceapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/gzip"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/protocol"
)

// Limits of an upload's body. The longest record fits. After firstWait, a body has to arrive at the rate of slowest.
const (
	maxUpload  = 20 << 20
	firstWait  = 20 * time.Second
	slowest    = 8 << 10         // bytes a second
	answerTime = 2 * time.Minute // for what comes after the body
)

// OwnLimits reports whether the route of a request limits its body itself, because it accepts larger bodies.
func OwnLimits(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, wire.Root+"/") && (strings.HasSuffix(r.URL.Path, "/ingest-batches") ||
		strings.Contains(r.URL.Path, "/blobs/"))
}

// unpacker holds the memory for decompressing a body.
type unpacker struct {
	gzip gzip.Reader
	into bytes.Buffer
}

var unpackers = sync.Pool{New: func() any { return new(unpacker) }}

// keptUpload is the largest body for which memory is reused.
const keptUpload = 8 << 20

func (u *unpacker) release() {
	if u.into.Cap() <= keptUpload {
		u.into.Reset()
		unpackers.Put(u)
	}
}

// readUpload reads the body of an upload, which may be compressed. The body is valid, and its memory reserved, until
// free is called.
func (a *api) readUpload(w http.ResponseWriter, r *http.Request) (body []byte, free func(), err error) {
	leave, err := a.admission.reserve(r.Context(), expected(r))
	if err != nil {
		return nil, nil, err
	}
	u := unpackers.Get().(*unpacker)
	free = func() {
		u.release()
		leave()
	}
	paced := &pacedBody{from: http.MaxBytesReader(w, r.Body, maxUpload), control: http.NewResponseController(w),
		began: time.Now()}
	var from io.Reader = paced
	if r.Header.Get("Content-Encoding") == "gzip" {
		if err := u.gzip.Reset(paced); err != nil {
			free()
			return nil, nil, badBody(err)
		}
		from = &u.gzip
	}
	if r.ContentLength > 0 && r.ContentLength <= maxUpload {
		u.into.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	n, err := u.into.ReadFrom(io.LimitReader(from, maxUpload+1))
	if err == nil && n > maxUpload {
		err = &http.MaxBytesError{Limit: maxUpload}
	}
	if err != nil {
		free()
		return nil, nil, badBody(err)
	}
	_ = paced.control.SetWriteDeadline(time.Now().Add(answerTime)) // not every writer has deadlines
	return u.into.Bytes(), free, nil
}

// expected returns how many bytes to reserve for a body.
func expected(r *http.Request) int64 {
	n := r.ContentLength
	if r.Header.Get("Content-Encoding") == "gzip" {
		n *= 8
	}
	if n < 0 || n > maxUpload {
		return maxUpload
	}
	return max(n, slowest)
}

// deepest is the maximum nesting of a body: a message of the protocol, in a list, in the body.
const deepest = protocol.MaxDepth + 2

// parse decodes a body. It checks the depth first, because the cost of hashing sorted members grows with each level.
func parse(body []byte, into any) error {
	if protocol.TooDeep(body, deepest) {
		return errors.New("the body nests too deep")
	}
	return json.Unmarshal(body, into)
}

// badBody returns the fault for a body that could not be read.
func badBody(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &usererr.Error{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large",
			Message: "The body is larger than this address takes.", Next: "Send less at once."}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &usererr.Error{Status: http.StatusRequestTimeout, Code: "request_timeout",
			Message: "The body did not arrive in time.", Next: "Send it again, or less at once."}
	default:
		return invalid("", "The body is not the JSON that this address takes.")
	}
}

func invalid(param, message string) error {
	return &usererr.Error{Status: http.StatusBadRequest, Code: "invalid_request", Param: param, Message: message,
		Next: "Update the collector."}
}

// pacedBody ends a body that arrives too slowly.
type pacedBody struct {
	from    io.Reader
	control *http.ResponseController
	began   time.Time
	read    int64
	failed  error
}

func (p *pacedBody) Read(into []byte) (int, error) {
	due := p.began.Add(firstWait + time.Duration(p.read)*time.Second/slowest)
	_ = p.control.SetReadDeadline(due) // without deadlines, the server's own limits apply
	n, err := p.from.Read(into)
	p.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		p.failed = err
	}
	return n, err
}
