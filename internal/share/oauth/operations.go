package oauth

import (
	"net/http"
	"reflect"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// The forms of the routes, for their description.
type (
	pushForm struct {
		ClientID        string                `json:"client_id"`
		RedirectURI     string                `json:"redirect_uri" format:"uri"`
		ResponseType    string                `json:"response_type" enum:"code"`
		State           string                `json:"state,omitempty"`
		Challenge       string                `json:"code_challenge"`
		ChallengeMethod string                `json:"code_challenge_method" enum:"S256"`
		Details         []authorizationDetail `json:"authorization_details,omitempty" encoded:"json"`
		Resource        string                `json:"resource,omitempty" format:"uri"`
	}
	codeForm struct {
		GrantType   string `json:"grant_type" enum:"authorization_code"`
		Code        string `json:"code"`
		RedirectURI string `json:"redirect_uri" format:"uri"`
		ClientID    string `json:"client_id"`
		Verifier    string `json:"code_verifier"`
		Resource    string `json:"resource,omitempty" format:"uri"`
	}
	tokenForm struct {
		Token string `json:"token"`
		Hint  string `json:"token_type_hint,omitempty"`
	}
	authorizeParameters struct {
		ClientID        string `query:"client_id" required:"true"`
		RequestURI      string `query:"request_uri"`   // of a pushed request; the others are then left out
		ResponseType    string `query:"response_type"` // code
		RedirectURI     string `query:"redirect_uri"`
		State           string `query:"state"`
		Challenge       string `query:"code_challenge"`
		ChallengeMethod string `query:"code_challenge_method"` // S256
		Resource        string `query:"resource"`              // what the token is for (RFC 8707)
		// Details is as in a pushed request. Without it the owner chooses what the app may read.
		Details string `query:"authorization_details"`
	}
)

const formKind = "application/x-www-form-urlencoded"

// operations describes the routes, by their patterns.
var operations = map[string]reply.Operation{
	"GET /.well-known/oauth-authorization-server": {Name: "getAuthorizationServer", Tag: "oauth",
		Access:  reply.AccessPublic,
		Summary: "How apps ask for a grant (RFC 8414)", Answers: reply.Returns[authorizationServer](http.StatusOK)},
	"GET /.well-known/oauth-protected-resource": {Name: "getProtectedResource", Tag: "oauth",
		Access:  reply.AccessPublic,
		Summary: "Which server issues tokens for this one (RFC 9728)",
		Answers: reply.Returns[protectedResource](http.StatusOK)},
	"GET /.well-known/oauth-protected-resource/mcp": {Name: "getAssistantResource", Tag: "oauth",
		Access:  reply.AccessPublic,
		Summary: "Which server issues tokens for assistants (RFC 9728)",
		Answers: reply.Returns[protectedResource](http.StatusOK)},
	"POST /oauth/register": {Name: "registerClient", Tag: "oauth", Access: reply.AccessApp,
		Summary: "Register an app (RFC 7591)",
		Body:    reflect.TypeFor[clientRegistration](), Answers: reply.Returns[registeredClient](http.StatusCreated)},
	"POST /oauth/par": {Name: "pushRequest", Tag: "oauth", Access: reply.AccessApp,
		Summary: "Send what an app asks for (RFC 9126)", Body: reflect.TypeFor[pushForm](), BodyKind: formKind,
		Answers: reply.Returns[pushedRequest](http.StatusCreated)},
	"GET /oauth/authorize": {Name: "authorize", Tag: "oauth", Access: reply.AccessApp,
		Summary: "Lead the owner to the consent page", Query: reflect.TypeFor[authorizeParameters](),
		Answers: []reply.Answer{{Status: http.StatusSeeOther}}},
	"POST /oauth/token": {Name: "redeemCode", Tag: "oauth", Access: reply.AccessApp,
		Summary: "Exchange a code for a token",
		Body:    reflect.TypeFor[codeForm](), BodyKind: formKind, Answers: reply.Returns[issuedToken](http.StatusOK)},
	"POST /oauth/revoke": {Name: "revokeClientToken", Tag: "oauth", Access: reply.AccessApp,
		Summary: "End the grant of a token (RFC 7009)", Body: reflect.TypeFor[tokenForm](), BodyKind: formKind,
		Answers: []reply.Answer{{Status: http.StatusOK}}},
	"POST /introspect": {Name: "introspect", Tag: "oauth", Access: reply.AccessApp,
		Summary: "What a token is (RFC 7662)",
		Body:    reflect.TypeFor[tokenForm](), BodyKind: formKind, Answers: reply.Returns[introspection](http.StatusOK)},
}
