package oauth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// requestURN begins the name of a pushed request (RFC 9126).
const requestURN = "urn:ietf:params:oauth:request_uri:"

// register makes an app known (RFC 7591). Members that we do not use are left alone, as
// the RFC wants; one that asks for a secret is not answered with one.
func (s *server) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Name         string   `json:"client_name"`
		RedirectURIs []string `json:"redirect_uris"`
	}
	body := http.MaxBytesReader(w, r.Body, maxForm)
	if err := json.NewDecoder(body).Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_client_metadata", "The body is not the JSON of a registration.")
		return
	}
	giveBack := s.allowances.stranger(w, r)
	if giveBack == nil {
		return
	}
	c, err := s.Grants.Register(r.Context(), asked.Name, asked.RedirectURIs)
	if err != nil {
		giveBack()
		s.fail(w, r, err)
		return
	}
	answer(w, http.StatusCreated, struct {
		ID            string   `json:"client_id"`
		IssuedAt      int64    `json:"client_id_issued_at"`
		Name          string   `json:"client_name"`
		RedirectURIs  []string `json:"redirect_uris"`
		Auth          string   `json:"token_endpoint_auth_method"`
		GrantTypes    []string `json:"grant_types"`
		ResponseTypes []string `json:"response_types"`
	}{c.ID, c.CreatedAt.Unix(), c.Name, c.RedirectURIs, "none", []string{"authorization_code"}, []string{"code"}})
}

// push takes what an app asks for.
func (s *server) push(w http.ResponseWriter, r *http.Request) {
	given, ok := form(w, r)
	if !ok {
		return
	}
	switch {
	case given.Has("request_uri"), given.Has("request"):
		refuse(w, http.StatusBadRequest, "invalid_request", "A pushed request says what it asks for itself.")
		return
	case given.Get("response_type") != "code":
		refuse(w, http.StatusBadRequest, "unsupported_response_type", "The response type is code.")
		return
	case given.Get("code_challenge_method") != "S256":
		refuse(w, http.StatusBadRequest, "invalid_request", "A code challenge by S256 is needed.")
		return
	}
	client, err := s.Grants.Client(r.Context(), given.Get("client_id"))
	var giveBack func()
	if err == nil && client.ApprovedAt != nil {
		giveBack = s.allowances.approved(w, client.ID)
	} else {
		giveBack = s.allowances.stranger(w, r)
	}
	if giveBack == nil {
		return
	}
	wanted, err := parseDetails(given.Get("authorization_details"))
	if err != nil {
		giveBack()
		s.fail(w, r, err)
		return
	}
	id, err := s.Grants.Request(r.Context(), grants.Ask{
		ClientID: given.Get("client_id"), RedirectURI: given.Get("redirect_uri"), State: given.Get("state"), CodeChallenge: given.Get("code_challenge"),
		Purpose: wanted.Purpose, Mode: grants.Mode(wanted.Mode), Wants: wanted.wants(), ExpiresAt: wanted.Expires,
	})
	if err != nil {
		giveBack()
		s.fail(w, r, err)
		return
	}
	answer(w, http.StatusCreated, struct {
		RequestURI string `json:"request_uri"`
		ExpiresIn  int    `json:"expires_in"`
	}{requestURN + id, int(grants.RequestLife.Seconds())})
}

// authorize leads the owner's browser to the consent page. What is wrong here is not
// told to the app: nothing proves where it is.
func (s *server) authorize(w http.ResponseWriter, r *http.Request) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	id, pushed := strings.CutPrefix(given.Get("request_uri"), requestURN)
	if err != nil || repeated(given) || !pushed || id == "" {
		refuse(w, http.StatusBadRequest, "invalid_request", "Push the request first, and come with its request_uri.")
		return
	}
	client, err := s.Grants.RequestClient(r.Context(), id)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if client != given.Get("client_id") {
		refuse(w, http.StatusBadRequest, "invalid_request", "The request was pushed by another app.")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/consent/"+url.PathEscape(id), http.StatusSeeOther)
}
