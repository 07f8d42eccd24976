package governproxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// maxRepeated is the maximum size of a body that is kept for a retry.
const maxRepeated = 1 << 20

// errFinalOutcome ends a request that must not be retried.
var errFinalOutcome = errors.New("the outcome is final")

// proxyExchange is one request of the program and its result.
type proxyExchange struct {
	p      *Proxy
	req    *http.Request
	id     requestIdentity
	body   []byte // kept for retries
	whole  bool   // body is complete
	answer *http.Response
	lost   error // why the last attempt has no response
	final  bool  // it must not be sent again
	end    context.CancelCauseFunc
}

// forward forwards a request at the pace of its host.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, scheme, host string) {
	place := p.place()
	p.seen.asked(place)
	way, ok := p.senderFor(w, scheme, host)
	if !ok {
		return
	}
	x, err := p.exchange(r, scheme, host)
	if err != nil {
		http.Error(w, "the request could not be read", http.StatusBadRequest)
		return
	}
	wait := x.send(r.Context(), way)
	switch {
	case r.Context().Err() != nil: // the program canceled the request
		p.seen.failed(x.id, place)
		x.drop()
	case wait > 0:
		x.drop()
		p.seen.answered(x.id, http.StatusTooManyRequests, place)
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		http.Error(w, "the provider is to be left alone for now", http.StatusTooManyRequests)
	case x.answer == nil:
		p.seen.failed(x.id, place)
		http.Error(w, "no answer came from the host", http.StatusBadGateway)
	default:
		p.deliver(w, x, place)
	}
}

// exchange reads the request. A body within the bound is kept; a larger one is sent once.
func (p *Proxy) exchange(r *http.Request, scheme, host string) (*proxyExchange, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRepeated+1))
	if err != nil {
		return nil, err
	}
	x := &proxyExchange{p: p, body: body, whole: len(body) <= maxRepeated}
	x.req = r.Clone(r.Context())
	x.req.URL.Scheme, x.req.URL.Host, x.req.RequestURI = scheme, host, ""
	dropHopHeaders(x.req.Header)
	sum := sha256.New()
	sum.Write([]byte(x.req.URL.String() + "\n"))
	sum.Write(body)
	x.id = requestIdentity{r.Method, hex.EncodeToString(sum.Sum(nil))}
	return x, nil
}

// send forwards the request, and returns how long the program must wait before a retry. Zero means that there is
// a response, or that none will come.
func (x *proxyExchange) send(ctx context.Context, way *governhttp.Sender) time.Duration {
	began := time.Now()
	for {
		timed, cancel := context.WithTimeout(ctx, x.p.o.Hold-time.Since(began))
		held, end := context.WithCancelCause(timed)
		x.end = end
		err := way.Do(held, func(context.Context) (governor.Outcome, error) { return x.attempt(ctx), nil })
		end(nil)
		cancel()
		var stopped *governhttp.Stopped
		switch {
		case err == nil, x.final, ctx.Err() != nil:
			return 0
		case !errors.As(err, &stopped):
			if x.answer == nil && x.lost == nil {
				return time.Second // the hold ended before its turn
			}
			return 0
		case stopped.Attempts > 0 && (stopped.Kind != governor.Throttled || stopped.Reason == governor.RetriesExhausted):
			return 0 // the program gets the last response
		}
		left := x.p.o.Hold - time.Since(began)
		again := stopped.Attempts == 0 && stopped.RetryAfter <= left
		if stopped.Attempts > 0 && stopped.RetryAfter <= left {
			return 0 // the attempts are used up
		}
		rest := max(0, min(left, stopped.RetryAfter))
		if way.Rest(ctx, rest) != nil {
			return 0
		}
		if !again {
			return max(time.Second, stopped.RetryAfter-rest)
		}
	}
}

// attempt makes one transmission. The end of the hold does not interrupt it, because its response may be in
// transit.
func (x *proxyExchange) attempt(ctx context.Context) governor.Outcome {
	x.drop()
	req := x.req.Clone(ctx)
	req.Body, req.ContentLength = http.NoBody, 0
	switch {
	case !x.whole:
		req.Body, req.ContentLength = io.NopCloser(io.MultiReader(bytes.NewReader(x.body), x.req.Body)), x.req.ContentLength
	case len(x.body) > 0:
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(x.body)), int64(len(x.body))
	}
	if x.answer, x.lost = x.p.o.Transport.RoundTrip(req); x.lost != nil {
		x.answer = nil
		return x.judge(governor.Outcome{Kind: governor.Failed, Unreached: unreachedOutcome(x.lost)}, 0)
	}
	now := time.Now()
	r := &governhttp.Response{Status: x.answer.StatusCode, Quota: governhttp.ReadQuota(x.answer.Header, now)}
	r.RetryAfter, r.HasRetryAfter = governhttp.ReadRetryAfter(x.answer.Header, now)
	return x.judge(
		governor.Outcome{
			Kind:          governhttp.Meaning(r),
			RetryAfter:    r.RetryAfter,
			HasRetryAfter: r.HasRetryAfter,
			Quota:         r.Quota,
		},
		r.Status,
	)
}

func unreachedOutcome(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// judge decides whether the request may be retried: always if it only reads, otherwise only if the provider did
// not process it.
func (x *proxyExchange) judge(o governor.Outcome, status int) governor.Outcome {
	reads := x.req.Method == http.MethodGet || x.req.Method == http.MethodHead
	again := x.whole && (reads || status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable)
	if !again && (o.Kind == governor.Throttled || o.Kind == governor.Failed) {
		x.final = true
		x.end(errFinalOutcome)
	}
	return o
}

func (x *proxyExchange) drop() {
	if x.answer != nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(x.answer.Body, 64<<10)) // so that its connection can be reused
		_ = x.answer.Body.Close()
		x.answer = nil
	}
}

// deliver writes the response to the program. It records the response first, because a program that has read it
// may exit.
func (p *Proxy) deliver(w http.ResponseWriter, x *proxyExchange, place int64) {
	defer x.answer.Body.Close()
	dropHopHeaders(x.answer.Header)
	for name, values := range x.answer.Header {
		w.Header()[name] = values
	}
	broke := p.seen.answered(x.id, x.answer.StatusCode, place)
	w.WriteHeader(x.answer.StatusCode)
	out := &writeTracker{w: w}
	_, err := io.Copy(out, x.answer.Body)
	if err != nil && !out.failed {
		broke() // a partial response counts as none
		panic(http.ErrAbortHandler)
	}
}

// writeTracker distinguishes a program that stopped reading from a provider that stopped writing.
type writeTracker struct {
	w      http.ResponseWriter
	failed bool
}

func (w *writeTracker) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	w.failed = w.failed || err != nil
	if f, ok := w.w.(http.Flusher); ok {
		f.Flush() // a program may wait for the first line
	}
	return n, err
}

// hopHeaders belong to one connection and are not passed on.
var hopHeaders = []string{
	"Connection",
	"Proxy-Connection",
	"Keep-Alive",
	"Proxy-Authenticate",
	"Proxy-Authorization",
	"Te",
	"Trailer",
	"Transfer-Encoding",
	"Upgrade",
}

func dropHopHeaders(h http.Header) {
	for _, name := range hopHeaders {
		h.Del(name)
	}
}
