package readapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/share/embedding"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
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
	Blobs blob.Storage
	// Meaning searches by meaning; nil means that it is turned off.
	Meaning *embedding.Searcher
	// IsOwner reports whether a request comes from the owner, who may read everything;
	// nil means that it never does.
	IsOwner func(*http.Request) (bool, error)
	// Metadata is the address of the metadata of these routes (RFC 9728), for the challenge; empty leaves it out.
	Metadata string
	// Strangers queues callers with a token that was not valid before; nil means a separate queue.
	Strangers *tokenqueue.Queue
	// Limits are those of each grant; the owner has none.
	Limits GrantLimits
	// Poll is how often a feed looks for changes; zero means every five seconds.
	Poll time.Duration
	// Ending is closed when the server ends, so that feeds do; nil means never.
	Ending <-chan struct{}
	// Now is nil for the real time.
	Now func() time.Time
	// Audit records refusals; nil disables it. Reads are recorded together with their count.
	Audit *audit.Trail
	// Log receives errors on our side. Nil discards them.
	Log *slog.Logger
}

// API answers the routes under /v1. It is safe for concurrent use.
type API struct{ api }

// Routes returns the addresses under /v1.
func Routes(c Config) []reply.Route { return New(c).Routes() }

// New returns the API of a configuration.
func New(c Config) *API {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Strangers == nil {
		c.Strangers = tokenqueue.NewQueue()
	}
	return &API{api{Config: c, limits: newLimiter(c.Limits, c.Now)}}
}

// Routes returns the addresses.
func (a *API) Routes() []reply.Route {
	feed := reply.Describe([]reply.Route{{Pattern: "GET /v1/changes", Handle: a.feed}}, operations)
	return append(a.routes(grants.APIAudience), feed...)
}

// Authorized answers requests of clients within the limits of their grants, like a read.
func (a *API) Authorized(h func(r *http.Request, who grants.Access) (answer any, err error)) http.HandlerFunc {
	return a.with(grants.APIAudience, h)
}

// AssistantRoutes returns the same addresses for the tools of assistants, with tokens that are for them.
func (a *API) AssistantRoutes() []reply.Route { return a.routes(grants.AssistantAudience) }

func (a *API) routes(audience grants.Audience) []reply.Route {
	with := func(h handler) http.HandlerFunc { return a.with(audience, h) }
	return reply.Describe([]reply.Route{
		{Pattern: "GET /v1/streams", Handle: with(a.streams)},
		{Pattern: "GET /v1/streams/{stream}", Handle: with(a.stream)},
		{Pattern: "GET /v1/streams/{stream}/records", Handle: with(a.records)},
		{Pattern: "GET /v1/streams/{stream}/aggregate", Handle: with(a.aggregate)},
		{Pattern: "GET /v1/streams/{stream}/records/{id...}", Handle: with(a.record)},
		{Pattern: "GET /v1/blobs/{sha256}", Handle: with(a.blob)},
		{Pattern: "GET /v1/search", Handle: with(a.search)},
		{Pattern: "GET /v1/search/semantic", Handle: with(a.searchBy(embedding.ByMeaning))},
		{Pattern: "GET /v1/search/hybrid", Handle: with(a.searchBy(embedding.ByBoth))},
		{Pattern: "GET /v1/schema", Handle: with(a.schemas)},
		{Pattern: "GET /v1/connectors", Handle: with(a.connectors)},
	}, operations)
}

// Admit returns who makes a request of an assistant, which then reads through these routes. It counts no read. The
// token of a grant that is over is invalid there, so that programs ask for a new one.
func (a *API) Admit(r *http.Request) (grants.Access, error) {
	token, err := bearer(r)
	if err == nil {
		err = grants.CheckAudience(token, grants.AssistantAudience)
	}
	if err != nil {
		return grants.Access{}, err
	}
	var who grants.Access
	if a.limits.reader(token) == nil {
		who, err = a.resolveToken(r, token)
	} else {
		who, err = a.Grants.Access(r.Context(), token)
	}
	if err == nil && who.SingleUse() {
		return who, grants.Refused(grants.CodeInsufficientScope, "",
			"The grant allows to read each stream once, and answers to assistants are too short for that.",
			"Read it with GET /v1/streams/{stream}/records, or ask for a continuous grant.")
	}
	var refused grants.Refusal
	if errors.As(err, &refused) && refused.Status == http.StatusForbidden {
		err = grants.Refused(grants.CodeInvalidToken, "", refused.Message, refused.Next)
	}
	return who, err
}

// Refuse answers a request that Admit rejected, and records it. The challenge names the metadata at an address.
func (a *API) Refuse(w http.ResponseWriter, r *http.Request, err error, metadata string) {
	r = r.WithContext(audit.WithActor(r.Context(), actor(r, grants.Access{})))
	a.noteRefusal(r, err)
	a.fail(w, r, err, metadata)
}

type api struct {
	Config
	limits *limiter
}

// handler answers a request with resolved access.
type handler func(r *http.Request, who grants.Access) (answer any, err error)

// with writes the handler's answer after it is complete. Every read passes here.
func (a *api) with(audience grants.Audience, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, who, err := a.answer(r, audience, h)
		if err != nil {
			r = r.WithContext(audit.WithActor(r.Context(), actor(r, who)))
			a.noteRefusal(r, err)
			a.fail(w, r, err, a.Metadata)
			return
		}
		if file, ok := answer.(*content); ok {
			file.serve(w, r)
			return
		}
		if reported, ok := answer.(interface {
			Completion() []grantview.Completeness
		}); ok {
			announce(w.Header(), reported.Completion())
		}
		reply.JSON(w, http.StatusOK, answer)
	}
}

// answer settles who asks, and lets the handler answer. The limits of a grant come before
// everything that costs the database something: only for the first read by a token is it
// looked up to find out that it is one.
func (a *api) answer(r *http.Request, audience grants.Audience, h handler) (answer any, who grants.Access,
	err error) {
	token, err := bearer(r)
	if err == nil {
		err = grants.CheckAudience(token, audience)
	}
	if err != nil {
		return nil, who, err
	}
	reader := a.limits.reader(token)
	if reader == nil {
		if who, err = a.resolveToken(r, token); err != nil {
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
		return h(r.WithContext(audit.WithActor(r.Context(), actor(r, who))), who)
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

// resolveToken resolves a token that has not been used here. It tries grants first.
func (a *api) resolveToken(r *http.Request, token string) (who grants.Access, err error) {
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
	if errors.Is(err, tokenqueue.ErrQueueFull) {
		return who, queueFull()
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
		if errors.Is(err, tokenqueue.ErrQueueFull) {
			return grants.Access{}, queueFull()
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

func (a *api) fail(w http.ResponseWriter, r *http.Request, err error, metadata string) {
	var refused grants.Refusal
	if !errors.As(err, &refused) {
		a.Log.ErrorContext(r.Context(), "a read failed", "request_id", reply.RequestID(r.Context()), "route", r.Pattern,
			"error", err)
		reply.Error(w, r, http.StatusInternalServerError, reply.TypeAPI, "internal_error",
			"Something went wrong here. The log has more under the request id.")
		return
	}
	if refused.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", challenge(refused.Code, metadata))
	}
	if refused.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(refused.RetryAfter.Seconds())))
	}
	reply.WriteFailure(w, r, reply.TypeOf(refused.Status), refused.UserError)
}

// challenge returns the challenge to a caller without a valid token (RFC 6750, RFC 9728).
func challenge(code, metadata string) string {
	var parts []string
	if metadata != "" {
		parts = append(parts, `resource_metadata="`+metadata+`"`)
	}
	if code == grants.CodeInvalidToken {
		parts = append(parts, `error="invalid_token"`)
	}
	return strings.TrimSpace("Bearer " + strings.Join(parts, ", "))
}
