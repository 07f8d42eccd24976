package oauth

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/web/reply"
	"github.com/pdpp-go/pdpp/internal/web/strangers"
)

// Config is what the routes are made of.
type Config struct {
	Grants *grants.Service
	// Issuer is the address by which apps know this server, with no slash at its end.
	Issuer string
	// IsOwnerToken reports whether a token is one of the owner's; nil means that none is.
	IsOwnerToken func(r *http.Request, token string) (bool, error)
	// Strangers is where everybody waits who shows a code or a token here; nil means a line
	// of these routes' own.
	Strangers *strangers.Line
	// Log gets what goes wrong on our side; nil means nobody.
	Log *slog.Logger
}

// now is the clock of the grants; a table of routes alone needs none.
func (c Config) now() time.Time { return c.Grants.Now() }

// Routes gives the addresses for apps. None of them acts with the owner's session: the
// consent page does.
func Routes(c Config) []reply.Route {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Strangers == nil {
		c.Strangers = strangers.NewLine()
	}
	s := &server{Config: c, allowances: newAllowances(c.now)}
	return []reply.Route{
		{Pattern: "GET /.well-known/oauth-authorization-server", Handle: s.serverMetadata},
		{Pattern: "GET /.well-known/oauth-protected-resource", Handle: s.resourceMetadata},
		{Pattern: "POST /oauth/register", Handle: s.register},
		{Pattern: "POST /oauth/par", Handle: s.push},
		{Pattern: "GET /oauth/authorize", Handle: s.authorize},
		{Pattern: "POST /oauth/token", Handle: s.token},
		{Pattern: "POST /oauth/revoke", Handle: s.revoke},
		{Pattern: "POST /introspect", Handle: s.introspect},
	}
}

type server struct {
	Config
	allowances *allowances
}

// refusal is an error as the RFCs have it.
type refusal struct {
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
}

// fail answers with what was refused, and hides what is our own fault.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, strangers.ErrCrowded) {
		tooMany(w, 0)
		return
	}
	var refused grants.Refusal
	if !errors.As(err, &refused) {
		s.Log.ErrorContext(r.Context(), "a request of an app failed", "request_id", reply.RequestID(r.Context()), "route", r.Pattern, "error", err)
		refuse(w, http.StatusInternalServerError, "server_error", "Something went wrong here.")
		return
	}
	code, ok := codes[refused.Code]
	if !ok {
		code = "invalid_request"
	}
	status := http.StatusBadRequest
	if refused.Code == grants.CodeInvalidClient {
		status = http.StatusUnauthorized
	}
	refuse(w, status, code, refused.Message)
}

// refuse writes an error of OAuth. Answers to apps are never kept by anybody between.
func refuse(w http.ResponseWriter, status int, code, description string) {
	answer(w, status, refusal{Error: code, Description: description})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	reply.JSON(w, status, value)
}
