package readapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/strangers"
)

// Store is what is read.
type Store interface {
	store.Records
	store.Blobs
}

// Config is what the routes are made of.
type Config struct {
	Grants  *grants.Service
	Cursors *grants.Cursors
	Store   Store
	// Blobs is where the files of records are; nil means that there are none.
	Blobs blob.Place
	// IsOwner reports whether a request comes from the owner, who may read everything;
	// nil means that it never does.
	IsOwner func(*http.Request) (bool, error)
	// Strangers is where those wait whose token was not good before; nil means a line of
	// these routes' own.
	Strangers *strangers.Line
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
	if c.Strangers == nil {
		c.Strangers = strangers.NewLine()
	}
	a := &api{Config: c, limits: newLimiter(c.Limits, c.Now)}
	return []reply.Route{
		{Pattern: "GET /v1/streams", Handle: a.with(a.streams)},
		{Pattern: "GET /v1/streams/{stream}", Handle: a.with(a.stream)},
		{Pattern: "GET /v1/streams/{stream}/records", Handle: a.with(a.records)},
		{Pattern: "GET /v1/streams/{stream}/aggregate", Handle: a.with(a.aggregate)},
		{Pattern: "GET /v1/streams/{stream}/records/{id...}", Handle: a.with(a.record)},
		{Pattern: "GET /v1/blobs/{sha256}", Handle: a.with(a.blob)},
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

// with writes what the handler gives: nothing is written before all of it is known. Every
// read passes here.
func (a *api) with(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, who, err := a.answer(r, h)
		if err != nil {
			r = r.WithContext(audit.With(r.Context(), actor(r, who)))
			a.noteRefusal(r, err)
			a.fail(w, r, err)
			return
		}
		if file, ok := answer.(*content); ok {
			file.serve(w, r)
			return
		}
		if told, ok := answer.(interface {
			Completion() []grantview.Completeness
		}); ok {
			announce(w.Header(), told.Completion())
		}
		reply.JSON(w, http.StatusOK, answer)
	}
}

// answer settles who asks, and lets the handler answer. The limits of a grant come before
// everything that costs the database something: only for the first read by a token is it
// looked up to find out that it is one.
func (a *api) answer(r *http.Request, h handler) (answer any, who grants.Access, err error) {
	token, err := bearer(r)
	if err != nil {
		return nil, who, err
	}
	reader := a.limits.reader(token)
	if reader == nil {
		if who, err = a.newcomer(r, token); err != nil {
			return nil, who, err
		}
		if who.Grant() == nil {
			answer, err = h(r, who)
			return answer, who, err
		}
		reader = a.limits.remember(token)
	}
	answer, err = a.bounded(r, reader, func(r *http.Request) (any, error) {
		if who, err = a.Grants.Access(r.Context(), token); err != nil {
			return nil, err
		}
		return h(r.WithContext(audit.With(r.Context(), actor(r, who))), who)
	})
	return answer, who, err
}

// bearer is the token that a request shows.
func bearer(r *http.Request) (string, error) {
	if headers := r.Header.Values("Authorization"); len(headers) > 1 {
		return "", grants.Refused(grants.CodeUnauthenticated, "", "There is more than one Authorization header.", "Send one.")
	}
	return grants.Bearer(r.Header.Get("Authorization"))
}

// newcomer finds out whose a token is that has not been read by. It takes it for a
// grant's before anything else: whoever shows one reads by it.
func (a *api) newcomer(r *http.Request, token string) (who grants.Access, err error) {
	if !grants.IsToken(token) {
		return a.owner(r)
	}
	var refusal error
	err = a.Strangers.LookUp(r, token, func(ctx context.Context) (bool, error) {
		who, refusal = a.Grants.Access(ctx, token)
		if known := (grants.Refusal{}); refusal != nil && !errors.As(refusal, &known) {
			return false, refusal
		}
		return refusal == nil, nil
	})
	if errors.Is(err, strangers.ErrCrowded) {
		return who, crowded()
	}
	if err != nil {
		return who, err
	}
	return who, refusal
}

// owner lets the owner's token read everything.
func (a *api) owner(r *http.Request) (grants.Access, error) {
	if a.IsOwner != nil {
		owner, err := a.IsOwner(r)
		if errors.Is(err, strangers.ErrCrowded) {
			return grants.Access{}, crowded()
		}
		if err != nil {
			return grants.Access{}, err
		}
		if owner {
			return grants.OwnerAccess(), nil
		}
	}
	return grants.Access{}, grants.UnknownToken()
}

// bounded answers a client within the limits of its grant, by readers that owners do
// not wait for.
func (a *api) bounded(r *http.Request, by *reader, read func(*http.Request) (any, error)) (answer any, err error) {
	done, err := a.limits.begin(by)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(store.ForClient(r.Context()), a.limits.Deadline)
	defer cancel()
	select {
	case by.turn <- struct{}{}:
		defer func() { <-by.turn }()
		answer, err = read(r.WithContext(ctx))
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && r.Context().Err() == nil {
		return nil, errDeadline(a.limits.Deadline)
	}
	return answer, err
}

func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refused grants.Refusal
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
	reply.Fail(w, r, kind, refused.Fault)
}
