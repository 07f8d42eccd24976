package manifest

import (
	"slices"
	"strings"
)

// OAuth describes how the owner authorizes this server at the provider, and how its tokens are refreshed. The
// connector gets only the access token.
type OAuth struct {
	AuthorizeURL         string            `json:"authorize_url,omitempty" rule:"pattern=web" doc:"Where the owner consents in a browser. Absent: only a code on another device is offered."`
	TokenURL             string            `json:"token_url" rule:"required,pattern=web" doc:"Where a code, and later a refresh token, is exchanged."`
	DeviceURL            string            `json:"device_url,omitempty" rule:"pattern=web" doc:"Where a code for another device is asked for (RFC 8628). Absent: the provider offers none."`
	Scopes               []OAuthScope      `json:"scopes,omitempty" doc:"What the provider will ask the owner for."`
	ScopeSeparator       string            `json:"scope_separator,omitempty" doc:"Separator between two scopes. Absent: a space."`
	AuthorizeParams      map[string]string `json:"authorize_params,omitempty" doc:"Parameters added to the authorisation request."`
	PKCE                 *bool             `json:"pkce,omitempty" doc:"Whether the request is bound to its answer by S256. Absent: true."`
	Rotation             bool              `json:"rotation,omitempty" doc:"Whether a refresh token is good for one use, and each answer brings the next. Absent: false."`
	TokenLifetimeSeconds int               `json:"token_lifetime_seconds,omitempty" rule:"min=1" doc:"How long an access token is good where the answer does not say. Absent: until it is refused."`
	AccessTokenEnv       string            `json:"access_token_env" rule:"required,pattern=env" doc:"Variable through which the connector receives the access token."`
	ClientIDEnv          string            `json:"client_id_env" rule:"required,pattern=env" doc:"Variable of the deployment configuration that holds the number of this server's app at the provider. The connector receives it only with client_id_for_connector."`
	ClientSecretEnv      string            `json:"client_secret_env,omitempty" rule:"pattern=env" doc:"Variable of the deployment configuration that holds the app's secret. Absent: the app has none. The connector never receives it."`
	ClientAuth           ClientAuth        `json:"client_auth,omitempty" doc:"How the app shows its secret. Absent: header."`
	ClientIDForConnector bool              `json:"client_id_for_connector,omitempty" doc:"Connector gets the app's ID."`
	TokenParams          map[string]string `json:"token_params,omitempty" doc:"More parameters of an exchange."`
	TokenMember          string            `json:"token_member,omitempty" doc:"Member with the tokens."`
	RegisterURL          string            `json:"register_url,omitempty" rule:"pattern=web" doc:"Page on which the owner registers the app."`
	RegisterSteps        []string          `json:"register_steps,omitempty" doc:"What the owner does there, step by step."`
	NeverAsked           string            `json:"never_asked,omitempty" doc:"What this connector does not ask for, in a few words."`
	ProviderSees         string            `json:"provider_sees,omitempty" doc:"What the provider learns by it, in a sentence."`
}

// OAuthScope is one permission that the owner is asked for.
type OAuthScope struct {
	Name     string `json:"name" rule:"required" doc:"The provider's word for it."`
	Label    string `json:"label" rule:"required" doc:"What it lets this server read."`
	Note     string `json:"note,omitempty" doc:"What is missing without it, or why it is needed."`
	Optional bool   `json:"optional,omitempty" doc:"Whether the owner may leave it out. Absent: false."`
}

// UsesPKCE reports whether authorization requests use PKCE. They do, unless the manifest disables it.
func (o *OAuth) UsesPKCE() bool { return o.PKCE == nil || *o.PKCE }

// OAuth returns how the owner signs in at the provider, or nil if the connector does not need that.
func (m *Manifest) OAuth() *OAuth {
	if m.Setup == nil {
		return nil
	}
	return m.Setup.OAuth
}

func (ps *Problems) checkOAuth(s *Setup) {
	o := s.OAuth
	if o == nil {
		return
	}
	const path = "setup.oauth"
	if s.Modality != ModalityProviderAuth {
		ps.add(path, "is present although the modality is "+string(s.Modality), "write provider_auth, or remove it")
	}
	if o.AuthorizeURL == "" && o.DeviceURL == "" {
		ps.add(path+".authorize_url", "is missing, and device_url too", "name at least one of them")
	}
	for _, endpoint := range []struct{ name, address string }{{"authorize_url", o.AuthorizeURL},
		{"token_url", o.TokenURL}, {"device_url", o.DeviceURL}} {
		if endpoint.address != "" && !confidential(endpoint.address) {
			ps.add(path+"."+endpoint.name, "is not encrypted", "use an https address; http is only for this machine")
		}
	}
	for _, own := range []struct{ name, variable string }{{"client_id_env", o.ClientIDEnv},
		{"client_secret_env", o.ClientSecretEnv}} {
		if own.variable != "" && !slices.Contains(s.DeploymentConfig, own.variable) {
			ps.add(path+"."+own.name, quoteShort(own.variable)+" is not in setup.deployment_config", "add it there")
		}
	}
	if o.AccessTokenEnv != "" && (o.AccessTokenEnv == o.ClientIDEnv || o.AccessTokenEnv == o.ClientSecretEnv) {
		ps.add(
			path+".access_token_env",
			quoteShort(o.AccessTokenEnv)+" already carries the app's own registration",
			"use a separate variable for the access token",
		)
	}
	names := map[string]bool{}
	for i, scope := range o.Scopes {
		ps.rejectRepeated(names, elementPath(path+".scopes", i)+".name", scope.Name)
	}
}

// confidential reports whether data sent to the address cannot be read in transit.
func confidential(address string) bool {
	rest, plain := strings.CutPrefix(strings.ToLower(address), "http://")
	if !plain {
		return true // the pattern only accepts https
	}
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	for _, own := range []string{"127.0.0.1", "localhost", "[::1]"} {
		if port, ok := strings.CutPrefix(host, own); ok && strings.Trim(port, ":0123456789") == "" {
			return true
		}
	}
	return false
}
