package dav

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// CollectionKind is what an account is asked for.
type CollectionKind struct {
	WellKnown string // last part of the path under which a server publishes its location
	Type      string // of a collection
	Space     string // XML namespace of the protocol
	Home      string // property of a principal
	Text      string // property of a collection that describes it
	Multiget  string // report that returns objects
	Data      string // property of an object that is its content
}

// Calendars and Books are the kinds that there are.
var (
	Calendars = CollectionKind{
		WellKnown: "caldav", Type: "calendar", Space: "urn:ietf:params:xml:ns:caldav", Home: "calendar-home-set",
		Text:     "calendar-description",
		Multiget: "calendar-multiget", Data: "calendar-data",
	}
	AddressBooks = CollectionKind{
		WellKnown: "carddav", Type: "addressbook", Space: "urn:ietf:params:xml:ns:carddav", Home: "addressbook-home-set",
		Text:     "addressbook-description",
		Multiget: "addressbook-multiget", Data: "address-data",
	}
)

// maxAnswerBytes bounds one answer: a hundred objects of the sizes that people have.
const maxAnswerBytes = 32 << 20

var (
	errTruncated      = errors.New("the answer ends early")
	errNotMultistatus = errors.New("the answer is not the XML of a WebDAV server")
	errHostNotAllowed = errors.New("the collections are on a host that does not belong to the address")
)

// Account is a person's place on a server. It is for one run.
type Account struct {
	kind   CollectionKind
	setup  *connectorkit.Setup
	header http.Header
	given  *url.URL
	user   string
	secret string
	digest *digestChallenge // nil until the server asks for it; then Basic is not sent any more

	client *governhttp.Client
	origin string // scheme and host that the client asks
	home   string // path; empty until found
	listed []Collection
	known  bool // listed is of this run
}

// OpenAccount prepares an account. The address is that of a server, of a principal or of a
// collection; without a scheme it is https.
func OpenAccount(s *connectorkit.Setup, kind CollectionKind, address, user, password string) (*Account, error) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	given, err := url.Parse(address)
	if err != nil || given.Host == "" || given.Scheme != "https" && given.Scheme != "http" {
		return nil, connectorkit.EndRun(s.Key()+"_address_unreadable",
			"the address of the server cannot be read: enter it as in https://dav.example.org and connect again",
			protocol.ManualActionRequired, false)
	}
	secret := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	s.HideSecret(secret)
	a := &Account{kind: kind, setup: s, given: given, user: user, secret: password, header: http.Header{
		"Authorization": {"Basic " + secret}, "User-Agent": {"pdpp-" + s.Key() + "-connector/1.0"},
	}}
	return a, a.setHost(given)
}

// setHost directs the requests to the host of an address.
func (a *Account) setHost(u *url.URL) error {
	client, err := a.setup.HTTP(governhttp.Options{BaseURL: u.Scheme + "://" + u.Host, Header: a.header,
		Sign:     a.signDigest,
		Classify: classifyAnswer, MaxBody: maxAnswerBytes})
	if err != nil {
		return err
	}
	a.client, a.origin = client, u.Scheme+"://"+u.Host
	return nil
}

// classifyAnswer classifies an answer. A truncated answer is retried.
func classifyAnswer(r *governhttp.Response) error {
	switch {
	case r.Status == http.StatusMultiStatus:
		if tail := strings.TrimSpace(string(r.Body[max(0, len(r.Body)-64):])); !strings.HasSuffix(tail, "multistatus>") {
			return connectorkit.Fail(connectorkit.Unavailable, errTruncated)
		}
		return nil
	case r.Status == http.StatusNotImplemented, r.Status == http.StatusInsufficientStorage:
		return &connectorkit.Error{Class: connectorkit.Malformed, Status: r.Status}
	}
	return connectorkit.ByStatus(r)
}

// propfind asks for properties of a path.
func (a *Account) propfind(ctx context.Context, path, depth, props string) (multistatus, error) {
	m, _, err := a.sendRequest(ctx, "PROPFIND", path, depth, `<propfind xmlns="DAV:"><prop>`+props+`</prop></propfind>`)
	return m, err
}

// sendRequest sends one request and parses its multistatus. It returns the answer with a
// failure too, because its body may explain more than its status.
//
// Small servers keep a file for each object and go through all of them for a list, a report,
// a token: minutes without output. The request waits that long. Every run begins
// with questions about one resource, so that a server that is gone is noticed by those.
func (a *Account) sendRequest(ctx context.Context, method, path, depth, body string) (multistatus, *governhttp.Response,
	error) {
	target := url.URL{Path: path}
	request := func() (*governhttp.Response, error) {
		return a.client.Do(ctx, governhttp.Request{
			Method: method, URL: a.origin + target.EscapedPath(), Body: []byte(`<?xml version="1.0" encoding="utf-8"?>` + body),
			Header:  http.Header{"Depth": {depth}, "Content-Type": {"application/xml; charset=utf-8"}},
			Patient: method != "PROPFIND" || depth != "0",
		})
	}
	resp, err := request()
	if c := a.digestChallenge(resp); c != nil {
		a.digest = c
		resp, err = request()
	}
	if err != nil {
		return multistatus{}, resp, err
	}
	if resp.Status != http.StatusMultiStatus {
		return multistatus{}, resp, &connectorkit.Error{Class: connectorkit.Malformed, Status: resp.Status,
			Err: errNotMultistatus}
	}
	m, err := parseMultistatus(resp.Body)
	if err != nil {
		return multistatus{}, resp, connectorkit.Fail(connectorkit.Malformed, errNotMultistatus)
	}
	return m, resp, nil
}

// signDigest answers the challenge of a server that wants Digest authentication.
func (a *Account) signDigest(r *http.Request) {
	if a.digest != nil {
		r.Header.Set("Authorization", a.digest.authorizationHeader(a.user, a.secret, r.Method, r.URL.RequestURI()))
	}
}

// digestChallenge returns the challenge of a server that wants Digest authentication, or another nonce for it; nil when
// the answer is none, or refuses the credential itself.
func (a *Account) digestChallenge(resp *governhttp.Response) *digestChallenge {
	if resp == nil || resp.Status != http.StatusUnauthorized {
		return nil
	}
	c := bestChallenge(resp.Header)
	if c == nil || a.digest != nil && (a.digest.nonce == c.nonce || a.digest.uses == 1) {
		return nil // the first answer to a challenge was refused
	}
	return c
}

const homeSetProperties = `<current-user-principal/><resourcetype/>` +
	`<c:calendar-home-set xmlns:c="urn:ietf:params:xml:ns:caldav"/>` +
	`<a:addressbook-home-set xmlns:a="urn:ietf:params:xml:ns:carddav"/>`

// findHome follows the account from the owner's address to the home of its collections.
func (a *Account) findHome(ctx context.Context) error {
	if a.home != "" {
		return nil
	}
	wellKnown := "/.well-known/" + a.kind.WellKnown
	places := []string{a.given.Path, wellKnown, "/"}
	if strings.Trim(a.given.Path, "/") == "" {
		places = []string{wellKnown, "/"}
	}
	var last error
	for _, place := range places {
		principal, home, err := a.lookupHome(ctx, place)
		if err == nil && home == "" && principal != "" && principal != place {
			_, home, err = a.lookupHome(ctx, principal)
		}
		switch {
		case err == nil && home != "":
			a.home = home
			return nil
		case err != nil && !isAbsent(err):
			return err
		case err != nil:
			last = err
		}
	}
	a.setup.Log.Warn("no home of collections found", "cause", governhttp.WithoutURL(last))
	return connectorkit.EndRun(a.setup.Key()+"_not_found",
		"this server shows no "+a.kind.Type+"s under that address: check the address with your provider and connect again",
		protocol.ManualActionRequired, false)
}

// isAbsent reports whether a failure means that there is no such resource at the path.
func isAbsent(err error) bool {
	var e *connectorkit.Error
	if !errors.As(err, &e) {
		var moved *governhttp.Error
		return errors.As(err, &moved) && moved.Kind == governhttp.Redirected
	}
	switch e.Class {
	case connectorkit.NotFound, connectorkit.Gone, connectorkit.Forbidden:
		return true
	case connectorkit.Malformed:
		return e.Status != 0 // an answer of another kind, such as a web page
	}
	return false
}

// lookupHome asks a place for the principal of the account and for the home of its collections.
// A place that is a collection of the kind is its own home.
func (a *Account) lookupHome(ctx context.Context, place string) (principal, home string, err error) {
	m, err := a.propfind(ctx, place, "0", homeSetProperties)
	if err != nil {
		return "", "", err
	}
	for _, r := range m.Responses {
		p := r.foundProperties()
		set := p.Calendars.Href
		if a.kind.WellKnown == AddressBooks.WellKnown {
			set = p.Books.Href
		}
		if set != "" {
			home, err = a.moveToHost(set)
			return "", home, err
		}
		if p.hasType(a.kind.Space, a.kind.Type) {
			if at, ok := pathFromHref(r.Href); ok {
				return "", at, nil
			}
		}
		if p.Principal.Href != "" {
			if principal, err = a.moveToHost(p.Principal.Href); err != nil {
				return "", "", err
			}
		}
	}
	return principal, "", nil
}

// moveToHost goes to the host that an address names. The credential goes nowhere but to the
// owner's host and hosts below the same domain.
func (a *Account) moveToHost(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	at, ok := pathFromHref(address)
	if err != nil || !ok {
		return "", connectorkit.Fail(connectorkit.Malformed, errNotMultistatus)
	}
	if u.Host == "" || u.Host == a.given.Host || a.origin == u.Scheme+"://"+u.Host {
		return at, nil
	}
	_, domain, _ := strings.Cut(a.given.Hostname(), ".")
	if u.Scheme != a.given.Scheme || !strings.Contains(domain, ".") || !strings.HasSuffix(u.Hostname(), "."+domain) {
		return "", connectorkit.Fail(connectorkit.Malformed, errHostNotAllowed)
	}
	return at, a.setHost(u)
}
