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

	"pdpp/governor"
	"pdpp/governor/governhttp"
)

// maxRepeated is how large a body may be that is kept for a repetition.
const maxRepeated = 1 << 20

// errFinal ends a request that must not be repeated, whatever its outcome.
var errFinal = errors.New("the outcome is final")

// exchange is one request of the program and what becomes of it.
type exchange struct {
	p      *Proxy
	req    *http.Request
	id     identity
	body   []byte // kept for repetitions
	whole  bool   // body is all of it
	answer *http.Response
	lost   error // why the last attempt has no answer
	final  bool  // it must not be sent again
	end    context.CancelCauseFunc
}

// pass sends a request on, at the pace of its host.
func (p *Proxy) pass(w http.ResponseWriter, r *http.Request, scheme, host string) {
	place := p.place()
	p.seen.asked(place)
	way, ok := p.allowed(w, scheme, host)
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
	case r.Context().Err() != nil: // the program gave up
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

// exchange reads the request. A body within the bound is kept; what is larger is sent once.
func (p *Proxy) exchange(r *http.Request, scheme, host string) (*exchange, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRepeated+1))
	if err != nil {
		return nil, err
	}
	x := &exchange{p: p, body: body, whole: len(body) <= maxRepeated}
	x.req = r.Clone(r.Context())
	x.req.URL.Scheme, x.req.URL.Host, x.req.RequestURI = scheme, host, ""
	dropHopHeaders(x.req.Header)
	sum := sha256.New()
	sum.Write([]byte(x.req.URL.String() + "\n"))
	sum.Write(body)
	x.id = identity{r.Method, hex.EncodeToString(sum.Sum(nil))}
	return x, nil
}

// send has the request answered, and gives how long the program has to wait before it may ask
// again; zero when there is an answer, or none will come.
func (x *exchange) send(ctx context.Context, way *governhttp.Sender) time.Duration {
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
				return time.Second // the hold was over before its turn came
			}
			return 0
		case stopped.Attempts > 0 && (stopped.Kind != governor.Throttled || stopped.Reason == governor.RetriesExhausted):
			return 0 // the program gets what there is
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

// attempt makes one transmission. It is not cut short when the hold is over, since its answer is
// on the way.
func (x *exchange) attempt(ctx context.Context) governor.Outcome {
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
		return x.judge(governor.Outcome{Kind: governor.Failed, Unreached: unreached(x.lost)}, 0)
	}
	now := time.Now()
	r := &governhttp.Response{Status: x.answer.StatusCode, Quota: governhttp.ReadQuota(x.answer.Header, now)}
	r.RetryAfter, r.HasRetryAfter = governhttp.ReadRetryAfter(x.answer.Header, now)
	return x.judge(governor.Outcome{Kind: governhttp.Meaning(r), RetryAfter: r.RetryAfter, HasRetryAfter: r.HasRetryAfter, Quota: r.Quota}, r.Status)
}

func unreached(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// judge decides whether the request may be sent again: one that only reads always, another only
// when the provider refused to look at it.
func (x *exchange) judge(o governor.Outcome, status int) governor.Outcome {
	reads := x.req.Method == http.MethodGet || x.req.Method == http.MethodHead
	again := x.whole && (reads || status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable)
	if !again && (o.Kind == governor.Throttled || o.Kind == governor.Failed) {
		x.final = true
		x.end(errFinal)
	}
	return o
}

func (x *exchange) drop() {
	if x.answer != nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(x.answer.Body, 64<<10)) // so that its connection serves again
		_ = x.answer.Body.Close()
		x.answer = nil
	}
}

// deliver hands the answer to the program. It is noted before: a program that has read it to its end may
// end too, and ask for nothing more.
func (p *Proxy) deliver(w http.ResponseWriter, x *exchange, place int64) {
	defer x.answer.Body.Close()
	dropHopHeaders(x.answer.Header)
	for name, values := range x.answer.Header {
		w.Header()[name] = values
	}
	broke := p.seen.answered(x.id, x.answer.StatusCode, place)
	w.WriteHeader(x.answer.StatusCode)
	out := &written{w: w}
	_, err := io.Copy(out, x.answer.Body)
	if err != nil && !out.failed {
		broke() // half an answer is none
		panic(http.ErrAbortHandler)
	}
}

// written tells a program that stopped reading from a provider that stopped writing.
type written struct {
	w      http.ResponseWriter
	failed bool
}

func (w *written) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	w.failed = w.failed || err != nil
	if f, ok := w.w.(http.Flusher); ok {
		f.Flush() // a program that waits for the first line gets it
	}
	return n, err
}

// hopHeaders belong to one connection and are not passed on.
var hopHeaders = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func dropHopHeaders(h http.Header) {
	for _, name := range hopHeaders {
		h.Del(name)
	}
}
