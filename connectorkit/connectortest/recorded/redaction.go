package recorded

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	redactedText = "redacted" // what a member that is named like a credential holds
	// minSecretLength is the minimum length of a secret that is distinct from content.
	minSecretLength = 6
)

// credentialName finds JSON members that hold a credential, whatever its value is. A
// page token is none. parameterName finds parameters and form fields, where short names
// mean credentials too that are content in an answer.
var (
	credentialName = regexp.MustCompile(`(?i)^(x[-_]?)?((access|refresh|id|auth|bearer|session|csrf|xsrf|user|client|` +
		`app|consumer|api)[-_]?)?` +
		`(token|secret|password|passwd|passcode|authorization|cookie|jwt|credentials?)$|^(api|client|app|consumer|` +
		`private|secret)[-_]?key$|^session[-_]?id$`)
	parameterName = regexp.MustCompile(`(?i)^(key|code|code[-_]verifier|auth|pwd|otp|sid|session|sig|signature)$`)
)

// credentialHeader finds the headers of an answer that are not kept.
var credentialHeader = regexp.MustCompile(`(?i)(^|-)(cookie2?|token|secret|session|csrf|xsrf|authorization|` +
	`authenticate|password|apikey|api-key|signature)(-|$)`)

// redaction takes secrets out of what is recorded. It changes nothing that it has
// changed before, so that a replayed request is spelled as the recorded one.
type redaction struct {
	values map[string]string // by variable
	pairs  *strings.Replacer
}

// secretStandIn is what a secret variable holds in a recording and in a replay.
func secretStandIn(name string) string { return "redacted-" + name }

// newRedaction hides the values of the named variables.
func newRedaction(secrets map[string]string) (*redaction, error) {
	r := &redaction{values: secrets}
	var pairs []string
	// The longest first: one secret may begin as another.
	for _, name := range slices.SortedFunc(maps.Keys(secrets),
		func(a, b string) int { return len(secrets[b]) - len(secrets[a]) }) {
		value := secrets[name]
		if value == secretStandIn(name) {
			continue
		}
		if len(value) < minSecretLength {
			return nil, fmt.Errorf("the value of %s is too short to be told from content: record with a longer one", name)
		}
		for _, spell := range secretSpellings {
			pairs = append(pairs, spell(value), spell(secretStandIn(name)))
		}
	}
	r.pairs = strings.NewReplacer(pairs...)
	return r, nil
}

// secretSpellings are the forms of a value in requests and answers.
var secretSpellings = []func(string) string{
	func(v string) string { return v },
	url.QueryEscape,
	url.PathEscape,
	quotedValue,
	func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) },
	func(v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) },
}

func quotedValue(v string) string {
	text, err := jsontext.AppendQuote(nil, v)
	if err != nil {
		return v
	}
	return string(text[1 : len(text)-1])
}

// findSecret returns the name of a variable if its value is in the data.
func (r *redaction) findSecret(data []byte) string {
	for name, value := range r.values {
		for _, spell := range secretSpellings {
			if value != secretStandIn(name) && bytes.Contains(data, []byte(spell(value))) {
				return name
			}
		}
	}
	return ""
}

func (r *redaction) redactText(s string) string { return r.pairs.Replace(s) }

// redactRequest is a request without its secrets. Its headers are left out altogether.
func (r *redaction) redactRequest(req *http.Request, body []byte) Request {
	to := *req.URL
	to.User, to.Fragment = nil, ""
	to.RawQuery = r.redactParameters(to.RawQuery)
	return Request{Method: req.Method, URL: r.redactText(to.String()),
		Body: string(r.redactBody(body, req.Header.Get("Content-Type")))}
}

// redactAnswer is an answer without its secrets.
func (r *redaction) redactAnswer(resp *http.Response, body []byte) Answer {
	a := Answer{Status: resp.StatusCode, Header: http.Header{}}
	for name, values := range resp.Header {
		if credentialHeader.MatchString(name) || name == "Content-Length" { // the length is that of what is kept
			continue
		}
		for _, v := range values {
			a.Header.Add(name, r.redactText(v))
		}
	}
	a.setBody(r.redactBody(body, resp.Header.Get("Content-Type")))
	return a
}

// redactBody finds credentials by their names in JSON and in forms, and secrets everywhere.
func (r *redaction) redactBody(body []byte, contentType string) []byte {
	if kind, _, _ := mime.ParseMediaType(contentType); kind == "application/x-www-form-urlencoded" {
		return []byte(r.redactText(r.redactParameters(string(body))))
	}
	if clean, err := r.redactMembers(body); err == nil {
		return clean
	}
	return []byte(r.redactText(string(body)))
}

// redactParameters hides what is named like a credential and leaves the order as it is.
func (r *redaction) redactParameters(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, _, given := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil && given &&
			(credentialName.MatchString(plain) || parameterName.MatchString(plain)) {
			parts[i] = name + "=" + redactedText
		}
	}
	return r.redactText(strings.Join(parts, "&"))
}

// redactMembers hides what is named like a credential in JSON of any depth.
func (r *redaction) redactMembers(body []byte) (jsontext.Value, error) {
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewReader(body)), jsontext.NewEncoder(&out)
	for {
		kind, n := dec.StackIndex(dec.StackDepth())
		naming := kind == '{' && n%2 == 0 && dec.PeekKind() == '"'
		switch dec.PeekKind() {
		case '{', '}', '[', ']':
			token, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			if err := enc.WriteToken(token); err != nil {
				return nil, err
			}
		case '"':
			token, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			text := token.String()
			if err := enc.WriteToken(jsontext.String(r.redactText(text))); err != nil {
				return nil, err
			}
			if next := dec.PeekKind(); naming && credentialName.MatchString(text) && (next == '"' || next == '0') {
				if err := dec.SkipValue(); err != nil {
					return nil, err
				}
				if err := enc.WriteToken(jsontext.String(redactedText)); err != nil {
					return nil, err
				}
			}
		default:
			value, err := dec.ReadValue()
			if errors.Is(err, io.EOF) && out.Len() > 0 && dec.StackDepth() == 0 {
				return bytes.TrimSpace(out.Bytes()), nil
			}
			if err != nil {
				return nil, err
			}
			if err := enc.WriteValue(value); err != nil {
				return nil, err
			}
		}
	}
}
