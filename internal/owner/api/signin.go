package api

import (
	"net/url"
	"time"
)

// Consent is how the owner signs in at a provider: what it will ask, and what it will see.
type Consent struct {
	Scopes []ConsentScope `json:"scopes"`
	// Page means that the provider has a page to sign in on, Codes that it takes a code from
	// any device.
	Page  bool `json:"page"`
	Codes bool `json:"codes"` // a code can be entered on any device
	// Host is where that page is.
	Host          string   `json:"host,omitempty"`
	NeverAsked    string   `json:"never_asked,omitempty"`
	ProviderSees  string   `json:"provider_sees,omitempty"`
	RegisterURL   string   `json:"register_url,omitempty"`
	RegisterSteps []string `json:"register_steps,omitempty"`
	// Secret means that the app has a secret beside its number.
	Secret bool `json:"app_secret"`
}

// ConsentScope is one thing that the provider asks for.
type ConsentScope struct {
	Name     string `json:"name"`
	Label    string `json:"label"`
	Note     string `json:"note,omitempty"`
	Optional bool   `json:"optional"`
}

// SignInWish asks for a sign-in at the provider.
type SignInWish struct {
	// Redirect is where the answer comes to: a page of this server, or a port of this machine.
	// Empty asks for a code instead.
	Redirect string `json:"redirect_uri,omitempty"`
	// Scopes are the optional ones that are wanted; nil wants all, and an empty list none.
	Scopes []string `json:"scopes,omitzero"`
}

// SignInBegun is a sign-in that waits for the owner.
type SignInBegun struct {
	State        string    `json:"state"`
	URL          string    `json:"url"` // where the owner goes
	UserCode     string    `json:"user_code,omitempty"`
	EverySeconds int64     `json:"every_seconds,omitempty"` // how often it may be asked for
	ExpiresAt    time.Time `json:"expires_at"`
}

// SignInAnswer is what came back. Without code and error it asks whether a code was entered.
type SignInAnswer struct {
	State string `json:"state"`
	Code  string `json:"code,omitempty"`
	Error string `json:"error,omitempty"`
	// Scope is the granted scope, where the provider returns it with the response.
	Scope string `json:"scope,omitempty"`
}

// SignInDone is the state of a sign-in.
type SignInDone struct {
	ConnectionID string `json:"connection_id"`
	// Connected means that it is over and worked; else it waits.
	Connected bool `json:"connected"`
	// Missing are what was asked for and not allowed.
	Missing []string `json:"missing"`
}

// ProviderApp is how this server is registered at a provider.
type ProviderApp struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret,omitempty"`
}

// StatusDraft is the status of a connection before the owner has consented at the provider. No list has it.
const StatusDraft = "draft"

// AllowPage is the path of the console's page on which the owner signs in at a provider.
func AllowPage(connectionID string) string {
	return "/sources/" + url.PathEscape(connectionID) + "/allow"
}

// CallbackPath is where answers of providers come to.
const CallbackPath = "/oauth/callback"
