package rest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Object is a JSON object.
type Object = map[string]any

// Options describe a provider. Only Token is required.
type Options struct {
	Seed       uint64
	Token      string           // the first access token, API key or password
	Scopes     []string         // scopes of a new token
	Now        func() time.Time // clock of limits and of the Date header; nil means the wall clock
	Clock      time.Time        // logical time of the data at the start; zero means that the data uses Now
	Tick       time.Duration    // how far each operation moves the logical time
	Credential Credential       // where a request carries its credential; nil means [Bearer]
	ETags      bool             // answers have an ETag, and a request with the same one gets 304
	Latency    time.Duration    // delay of every answer

	// Errors renders refusals; nil means {"error": "<problem>"} with the usual status.
	Errors func(Refusal) Answer
	// Limit counts requests after the credential was accepted. Quota, if set, replaces it: it may write headers and
	// reports whether the request is within the provider's limits.
	Limit Limit
	Quota func(h http.Header) bool
	// Guard checks an accepted request before its route; an answer with a status is sent in the route's place.
	Guard func(*http.Request) Answer
	// After sees every answer before it is sent and may add headers.
	After func(r *http.Request, status int, h http.Header)

	// Truth adds what is in no [Collection].
	Truth func(add AddTruth)
}

// NoRow is the result of an operation that found no row to change; [Service.Mutate] then returns an error.
const NoRow = "no row"

// AddTruth adds one item to the ground truth.
type AddTruth func(stream, key string, data Object, deleted bool)

// Service is one simulated account of a provider with a REST API. Routes, operations and Truth run one at a time.
type Service struct {
	*providersim.Account
	Store
	// Operations are the mutations of the control port. A mutation runs its operation N times. An operation returns
	// the id of the changed row. Settings run once, with N, and Switches with the ID of a mutation.
	Operations map[string]func() string
	Settings   map[string]func(n int)
	Switches   map[string]func(id string)

	Random *rand.Rand
	Limit  Limit
	Epoch  int // cursors of an earlier epoch have ended

	options     Options
	signer      providersim.Signer
	routes      *http.ServeMux
	collections []*Collection

	mu      sync.Mutex
	clock   time.Time
	lastID  int
	served  int // pages of lists with gaps
	refused int
	edited  map[any]bool // elements that the current mutation has edited
	consent consentState
}

var _ providersim.Simulator = (*Service)(nil)

// New returns a service without data. [Service.Open] adds collections, [Service.Handle] further routes.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Credential == nil {
		o.Credential = Bearer
	}
	if o.Errors == nil {
		o.Errors = defaultErrors
	}
	s := &Service{options: o, Store: newStore(), Random: rand.New(rand.NewPCG(o.Seed, 3)), Limit: o.Limit,
		signer: providersim.NewSigner(o.Token), routes: http.NewServeMux(), clock: o.Clock, edited: map[any]bool{}}
	tokens := providersim.NewTokens(o.Token, o.Scopes...)
	s.Account = providersim.NewAccount(tokens, providersim.GateOptions{Now: o.Now, Latency: o.Latency,
		ErrorBody: func(code string) []byte { return o.Errors(Refusal{Problem: Problem(code)}).encode() },
		Label:     func(r *http.Request) string { return tokens.Label("Bearer " + o.Credential(r)) }})
	s.Mount(s.routes)
	s.Handle("/", "", func(r *http.Request) Answer { return s.Refuse(r, NoRoute, "") })
	return s
}

// Do runs f while no route and no operation runs.
func (s *Service) Do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Now returns the time of the provider's clock.
func (s *Service) Now() time.Time { return s.options.Now() }

// Clock returns the time of the data.
func (s *Service) Clock() time.Time {
	if s.clock.IsZero() {
		return s.options.Now()
	}
	return s.clock
}

// Advance moves the logical time of the data and returns it.
func (s *Service) Advance(d time.Duration) time.Time {
	s.clock = s.clock.Add(d)
	return s.clock
}

// NextID returns a number that no row of the account has.
func (s *Service) NextID() int {
	s.lastID++
	return s.lastID
}

// UUID returns a number in the form of a UUID.
func UUID(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(n*2654435761), n) }

// Handle serves a route. The request needs an active credential with the scope; an empty scope asks for any.
func (s *Service) Handle(pattern, scope string, serve func(*http.Request) Answer) {
	s.handle(pattern, func(w http.ResponseWriter, r *http.Request) Answer {
		if refusal := s.admit(r, scope, w.Header()); refusal.Status != 0 {
			return refusal
		}
		return serve(r)
	})
}

// HandleOpen serves a route that needs no credential and counts against no limit.
func (s *Service) HandleOpen(pattern string, serve func(*http.Request) Answer) {
	s.handle(pattern, func(_ http.ResponseWriter, r *http.Request) Answer { return serve(r) })
}

func (s *Service) handle(pattern string, serve func(http.ResponseWriter, *http.Request) Answer) {
	s.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		status, body := serve(w, r).render(r, w.Header(), s.options.ETags)
		if s.options.After != nil {
			s.options.After(r, status, w.Header())
		}
		w.WriteHeader(status)
		_, _ = w.Write(body) // the gate keeps it
	})
}

// admit checks who sends a request and how often. An answer without a status admits it.
func (s *Service) admit(r *http.Request, scope string, h http.Header) Answer {
	switch s.Tokens.Check("Bearer "+s.options.Credential(r), scope) {
	case providersim.TokenActive:
	case providersim.TokenUnderScoped:
		return s.Refuse(r, NoScope, scope)
	case providersim.TokenExpired:
		return s.Refuse(r, ExpiredToken, "")
	case providersim.TokenMissing:
		return s.Refuse(r, NoToken, "")
	default:
		return s.Refuse(r, BadToken, "")
	}
	allowed := false
	if s.options.Quota != nil {
		allowed = s.options.Quota(h)
	} else {
		allowed = s.Limit.spend(s.Now(), r, h)
	}
	if !allowed {
		s.refused++
		return s.Refuse(r, RateLimited, "")
	}
	if s.options.Guard != nil {
		return s.options.Guard(r)
	}
	return Answer{}
}

// Refuse renders a refusal as the provider does.
func (s *Service) Refuse(r *http.Request, p Problem, name string) Answer {
	return s.options.Errors(Refusal{Problem: p, Name: name, Request: r, Nth: s.refused})
}

// HasScope reports whether the credential of a request has a scope.
func (s *Service) HasScope(r *http.Request, scope string) bool {
	return s.Tokens.Check("Bearer "+s.options.Credential(r), scope) == providersim.TokenActive
}

// Mutate runs an operation N times, or a setting once. Every collection has the operations add_X, late_X, change_X
// and delete_X, where X is its stream.
func (s *Service) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := providersim.Mutated{Op: m.Op}
	if set, named := s.Switches[m.Op]; named {
		set(m.ID)
		out.Now = s.Clock()
		return out, nil
	}
	if m.N < 1 || m.N > 100_000 {
		return out, fmt.Errorf("mutation %s: n must be 1 to 100000", m.Op)
	}
	s.edited = map[any]bool{}
	operate, known := s.Operations[m.Op]
	if set, setting := s.Settings[m.Op]; setting {
		set(m.N)
		m.N = 0
	} else if !known {
		if operate = s.collectionOperation(m.Op); operate == nil {
			return out, fmt.Errorf("unknown mutation %q", m.Op)
		}
	}
	for range m.N {
		s.clock = s.clock.Add(s.options.Tick)
		id := operate()
		if id == NoRow {
			return out, fmt.Errorf("mutation %s: no row fits", m.Op)
		}
		out.IDs = append(out.IDs, id)
	}
	out.Now = s.Clock()
	return out, nil
}

// Truth returns everything that exists now, as the API serves it.
func (s *Service) Truth() providersim.Truth {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := providersim.Truth{}
	add := func(stream, key string, data Object, deleted bool) {
		if t[stream] == nil {
			t[stream] = map[string]providersim.Item{}
		}
		t[stream][key] = providersim.Item{Data: providersim.EncodeJSON(data), Deleted: deleted}
	}
	for _, c := range s.collections {
		for _, row := range s.Rows[c.Stream] {
			if !row.Ghost {
				add(c.Stream, row.ID, c.Show(row), row.Gone)
			}
		}
	}
	if s.options.Truth != nil {
		s.options.Truth(add)
	}
	return t
}
