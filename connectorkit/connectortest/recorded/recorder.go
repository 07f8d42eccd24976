package recorded

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Recorder passes requests on and keeps each with its answer, without secrets. It
// takes the place of connectorkit.Process.Transport.
type Recorder struct {
	next http.RoundTripper
	hide *redaction

	mu        sync.Mutex
	exchanges []Exchange
}

// RoundTrip sends the request and records the whole answer.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // the body is read; an error here changes nothing
	if err != nil {
		return nil, fmt.Errorf("read the answer to record it: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = append(r.exchanges, Exchange{r.hide.redactRequest(req, body), r.hide.redactAnswer(resp, answer)})
	return resp, nil
}

// requestBody reads a request's body and leaves the request as it was.
func requestBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close() // as above
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}
