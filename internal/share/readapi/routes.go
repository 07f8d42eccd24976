package readapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"pdpp/internal/keep/audit"
	"pdpp/internal/keep/store"
	"pdpp/internal/share/grants"
	"pdpp/internal/web/reply"
)

// Store is what is read.
type Store interface {
	store.Records
	ListRuns(ctx context.Context, q store.RunQuery) ([]store.Run, error)
}

// Config is what the routes are made of.
type Config struct {
	Book    *grants.Book
	Cursors *grants.Cursors
	Store   Store
	// IsOwner reports whether a request comes from the owner, who may read everything;
	// nil means that it never does.
	IsOwner func(*http.Request) bool
	// Limits are those of each grant; the owner has none.
	Limits Limits
	// Now is nil for the real time.
	Now func() time.Time
	// Audit is told what was refused; nil means nobody. What is read is written down
	// together with its count.
	Audit *audit.Trail
	// Log gets what goes wrong on our side; nil means nobody.
	Log *slog.Logger
}

// Routes gives the addresses under /v1.
func Routes(c Config) []reply.Route {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	a := &api{Config: c, limits: newLimiter(c.Limits, c.Now)}
	return []reply.Route{
		{Pattern: "GET /v1/streams", Handle: a.with(a.streams)},
		{Pattern: "GET /v1/streams/{stream}", Handle: a.with(a.stream)},
		{Pattern: "GET /v1/streams/{stream}/records", Handle: a.with(a.records)},
		{Pattern: "GET /v1/streams/{stream}/records/{id...}", Handle: a.with(a.record)},
		{Pattern: "GET /v1/search", Handle: a.with(a.search)},
		{Pattern: "GET /v1/schema", Handle: a.with(a.schemas)},
		{Pattern: "GET /v1/connectors", Handle: a.with(a.connectors)},
	}
}

type api struct {
	Config
	limits *limiter
}

// handler answers for somebody whose access is settled.
type handler func(r *http.Request, who grants.Access) (answer any, err error)

// with settles who asks, and writes what the handler gives: nothing is written before
// all of it is known. Every read passes here.
func (a *api) with(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := a.who(r)
		r = r.WithContext(audit.With(r.Context(), actor(r, who)))
		var answer any
		switch {
		case err != nil:
		case who.Grant() != nil:
			answer, err = a.bounded(r, who, h)
		default:
			answer, err = h(r, who)
		}
		if err != nil {
			a.noteRefusal(r, err)
			a.fail(w, r, err)
			return
		}
		reply.JSON(w, http.StatusOK, answer)
	}
}

// bounded answers a client within the limits of its grant, by readers that owners do
// not wait for.
func (a *api) bounded(r *http.Request, who grants.Access, h handler) (answer any, err error) {
	turn, done, err := a.limits.begin(who.ID())
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(store.ForClient(r.Context()), a.limits.Deadline)
	defer cancel()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
		answer, err = h(r.WithContext(ctx), who)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && r.Context().Err() == nil {
		return nil, errDeadline(a.limits.Deadline)
	}
	return answer, err
}

// who takes a grant's token before anything else: whoever shows one reads by it. It is
// not looked up by the readers of clients, where slow reads of one grant would keep the
// others from even being refused.
func (a *api) who(r *http.Request) (grants.Access, error) {
	if headers := r.Header.Values("Authorization"); len(headers) > 1 {
		return grants.Access{}, grants.Refused(grants.CodeUnauthenticated, "", "There is more than one Authorization header.", "Send one.")
	}
	token, err := grants.Bearer(r.Header.Get("Authorization"))
	if err == nil {
		who, refusal := a.Book.Access(r.Context(), token)
		if !errors.Is(refusal, &grants.Error{Code: grants.CodeInvalidToken}) {
			return who, refusal
		}
		err = refusal
	}
	if a.IsOwner != nil && a.IsOwner(r) {
		return grants.OwnerAccess(), nil
	}
	return grants.Access{}, err
}

func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refused *grants.Error
	if !errors.As(err, &refused) {
		a.Log.ErrorContext(r.Context(), "a read failed", "request_id", reply.RequestID(r.Context()), "route", r.Pattern, "error", err)
		reply.Error(w, r, http.StatusInternalServerError, reply.TypeAPI, "internal_error", "Something went wrong here. The log has more under the request id.")
		return
	}
	kind := reply.TypeInvalidRequest
	switch refused.Status {
	case http.StatusUnauthorized:
		kind = reply.TypeAuthentication
		challenge := "Bearer"
		if refused.Code == grants.CodeInvalidToken {
			challenge += ` error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	case http.StatusForbidden:
		kind = reply.TypePermission
	case http.StatusTooManyRequests:
		kind = reply.TypeRateLimit
	case http.StatusServiceUnavailable:
		kind = reply.TypeAPI
	}
	if refused.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(refused.RetryAfter.Seconds())))
	}
	reply.Fail(w, r, refused.Status, reply.Problem{Type: kind, Code: refused.Code, Message: refused.Message, Next: refused.Next, Param: refused.Param})
}
