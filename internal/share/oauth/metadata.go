package oauth

import (
	"net/http"

	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// detailsType names our kind of authorization details.
const detailsType = "pdpp"

// authorizationServer is the metadata of RFC 8414.
type authorizationServer struct {
	Issuer            string   `json:"issuer"`
	Authorization     string   `json:"authorization_endpoint"`
	Token             string   `json:"token_endpoint"`
	Push              string   `json:"pushed_authorization_request_endpoint"`
	Registration      string   `json:"registration_endpoint"`
	Revocation        string   `json:"revocation_endpoint"`
	Introspection     string   `json:"introspection_endpoint"`
	PushRequired      bool     `json:"require_pushed_authorization_requests"`
	ResponseTypes     []string `json:"response_types_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	Challenges        []string `json:"code_challenge_methods_supported"`
	TokenAuth         []string `json:"token_endpoint_auth_methods_supported"`
	RevocationAuth    []string `json:"revocation_endpoint_auth_methods_supported"`
	IntrospectionAuth []string `json:"introspection_endpoint_auth_methods_supported"`
	Details           []string `json:"authorization_details_types_supported"`
	NamesIssuer       bool     `json:"authorization_response_iss_parameter_supported"`
	Documents         bool     `json:"client_id_metadata_document_supported"`
}

// protectedResource is the metadata of RFC 9728.
type protectedResource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Methods  []string `json:"bearer_methods_supported"`
	Details  []string `json:"authorization_details_types_supported"`
}

// serverMetadata is of RFC 8414.
func (s *server) serverMetadata(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, authorizationServer{
		Issuer: s.Issuer, Authorization: s.Issuer + "/oauth/authorize", Token: s.Issuer + "/oauth/token",
		Push:         s.Issuer + "/oauth/par",
		Registration: s.Issuer + "/oauth/register", Revocation: s.Issuer + "/oauth/revoke",
		Introspection: s.Issuer + "/introspect", PushRequired: false,
		ResponseTypes: []string{"code"}, GrantTypes: []string{"authorization_code"},
		Challenges: []string{"S256"}, TokenAuth: []string{"none"},
		RevocationAuth: []string{"none"}, IntrospectionAuth: []string{"none"},
		Details: []string{detailsType}, NamesIssuer: true, Documents: true,
	})
}

// assistantPath is where assistants are answered.
const assistantPath = "/mcp"

// assistantMetadata is of RFC 9728, for assistants.
func (s *server) assistantMetadata(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, protectedResource{
		s.Issuer + assistantPath, []string{s.Issuer}, []string{"header"}, []string{detailsType}})
}

// resourceMetadata is of RFC 9728.
func (s *server) resourceMetadata(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, protectedResource{
		s.Issuer, []string{s.Issuer}, []string{"header"}, []string{detailsType}})
}
