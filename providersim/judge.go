package providersim

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Judgement is the gate's decision about a request that did not arrive over HTTP. The caller answers in its own
// protocol.
type Judgement struct {
	Kinds []Kind        // what applies, in its order
	Delay time.Duration // before anything is answered
	Drip  *Fault        // how slowly the answer goes out; nil when it does not
}

// Has reports whether a kind of fault applies.
func (j Judgement) Has(k Kind) bool { return slices.Contains(j.Kinds, k) }

// Judge counts a request for a path under its pattern and decides its fate.
func (g *Gate) Judge(path, pattern string) Judgement {
	r := &http.Request{URL: &url.URL{Path: path}}
	p := g.planRequest(r, pattern)
	defer g.countDeparture()
	status := http.StatusOK
	if p.answer != nil {
		status = p.answer.status
	}
	g.recordAnswer(r, status, &p)
	if p.limit != nil && !p.reset {
		g.announcementArrived() // nothing can be seen of this client
	}
	return Judgement{Kinds: p.kinds, Delay: p.delay, Drip: p.drip}
}
