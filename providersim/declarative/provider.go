package declarative

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
	"github.com/pdpp-go/pdpp/providersim"
)

// Options describe the account that New invents.
type Options struct {
	Description *describe.Description
	Config      expression.Value // the settings of the document, as the connector gets them
	Now         time.Time        // the newest records are a little older; zero means the time of the call
	Seed        uint64           // equal seeds and times make equal accounts
}

// Provider is the simulated provider of a document. It is safe for concurrent use.
type Provider struct {
	config      expression.Value
	now         time.Time
	seed        uint64
	gate        *providersim.Gate
	api         http.Handler
	bySignature map[string][]*endpoint
	byStream    map[*document.Stream]*endpoint

	mu        sync.Mutex
	signIns   map[string]*signIn
	count     int // rows
	endpoints []*endpoint
	unknown   []string // requests that fit no stream
}

// New invents the account of a document.
func New(o Options) *Provider {
	p := &Provider{config: o.Config, now: o.Now.UTC(), seed: o.Seed, bySignature: map[string][]*endpoint{},
		byStream: map[*document.Stream]*endpoint{}, signIns: map[string]*signIn{},
		gate: providersim.NewGate(providersim.GateOptions{})}
	if o.Now.IsZero() {
		p.now = time.Now().UTC()
	}
	p.applyRules(o.Description.Document.Spec)
	for i := range o.Description.Streams {
		s := &o.Description.Streams[i]
		p.addStream(s.Document, s)
	}
	for _, e := range p.endpoints {
		e.load()
		for _, r := range e.readers {
			p.addSignIns(r.Retriever.Requester.Authenticator)
		}
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/", p.serve)
	p.api = p.gate.Wrap(routes)
	return p
}

// Handler serves the provider's API.
func (p *Provider) Handler() http.Handler { return p.api }

// Gate returns the gate, which has faults and counters.
func (p *Provider) Gate() *providersim.Gate { return p.gate }

// Truth returns the records that the streams of the document must have, by stream and key.
func (p *Provider) Truth() providersim.Truth {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := providersim.Truth{}
	for _, e := range p.endpoints {
		for _, r := range e.readers {
			if r.described == nil {
				continue
			}
			items := map[string]providersim.Item{}
			for _, part := range e.partitions {
				for _, row := range part.rows {
					record, ok := e.expected(r, part, row)
					if !ok {
						continue
					}
					if key, stored, ok := keyOf(r.described, record); ok {
						items[key] = providersim.Item{Data: stored}
					}
				}
			}
			out[r.described.ID] = items
		}
	}
	return out
}

// Traffic is what a stream asked for.
type Traffic struct {
	Requests int
	Pages    int // different pages
	Repeated int // pages that were asked for again
	// Simple is why the answers have fewer pages than the document can read, or "".
	Simple string
}

// Traffic returns what the streams asked for, by the name in the manifest. Streams with equal requests share it.
func (p *Provider) Traffic() map[string]Traffic {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]Traffic{}
	for _, e := range p.endpoints {
		for _, r := range e.readers {
			if r.described != nil {
				out[r.described.ID] = Traffic{e.requests, e.pages, e.repeated, e.problem}
			}
		}
	}
	return out
}

// Volatile returns the added fields that depend on the time of a run, by the stream's name in the manifest.
func (p *Provider) Volatile() map[string][]string {
	out := map[string][]string{}
	for _, e := range p.endpoints {
		for _, r := range e.readers {
			if r.described == nil {
				continue
			}
			for _, c := range r.Transformations {
				add, ok := c.(*document.AddFields)
				if !ok {
					continue
				}
				for _, f := range add.Fields {
					if clock.MatchString(f.Value.Source()) && len(f.Path) > 0 {
						out[r.described.ID] = append(out[r.described.ID], p.text(f.Path[0], f))
					}
				}
			}
		}
	}
	return out
}

// clock finds the functions that read the clock.
var clock = regexp.MustCompile(`\b(now_utc|today_utc|day_delta|today_with_timezone|generate_uuid)\b`)

// Unknown returns requests that fit no stream of the document, without values.
func (p *Provider) Unknown() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.unknown...)
}

// ForgetTraffic puts the counters to zero.
func (p *Provider) ForgetTraffic() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unknown = nil
	for _, e := range p.endpoints {
		e.requests, e.pages, e.repeated = 0, 0, 0
		for _, part := range e.partitions {
			part.served = map[string]int{}
		}
	}
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in, err := arrived(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if p.serveSignIn(w, r.Method, in) {
		return
	}
	e, part := p.find(r.Method, in)
	if e == nil {
		p.unknown = append(p.unknown, r.Method+" "+r.URL.Path+" "+placesOf(in))
		refuse(w, http.StatusNotFound, "no stream of the document asks for this")
		return
	}
	e.requests++
	if !e.authorized(in) {
		refuse(w, http.StatusUnauthorized, "the credential is not the one of the settings")
		return
	}
	e.answer(w, r, part, in)
}

func placesOf(in flat) string {
	var names []string
	for place := range in.values {
		if place[0] != 'h' && place[0] != 'p' {
			names = append(names, place)
		}
	}
	return strings.Join(names, " ")
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(map[string]string{"error": text}))
}

// find returns the endpoint and the partition that a request asks for.
func (p *Provider) find(method string, in flat) (*endpoint, *partition) {
	if marker := in.values["q:"+markerName]; marker != "" {
		numbers := markerNumbers(marker)
		if len(numbers) == 3 && numbers[0] < len(p.endpoints) && numbers[1] < len(p.endpoints[numbers[0]].partitions) {
			e := p.endpoints[numbers[0]]
			return e, e.partitions[numbers[1]]
		}
	}
	var found *endpoint
	var of *partition
	best := -1
	for _, e := range p.endpoints {
		for _, part := range e.partitions {
			if n := part.shape.mismatch(method, in); n >= 0 && (best < 0 || n < best) {
				found, of, best = e, part, n
			}
		}
	}
	return found, of
}

func markerNumbers(marker string) []int {
	var out []int
	for _, text := range strings.Split(marker, ".") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// maxRepeats is how often a page is sent. A client that does not stop asking for it would never end.
const maxRepeats = 200

// answer sends a page of a partition.
func (e *endpoint) answer(w http.ResponseWriter, r *http.Request, part *partition, in flat) {
	filter := part.shape.filterOf(in)
	var rows []*placed
	for i, row := range part.rows {
		if filter.admits(row.at) {
			rows = append(rows, &placed{row, i})
		}
	}
	k := 1
	if marker := markerNumbers(in.values["q:"+markerName]); len(marker) == 3 {
		k = marker[2]
	} else if token := part.shape.tokenIn(in); token != part.shape.tokenIn(part.shape.first) {
		if k = part.issued[filter.id+"\x00"+token]; k == 0 {
			refuse(w, http.StatusBadRequest, "this page was not announced")
			return
		}
	}
	own, f := e.pageOf(rows, k)
	index := 0
	for i, other := range e.p.endpoints {
		if other == e {
			index = i
		}
	}
	e.address(&f, e.publicAddress(r, part), fmt.Sprintf("%d.%d.%d", index, part.index, k+1))
	body, header := e.answerBody(part, own, f)
	if token := e.nextToken(body, header, own, f); !token.IsNull() {
		one, _ := e.p.sampleWindows()
		part.issued[filter.id+"\x00"+part.shape.tokenIn(e.evaluate(part, one, token))] = k + 1
	}
	served := fmt.Sprint(filter.id, "\x00", k)
	part.served[served]++
	switch n := part.served[served]; {
	case n > maxRepeats:
		refuse(w, http.StatusBadRequest, "this page was asked for too often")
		return
	case n > 1:
		e.repeated++
	default:
		e.pages++
	}
	for name, values := range header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// publicAddress returns the address of a request as if it had gone to the host of the document.
func (e *endpoint) publicAddress(r *http.Request, part *partition) string {
	q := e.primary().Retriever.Requester
	c := e.p.context(q)
	c.Set(expression.StreamSlice, part.slice)
	host := address(&document.Requester{Base: q.Base, URL: q.URL, URLBase: q.URLBase}, c)
	if i := strings.Index(host, "://"); i >= 0 {
		if end := strings.IndexAny(host[i+3:], "/?"); end >= 0 {
			host = host[:i+3+end]
		}
	}
	query := r.URL.Query()
	for _, name := range append([]string{markerName}, addressNames...) {
		if _, first := part.shape.first.values["q:"+name]; !first || part.shape.token["q:"+name] {
			query.Del(name)
		}
	}
	out := host + r.URL.Path
	if len(query) > 0 {
		out += "?" + query.Encode()
	}
	return out
}
