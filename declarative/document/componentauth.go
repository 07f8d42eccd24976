package document

// Bearer sends a token in the Authorization header.
type Bearer struct {
	Base
	Token Template `decl:"api_token" need:"yes" scope:"setup"`
}

// APIKey sends a token in a header or parameter.
type APIKey struct {
	Base
	Token  Template       `decl:"api_token" scope:"setup"`
	Header Template       `decl:"header" scope:"setup"`
	Inject *RequestOption `decl:"inject_into" only:"RequestOption"`
}

// Basic sends a name and a password.
type Basic struct {
	Base
	Username Template `decl:"username" need:"yes" scope:"setup"`
	Password Template `decl:"password" scope:"setup"`
}

// NoAuth sends no credential.
type NoAuth struct{ Base }

// OAuth exchanges a credential for access tokens.
type OAuth struct {
	Base
	ClientIDName        Template      `decl:"client_id_name" scope:"setup"`
	ClientID            Template      `decl:"client_id" scope:"setup"`
	ClientSecretName    Template      `decl:"client_secret_name" scope:"setup"`
	ClientSecret        Template      `decl:"client_secret" scope:"setup"`
	RefreshTokenName    Template      `decl:"refresh_token_name" scope:"setup"`
	RefreshToken        Template      `decl:"refresh_token" scope:"setup"`
	TokenEndpoint       Template      `decl:"token_refresh_endpoint" scope:"setup"`
	AccessTokenName     Template      `decl:"access_token_name" scope:"setup"`
	AccessToken         Template      `decl:"access_token_value" scope:"setup"`
	ExpiresInName       Template      `decl:"expires_in_name" scope:"setup"`
	GrantTypeName       Template      `decl:"grant_type_name" scope:"setup"`
	GrantType           Template      `decl:"grant_type" scope:"setup"`
	RefreshBody         Inputs        `decl:"refresh_request_body" scope:"setup"`
	RefreshHeaders      Inputs        `decl:"refresh_request_headers" scope:"setup"`
	RefreshAsQuery      bool          `decl:"send_refresh_request_as_query_params"`
	Scopes              []Template    `decl:"scopes" scope:"setup"`
	ExpiryDate          Template      `decl:"token_expiry_date" scope:"setup"`
	ExpiryFormat        string        `decl:"token_expiry_date_format"`
	RefreshErrorCodes   []int         `decl:"refresh_token_error_status_codes"`
	RefreshErrorKey     string        `decl:"refresh_token_error_key"`
	RefreshErrorValues  []string      `decl:"refresh_token_error_values"`
	Updater             *TokenUpdater `decl:"refresh_token_updater" any:"yes"`
	UseProfileAssertion Template      `decl:"use_profile_assertion" scope:"setup"`
	ProfileAssertion    *Node         `decl:"profile_assertion" refuse:"It signs in with a signed assertion."`
}

// JWT sends a token that it signs itself.
type JWT struct {
	Base
	SecretKey   Template       `decl:"secret_key" need:"yes" scope:"setup"`
	EncodeKey   bool           `decl:"base64_encode_secret_key"`
	Algorithm   string         `decl:"algorithm" need:"yes"`
	Duration    Template       `decl:"token_duration" scope:"setup"`
	Prefix      Template       `decl:"header_prefix" scope:"setup"`
	Headers     Inputs         `decl:"jwt_headers" scope:"setup"`
	MoreHeaders Inputs         `decl:"additional_jwt_headers" scope:"setup"`
	Payload     Inputs         `decl:"jwt_payload" scope:"setup"`
	MorePayload Inputs         `decl:"additional_jwt_payload" scope:"setup"`
	Inject      *RequestOption `decl:"request_option" only:"RequestOption"`
	Passphrase  *Node          `decl:"passphrase" refuse:"Its key is encrypted."`
}

// TokenUpdater marks refresh tokens that are good for one use.
type TokenUpdater struct {
	Base
	RefreshTokenName string   `decl:"refresh_token_name"`
	AccessTokenPath  []string `decl:"access_token_config_path"`
	RefreshTokenPath []string `decl:"refresh_token_config_path"`
	ExpiryDatePath   []string `decl:"token_expiry_date_config_path"`
	ErrorCodes       []int    `decl:"refresh_token_error_status_codes"`
	ErrorKey         string   `decl:"refresh_token_error_key"`
	ErrorValues      []string `decl:"refresh_token_error_values"`
}

// SessionToken signs in with a request and sends the token of its answer.
type SessionToken struct {
	Base
	Login      *Requester `decl:"login_requester" need:"yes" only:"HttpRequester"`
	TokenPath  []string   `decl:"session_token_path" need:"yes"`
	Expiration string     `decl:"expiration_duration"`
	Request    Component  `decl:"request_authentication" need:"yes" only:"session"`
	Decoder    Component  `decl:"decoder" only:"JsonDecoder"`
}

// LegacySession signs in with a name and a password at an address of the API, and sends the token in a header.
type LegacySession struct {
	Base
	Header      Template `decl:"header" need:"yes" scope:"setup"`
	LoginURL    Template `decl:"login_url" need:"yes" scope:"setup"`
	Username    Template `decl:"username" scope:"setup"`
	Password    Template `decl:"password" scope:"setup"`
	Token       Template `decl:"session_token" scope:"setup"`
	ResponseKey Template `decl:"session_token_response_key" need:"yes" scope:"setup"`
	ValidateURL Template `decl:"validate_session_url" scope:"setup"`
	API         Template // base address of the requester that it belongs to
}

// setLoginAddress sets the address of the API in authenticators that sign in there.
func (r *Requester) setLoginAddress() {
	all := []Component{r.Authenticator}
	if s, ok := r.Authenticator.(*Selective); ok {
		for _, choice := range s.Authenticators {
			all = append(all, choice)
		}
	}
	for _, c := range all {
		if a, ok := c.(*LegacySession); ok {
			a.API = r.URLBase
		}
	}
}

// SessionKey sends a session token in a header or parameter.
type SessionKey struct {
	Base
	Inject *RequestOption `decl:"inject_into" need:"yes" only:"RequestOption"`
	Token  Template       `decl:"api_token" scope:"login"`
}

// SessionBearer sends a session token in the Authorization header.
type SessionBearer struct{ Base }

// Selective chooses an authenticator by a setting.
type Selective struct {
	Base
	SelectionPath  []string             `decl:"authenticator_selection_path" need:"yes"`
	Authenticators map[string]Component `decl:"authenticators" need:"yes" only:"authenticator"`
	Unsupported    map[string]string    // why a choice is not usable, by its name
}

// PlainBody is a body of text.
type PlainBody struct {
	Base
	Value Template `decl:"value" need:"yes" scope:"request"`
}

// FormBody is a body in the form of a web form.
type FormBody struct {
	Base
	Value Inputs `decl:"value" need:"yes" scope:"request"`
}

// JSONBody is a body in JSON. Its type reports whether it is a GraphQL query.
type JSONBody struct {
	Base
	Value Inputs `decl:"value" need:"yes" scope:"request"`
}

// ErrorHandler classifies answers.
type ErrorHandler struct {
	Base
	Filters    []*ResponseFilter `decl:"response_filters" only:"HttpResponseFilter"`
	Backoff    []Component       `decl:"backoff_strategies" only:"backoff"`
	MaxRetries Template          `decl:"max_retries" scope:"setup"`
}

// CompositeHandler asks several handlers in turn.
type CompositeHandler struct {
	Base
	Handlers []Component `decl:"error_handlers" need:"yes" only:"DefaultErrorHandler CompositeErrorHandler"`
}

// ResponseFilter is a rule about answers.
type ResponseFilter struct {
	Base
	Action          string   `decl:"action" enum:"SUCCESS FAIL RETRY IGNORE RATE_LIMITED REFRESH_TOKEN_THEN_RETRY"`
	FailureType     string   `decl:"failure_type" enum:"system_error config_error transient_error"`
	Message         Template `decl:"error_message" scope:"answer"`
	MessageContains Template `decl:"error_message_contains" scope:"setup"`
	Codes           []int    `decl:"http_codes"`
	Predicate       Template `decl:"predicate" scope:"answer"`
}

// ConstantBackoff is a wait that the document declares.
type ConstantBackoff struct {
	Base
	Seconds Template `decl:"backoff_time_in_seconds" need:"yes" scope:"setup"`
	Jitter  Template `decl:"jitter_range_in_seconds" scope:"setup"`
}

// ExponentialBackoff is a growing wait that the document declares.
type ExponentialBackoff struct {
	Base
	Factor Template `decl:"factor" scope:"setup"`
	Jitter Template `decl:"jitter_range_in_seconds" scope:"setup"`
}

// WaitHeader is a wait in seconds that the provider announces.
type WaitHeader struct {
	Base
	Header Template `decl:"header" need:"yes" scope:"setup"`
	Regex  string   `decl:"regex"`
	Most   Template `decl:"max_waiting_time_in_seconds" scope:"setup"`
}

// WaitUntilHeader is a time until which the provider asks to wait.
type WaitUntilHeader struct {
	Base
	Header  Template `decl:"header" need:"yes" scope:"setup"`
	Regex   Template `decl:"regex" scope:"setup"`
	MinWait Template `decl:"min_wait" scope:"setup"`
	Most    Template `decl:"max_waiting_time_in_seconds" scope:"setup"`
}

// AddFields adds fields to a record.
type AddFields struct {
	Base
	Fields    []*AddedField `decl:"fields" need:"yes" only:"AddedFieldDefinition"`
	Condition Template      `decl:"condition" scope:"record"`
}

// AddedField is a field with a computed value.
type AddedField struct {
	Base
	Path      []Template `decl:"path" need:"yes" scope:"setup"`
	Value     Template   `decl:"value" need:"yes" scope:"record"`
	ValueType string     `decl:"value_type" enum:"string number integer boolean"`
}

// RemoveFields removes fields from a record.
type RemoveFields struct {
	Base
	Pointers  [][]string `decl:"field_pointers" need:"yes"`
	Condition Template   `decl:"condition" scope:"property"`
}

// KeysToLower writes the names of a record's members in small letters.
type KeysToLower struct{ Base }

// KeysToSnakeCase writes the names of a record's members with underscores.
type KeysToSnakeCase struct{ Base }

// KeysReplace replaces text in the names of a record's members.
type KeysReplace struct {
	Base
	Old Template `decl:"old" need:"yes" scope:"record"`
	New Template `decl:"new" need:"yes" scope:"record"`
}

// FlattenFields lifts nested members to the record.
type FlattenFields struct {
	Base
	Lists bool `decl:"flatten_lists" default:"true"`
}

// DpathFlatten lifts the members of one object to the record.
type DpathFlatten struct {
	Base
	FieldPath     []Template         `decl:"field_path" need:"yes" scope:"record"`
	DeleteOrigin  bool               `decl:"delete_origin_value"`
	ReplaceRecord bool               `decl:"replace_record"`
	Keys          *KeyTransformation `decl:"key_transformation" only:"KeyTransformation"`
}

// KeyTransformation adds text to names.
type KeyTransformation struct {
	Base
	Prefix Template `decl:"prefix" scope:"record"`
	Suffix Template `decl:"suffix" scope:"record"`
}
