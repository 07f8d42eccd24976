package declarative

import (
	"encoding/base64"
	"net/http"

	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

// authorized reports whether a request has the credential of one of the endpoint's streams.
func (e *endpoint) authorized(in flat) bool {
	for _, r := range e.readers {
		if e.p.credentialFits(r.Retriever.Requester.Authenticator, in) {
			return true
		}
	}
	return false
}

func (p *Provider) credentialFits(c document.Component, in flat) bool {
	want := flat{values: map[string]string{}}
	switch a := c.(type) {
	case *document.Bearer:
		want.values["h:Authorization"] = "Bearer " + p.text(a.Token, a)
	case *document.Basic:
		pair := p.text(a.Username, a) + ":" + p.text(a.Password, a)
		want.values["h:Authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(pair))
	case *document.APIKey:
		key := expression.StringValue(p.text(a.Token, a))
		if p.inject(a.Inject, key, &want); a.Inject == nil && a.Header.IsSet() {
			want.values["h:"+http.CanonicalHeaderKey(p.text(a.Header, a))] = key.Text()
		}
	case *document.JWT:
		return p.signatureFits(a, in)
	case *document.OAuth, *document.SessionToken:
		return p.tokenFits(c, in)
	case *document.Selective:
		chosen := expression.Print(memberAt(p.config, a.SelectionPath))
		if choice, ok := a.Authenticators[chosen]; ok {
			return p.credentialFits(choice, in)
		}
	}
	for place, text := range want.values {
		if in.values[place] != text {
			return false
		}
	}
	return true
}
