package oauth

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

// Config is what the routes are made of.
type Config struct {
	Grants *grants.Service
	// Issuer is the address by which apps know this server, with no slash at its end.
	Issuer string
	// IsOwnerToken reports whether a token is one of the owner's; nil means that none is.
	IsOwnerToken func(r *http.Request, token string) (bool, error)
	// Strangers queues callers that present a code or a token; nil means a separate queue.
	Strangers *tokenqueue.Queue
	// Log receives errors on our side. Nil discards them.
	Log *slog.Logger
}

// now is the clock of the grants. It is not needed to list the routes.
func (c Config) now() time.Time { return c.Grants.Now() }

// Routes returns the addresses for apps. None of them uses the owner's session: only the consent page does.
func Routes(c Config) []reply.Route {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Strangers == nil {
		c.Strangers = tokenqueue.NewQueue()
	}
	s := &server{Config: c, allowances: newAllowances(c.now)}
	return reply.Describe([]reply.Route{
		{Pattern: "GET /.well-known/oauth-authorization-server", Handle: s.serverMetadata},
		{Pattern: "GET /.well-known/oauth-protected-resource", Handle: s.resourceMetadata},
		{Pattern: "GET /.well-known/oauth-protected-resource/mcp", Handle: s.assistantMetadata},
		{Pattern: "POST /oauth/register", Handle: s.register},
		{Pattern: "POST /oauth/par", Handle: s.push},
		{Pattern: "GET /oauth/authorize", Handle: s.authorize},
		{Pattern: "POST /oauth/token", Handle: s.token},
		{Pattern: "POST /oauth/revoke", Handle: s.revoke},
		{Pattern: "POST /introspect", Handle: s.introspect},
	}, operations)
}

type server struct {
	Config
	allowances *allowances
}

// ErrorAnswer is an error in the form of the RFCs of OAuth.
type ErrorAnswer struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

// codes are the names that OAuth has for refusals; every other is invalid_request.
var codes = map[string]string{
	grants.CodeInvalidClient:   "invalid_client",
	grants.CodeInvalidRedirect: "invalid_redirect_uri",
	grants.CodeInvalidDetails:  "invalid_authorization_details",
	grants.CodeInvalidGrant:    "invalid_grant",
	grants.CodeUnknownField:    "invalid_authorization_details",
	grants.CodeInvalidTarget:   "invalid_target",
}

// codeOf returns the name that OAuth has for a refusal.
func codeOf(refused grants.Refusal) string {
	if code, ok := codes[refused.Code]; ok {
		return code
	}
	return "invalid_request"
}

// fail answers with what was refused, and hides what is our own fault.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, tokenqueue.ErrQueueFull) {
		tooMany(w, 0)
		return
	}
	var refused grants.Refusal
	if !errors.As(err, &refused) {
		s.Log.ErrorContext(r.Context(), "a request of an app failed", "request_id", reply.RequestID(r.Context()), "route",
			r.Pattern, "error", err)
		writeOAuthError(w, http.StatusInternalServerError, "server_error", "Something went wrong here.")
		return
	}
	status := http.StatusBadRequest
	if refused.Code == grants.CodeInvalidClient {
		status = http.StatusUnauthorized
	}
	writeOAuthError(w, status, codeOf(refused), refused.Message)
}

// writeOAuthError writes an OAuth error. Answers to apps must not be cached.
func writeOAuthError(w http.ResponseWriter, status int, code, description string) {
	answer(w, status, ErrorAnswer{Error: code, Description: description})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	reply.JSON(w, status, value)
}
