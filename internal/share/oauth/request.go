package oauth

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// requestURN begins the name of a pushed request (RFC 9126).
const requestURN = "urn:ietf:params:oauth:request_uri:"

// clientRegistration is an app that asks to be known.
type clientRegistration struct {
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris" format:"uri"`
	// whether requests of the app that were not pushed are refused
	MustPush bool `json:"require_pushed_authorization_requests,omitempty"`
}

// registeredClient is a known app.
type registeredClient struct {
	ID            string   `json:"client_id"`
	IssuedAt      int64    `json:"client_id_issued_at"`
	Name          string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	Auth          string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	MustPush      bool     `json:"require_pushed_authorization_requests"`
}

// pushedRequest names a pushed request for as long as it is valid.
type pushedRequest struct {
	RequestURI string `json:"request_uri"`
	ExpiresIn  int    `json:"expires_in"`
}

// register registers an app (RFC 7591). Unknown members are ignored, as the RFC requires; a requested client secret
// is not issued.
func (s *server) register(w http.ResponseWriter, r *http.Request) {
	var asked clientRegistration
	body := http.MaxBytesReader(w, r.Body, maxForm)
	if err := json.NewDecoder(body).Decode(&asked); err != nil {
		writeOAuthError(w, http.StatusBadRequest, "invalid_client_metadata", "The body is not the JSON of a registration.")
		return
	}
	releaseAllowance := s.allowances.admitStranger(w, r)
	if releaseAllowance == nil {
		return
	}
	c, err := s.Grants.Register(r.Context(), asked.Name, asked.RedirectURIs, asked.MustPush)
	if err != nil {
		releaseAllowance()
		s.fail(w, r, err)
		return
	}
	answer(w, http.StatusCreated, registeredClient{c.ID, c.CreatedAt.Unix(), c.Name, c.RedirectURIs, "none",
		[]string{"authorization_code"}, []string{"code"}, asked.MustPush})
}

// push takes what an app asks for (RFC 9126).
func (s *server) push(w http.ResponseWriter, r *http.Request) {
	parameters, ok := parseForm(w, r)
	if !ok {
		return
	}
	if parameters.Has("request_uri") {
		writeOAuthError(w, http.StatusBadRequest, "invalid_request", "A pushed request says what it asks for itself.")
		return
	}
	if code, message := malformed(parameters); code != "" {
		writeOAuthError(w, http.StatusBadRequest, code, message)
		return
	}
	if !parameters.Has("authorization_details") { // who pushes a request can describe it
		parameters.Set("authorization_details", "")
	}
	_, releaseAllowance, err := s.askingApp(w, r, parameters.Get("client_id"))
	if releaseAllowance == nil {
		return
	}
	var id string
	if err == nil {
		id, err = s.store(r, parameters)
	}
	if err != nil {
		releaseAllowance()
		s.fail(w, r, err)
		return
	}
	answer(w, http.StatusCreated, pushedRequest{requestURN + id, int(grants.RequestLife.Seconds())})
}

// malformed returns the error of a request that cannot be stored as it is; empty if it can.
func malformed(parameters url.Values) (code, message string) {
	switch {
	case parameters.Has("request"):
		return "request_not_supported", "Request objects are not supported."
	case parameters.Get("response_type") != "code":
		return "unsupported_response_type", "The response type is code."
	case parameters.Get("code_challenge_method") != "S256":
		return "invalid_request", "A code challenge by S256 is needed."
	}
	return "", ""
}

// askingApp returns the app that asks, within its allowance. A stranger's comes first, because an app that is known by
// its document makes this server fetch it. If the allowance is used up it answers and returns no releaseAllowance.
func (s *server) askingApp(w http.ResponseWriter, r *http.Request, id string) (c grants.App, releaseAllowance func(),
	err error) {
	if !strings.Contains(id, ":") {
		if c, err = s.Grants.Client(r.Context(), id); err == nil && c.ApprovedAt != nil {
			return c, s.allowances.approved(w, c.ID), nil
		}
		return c, s.allowances.admitStranger(w, r), err
	}
	if releaseAllowance = s.allowances.admitStranger(w, r); releaseAllowance == nil {
		return c, nil, nil
	}
	c, err = s.Grants.Client(r.Context(), id)
	return c, releaseAllowance, err
}

// store stores what an app asks for. Without authorization details the owner chooses.
func (s *server) store(r *http.Request, parameters url.Values) (id string, err error) {
	var wanted authorizationDetail
	if parameters.Has("authorization_details") {
		if wanted, err = parseDetails(parameters.Get("authorization_details")); err != nil {
			return "", err
		}
		if len(wanted.Streams) == 0 {
			return "", grants.Refused(grants.CodeInvalidDetails, "authorization_details",
				"The authorization details name no stream.", "Name streams, or send no details.")
		}
	}
	audience, err := s.audience(parameters.Get("resource"))
	if err != nil {
		return "", err
	}
	return s.Grants.Request(r.Context(), grants.Ask{
		ClientID: parameters.Get("client_id"), RedirectURI: parameters.Get("redirect_uri"), State: parameters.Get("state"),
		CodeChallenge: parameters.Get("code_challenge"), Audience: audience,
		Purpose: wanted.Purpose, Mode: grants.Mode(wanted.Mode), Wants: wanted.wants(), ExpiresAt: wanted.Expires,
	})
}

// audience returns the part of this server that a resource names (RFC 8707).
func (s *server) audience(resource string) (grants.Audience, error) {
	switch strings.TrimSuffix(resource, "/") {
	case "":
		return grants.AnyAudience, nil
	case s.Issuer, s.Issuer + "/v1":
		return grants.APIAudience, nil
	case s.Issuer + assistantPath:
		return grants.AssistantAudience, nil
	}
	return "", grants.Refused(grants.CodeInvalidTarget, "resource", "The resource is not an address of this server.",
		"Use the resource that the metadata of the protected resource names.")
}

// authorize redirects the owner's browser to the consent page, for a request that was pushed or that is in the address.
func (s *server) authorize(w http.ResponseWriter, r *http.Request) {
	parameters, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || repeated(parameters) {
		writeOAuthError(w, http.StatusBadRequest, "invalid_request",
			"The address cannot be read, or has a parameter twice.")
		return
	}
	if !parameters.Has("request_uri") {
		s.authorizePlain(w, r, parameters)
		return
	}
	id, pushed := strings.CutPrefix(parameters.Get("request_uri"), requestURN)
	if !pushed || id == "" {
		writeOAuthError(w, http.StatusBadRequest, "invalid_request", "The request_uri is not one of a pushed request.")
		return
	}
	client, err := s.Grants.RequestClient(r.Context(), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if client != parameters.Get("client_id") {
		writeOAuthError(w, http.StatusBadRequest, "invalid_request", "The request was pushed by another app.")
		return
	}
	toConsent(w, r, id)
}

// authorizePlain stores a request that was not pushed. Errors go to the app only after its address was found to be its
// own; until then this server shows them.
func (s *server) authorizePlain(w http.ResponseWriter, r *http.Request, parameters url.Values) {
	client, releaseAllowance, err := s.askingApp(w, r, parameters.Get("client_id"))
	if releaseAllowance == nil {
		return
	}
	if err == nil {
		err = grants.CheckRedirect(client, parameters.Get("redirect_uri"))
	}
	if err != nil {
		releaseAllowance()
		s.fail(w, r, err)
		return
	}
	code, message := malformed(parameters)
	if grants.MustPush(client.ID) {
		code, message = "invalid_request", "The app has registered that it pushes its requests."
	}
	if code == "" {
		var id string
		if id, err = s.store(r, parameters); err == nil {
			toConsent(w, r, id)
			return
		}
		var refused grants.Refusal
		if !errors.As(err, &refused) {
			releaseAllowance()
			s.fail(w, r, err)
			return
		}
		code, message = codeOf(refused), refused.Message
	}
	releaseAllowance()
	back, err := url.Parse(parameters.Get("redirect_uri"))
	if err != nil {
		writeOAuthError(w, http.StatusBadRequest, code, message)
		return
	}
	q := back.Query()
	q.Set("error", code)
	q.Set("error_description", message)
	q.Set("iss", s.Issuer)
	if state := parameters.Get("state"); state != "" {
		q.Set("state", state)
	}
	back.RawQuery = q.Encode()
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

func toConsent(w http.ResponseWriter, r *http.Request, id string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/sharing/allow/"+url.PathEscape(id), http.StatusSeeOther)
}
