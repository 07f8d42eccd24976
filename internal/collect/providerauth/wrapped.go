package providerauth

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/pdpp-go/pdpp/manifest"
)

// wrappedExchange sends an exchange with the parameters that a provider adds to those of the protocol, and returns the
// member of its answer that holds the tokens. An answer without tokens is a refusal, also with the status 200.
type wrappedExchange struct {
	http.RoundTripper
	o *manifest.OAuth
}

// maxExchange bounds an exchange in both directions.
const maxExchange = 1 << 20

// RoundTrip implements http.RoundTripper.
func (w wrappedExchange) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxExchange))
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, err
	}
	for name, value := range w.o.TokenParams {
		form.Set(name, value)
	}
	encoded := form.Encode()
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(encoded)), int64(len(encoded))
	r.Header.Set("Content-Length", strconv.Itoa(len(encoded)))
	transport := w.RoundTripper
	if transport == nil {
		transport = http.DefaultTransport
	}
	resp, err := transport.RoundTrip(r)
	if err != nil || w.o.TokenMember == "" {
		return resp, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxExchange))
	if err != nil {
		return nil, err
	}
	body, refused := w.unwrap(body)
	if refused && resp.StatusCode < http.StatusMultipleChoices {
		resp.StatusCode = http.StatusBadRequest
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// invalidGrant finds the refusal of a code or a refresh token, which a provider without the protocol's codes names in
// a sentence: "Invalid Params: invalid refresh_token".
var invalidGrant = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)invalid (refresh[ _]?token|authorization[ _]?code|code)`)
})

// unwrap returns the member with the tokens, or the protocol's form of a refusal.
func (w wrappedExchange) unwrap(body []byte) (_ []byte, refused bool) {
	var answer map[string]json.RawMessage
	var tokens struct {
		AccessToken string `json:"access_token"`
	}
	var reason string
	if json.Unmarshal(body, &answer) == nil {
		inner := answer[w.o.TokenMember]
		if json.Unmarshal(inner, &tokens) == nil && tokens.AccessToken != "" {
			return inner, false
		}
		_ = json.Unmarshal(answer["error"], &reason) // a refusal without a text has no code
	}
	if invalidGrant().MatchString(reason) {
		return []byte(`{"error":"invalid_grant"}`), true
	}
	return []byte("{}"), true
}
