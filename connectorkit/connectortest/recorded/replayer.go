package recorded

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Replayer answers from a recording. It takes the place of
// connectorkit.Process.Transport.
type Replayer struct {
	hide *redaction

	mu      sync.Mutex
	left    map[Request][]Answer
	order   []Request
	asked   int
	unknown error
	strayed func() // called at the first request that was not recorded
}

// newReplayer serves the recording to a connector with placeholders as secrets.
func newReplayer(r *Recording, strayed func()) *Replayer {
	p := &Replayer{hide: &redaction{pairs: strings.NewReplacer()}, left: map[Request][]Answer{}, strayed: strayed}
	for _, e := range r.Exchanges {
		p.left[e.Request] = append(p.left[e.Request], e.Answer)
		p.order = append(p.order, e.Request)
	}
	return p
}

// RoundTrip returns the next recorded answer to the request.
func (p *Replayer) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := requestBody(req)
	if err != nil {
		return nil, err
	}
	asked := p.hide.redactRequest(req, sent)
	p.mu.Lock()
	defer p.mu.Unlock()
	answers := p.left[asked]
	if len(answers) == 0 {
		if p.unknown == nil {
			p.unknown = p.explainMissing(asked)
			p.strayed()
		}
		return nil, p.unknown
	}
	p.asked++
	p.left[asked] = answers[1:]
	body, err := answers[0].decodeBody()
	if err != nil {
		return nil, fmt.Errorf("recorded answer to %s: %w", asked, err)
	}
	return &http.Response{
		StatusCode: answers[0].Status, Status: fmt.Sprintf("%d %s", answers[0].Status, http.StatusText(answers[0].Status)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: answers[0].Header.Clone(),
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}

// explainMissing returns an error with the missing request and what the recording has instead.
func (p *Replayer) explainMissing(asked Request) error {
	if _, known := p.left[asked]; known {
		return fmt.Errorf("the connector asked more often than recorded:\n\t%s\nrecord again with -record if that is right",
			asked)
	}
	var near []string
	for _, r := range p.order {
		if addressPath(r.URL) == addressPath(asked.URL) {
			near = append(near, "\t"+r.String())
		}
	}
	has := "the recording has nothing of that address"
	if len(near) > 0 {
		has = "the recording has of that address:\n" + strings.Join(near, "\n")
	}
	return fmt.Errorf("the connector asked something that is not recorded:\n\t%s\n%s\n"+
		"record again with -record if that is right", asked, has)
}

func addressPath(address string) string {
	before, _, _ := strings.Cut(address, "?")
	return before
}

// unusedExchanges names what was recorded and never asked for.
func (p *Replayer) unusedExchanges() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var texts []string
	for _, r := range p.order {
		if len(p.left[r]) > 0 {
			texts = append(texts, r.String())
			p.left[r] = p.left[r][1:]
		}
	}
	return texts
}
