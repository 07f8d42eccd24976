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
	"github.com/pdpp-go/pdpp/internal/ops/fault"
	"github.com/pdpp-go/pdpp/protocol"
)

// Bounds of an upload's body. A record of the longest line fits; a line that is slower
// than slowest once firstWait is over will not be done today.
const (
	maxUpload  = 20 << 20
	firstWait  = 20 * time.Second
	slowest    = 8 << 10         // bytes a second
	answerTime = 2 * time.Minute // for what comes after the body
)

// OwnLimits reports whether the route of a request bounds its body itself, because it
// takes more than others do.
func OwnLimits(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, wire.Root+"/") && (strings.HasSuffix(r.URL.Path, "/ingest-batches") || strings.Contains(r.URL.Path, "/blobs/"))
}

// unpacker has the memory that a body is unpacked with and into.
type unpacker struct {
	gzip gzip.Reader
	into bytes.Buffer
}

var unpackers = sync.Pool{New: func() any { return new(unpacker) }}

// keptUpload is the largest body whose memory is kept for the next.
const keptUpload = 8 << 20

func (u *unpacker) release() {
	if u.into.Cap() <= keptUpload {
		u.into.Reset()
		unpackers.Put(u)
	}
}

// readUpload reads the body of an upload, which may be compressed. Room for it is held, and it
// is there, until free is called.
func (a *api) readUpload(w http.ResponseWriter, r *http.Request) (body []byte, free func(), err error) {
	leave, err := a.load.room(r.Context(), expected(r))
	if err != nil {
		return nil, nil, err
	}
	u := unpackers.Get().(*unpacker)
	free = func() {
		u.release()
		leave()
	}
	paced := &pacedBody{from: http.MaxBytesReader(w, r.Body, maxUpload), control: http.NewResponseController(w), began: time.Now()}
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
	_ = paced.control.SetWriteDeadline(time.Now().Add(answerTime)) // one that cannot be set is not needed
	return u.into.Bytes(), free, nil
}

// expected is how large a body may become.
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

// deepest is how deep a body may nest: a message of the protocol, within a list, within the body.
const deepest = protocol.MaxDepth + 2

// parse decodes a body. Its depth is judged first: what is computed from a body later, such as a hash over
// its sorted members, costs more with every level.
func parse(body []byte, into any) error {
	if protocol.TooDeep(body, deepest) {
		return errors.New("the body nests too deep")
	}
	return json.Unmarshal(body, into)
}

// badBody says why a body could not be read.
func badBody(err error) error {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &fault.Fault{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Message: "The body is larger than this address takes.", Next: "Send less at once."}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &fault.Fault{Status: http.StatusRequestTimeout, Code: "request_timeout", Message: "The body did not arrive in time.", Next: "Send it again, or less at once."}
	default:
		return invalid("", "The body is not the JSON that this address takes.")
	}
}

func invalid(param, message string) error {
	return &fault.Fault{Status: http.StatusBadRequest, Code: "invalid_request", Param: param, Message: message, Next: "Update the collector."}
}

// pacedBody ends a body that comes too slowly.
type pacedBody struct {
	from    io.Reader
	control *http.ResponseController
	began   time.Time
	read    int64
	failed  error
}

func (p *pacedBody) Read(into []byte) (int, error) {
	due := p.began.Add(firstWait + time.Duration(p.read)*time.Second/slowest)
	_ = p.control.SetReadDeadline(due) // where none can be set, others bound the request
	n, err := p.from.Read(into)
	p.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		p.failed = err
	}
	return n, err
}
