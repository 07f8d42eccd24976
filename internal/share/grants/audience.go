package grants

import "strings"

// Audience is the part of the server that a token is for (RFC 8707). It is a part of every secret of a grant, from the
// request to the token, so that nothing else has to be stored and no secret can be changed to another audience.
type Audience string

// The audiences. The zero value is a grant that was asked for without a resource: it may be used everywhere.
const (
	AnyAudience       Audience = ""
	APIAudience       Audience = "api_" // the routes under /v1
	AssistantAudience Audience = "mcp_" // the Model Context Protocol
)

var audiences = []Audience{AnyAudience, APIAudience, AssistantAudience}

// audienceOf returns the audience of a secret with a prefix; false if the text is no such secret.
func audienceOf(prefix, text string) (Audience, bool) {
	for _, a := range audiences {
		if looksLike(prefix+string(a), text) {
			return a, true
		}
	}
	return "", false
}

// audienceOfRequest returns the audience that a request was made for.
func audienceOfRequest(id string) Audience {
	for _, a := range audiences[1:] {
		if strings.HasPrefix(id, requestPrefix+string(a)) {
			return a
		}
	}
	return AnyAudience
}

// CheckAudience refuses a grant's token that was issued for another part of the server. Other texts pass.
func CheckAudience(token string, here Audience) error {
	a, ok := audienceOf(TokenPrefix, token)
	if !ok || a == AnyAudience || a == here {
		return nil
	}
	return Refused(CodeInvalidToken, "", "The token was issued for another address of this server.",
		"Ask for a token with the resource of this address.")
}
