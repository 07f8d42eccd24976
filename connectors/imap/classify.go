package imap

import (
	"crypto/tls"
	"errors"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// refusal is a NO or a BYE, or a BAD.
type refusal struct {
	command string
	a       *answer
}

// Error names the code alone: the text may be the server's words about somebody's mail.
func (r *refusal) Error() string {
	text := r.command + ": " + r.a.status
	if r.a.code != "" {
		text += " [" + r.a.code + "]"
	}
	return text
}

const signIn = "AUTHENTICATE"

// Owners read these; the server's own words are never passed on.
const (
	wordsAppPassword = "the server wants an app password in place of the account's own: create one at the provider, then enter it here"
	wordsBrowser     = "the provider wants you to visit it in a browser first: sign in there once, then run again"
	wordsCertificate = "the mail server's certificate is not valid for its name: check the name of the server, and run again"
	wordsOff         = "reading mail over IMAP is switched off for this account: switch it on in the provider's settings, then run again"
)

// limits are words for too many connections or too much traffic, where there is no code for it.
var limits = []string{"too many simultaneous", "too many connections", "too many open connections", "maximum number of connections", "exceeded command or bandwidth", "rate limit", "throttl"}

// judge says what a command's answer means. Nil is a success.
func judge(command string, a *answer) (governor.Kind, error) {
	if a.bye != nil && a.status == "" {
		a = &answer{status: "BYE", code: a.bye.code, args: a.bye.args, text: a.bye.text}
	}
	if a.status == "OK" || a.status == "PREAUTH" {
		return governor.Success, nil
	}
	refused := &refusal{command, a}
	fail := func(kind governor.Kind, class connectorkit.Class) (governor.Kind, error) {
		return kind, &connectorkit.Error{Class: class, Err: refused}
	}
	text := strings.ToLower(a.text)
	limited := a.code == "LIMIT" || a.code == "OVERQUOTA" || a.code == "THROTTLED"
	for _, words := range limits {
		limited = limited || strings.Contains(text, words)
	}
	switch {
	case limited:
		return fail(governor.Throttled, connectorkit.RateLimited)
	case a.code == "UNAVAILABLE", a.code == "SERVERBUG", a.code == "INUSE", a.code == "CORRUPTION", a.status == "BYE":
		return fail(governor.Failed, connectorkit.Unavailable)
	case command == signIn:
		_, err := fail(governor.Rejected, connectorkit.Unauthorized)
		e := err.(*connectorkit.Error)
		switch {
		case strings.Contains(text, "application-specific password"), strings.Contains(text, "app password"):
			e.OwnerMessage = wordsAppPassword
		case a.code == "WEBALERT", strings.Contains(text, "web browser"):
			e.OwnerMessage = wordsBrowser
		case strings.Contains(text, "not enabled for imap"):
			e.OwnerMessage = wordsOff
		}
		return governor.Rejected, e
	case a.status == "BAD":
		return fail(governor.Rejected, connectorkit.Malformed)
	case a.code == "NONEXISTENT":
		return fail(governor.Rejected, connectorkit.NotFound)
	case a.code == "NOPERM", text == "permission denied": // Cyrus has no code for it
		return fail(governor.Rejected, connectorkit.Forbidden)
	}
	// A NO without a reason does not go away by repeating it at once; a part of what was asked for
	// may be answered all the same.
	return fail(governor.Rejected, connectorkit.Unavailable)
}

// broken is what a connection's failure means.
func broken(err error) (governor.Outcome, error) {
	var transport *governhttp.Error
	var stopped *governhttp.Stopped
	var classified *connectorkit.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &stopped):
		return governor.Outcome{Kind: governor.Rejected}, err // it was given up already
	case errors.As(err, &certificate):
		return governor.Outcome{Kind: governor.Rejected},
			&connectorkit.Error{Class: connectorkit.Unavailable, OwnerMessage: wordsCertificate, Err: err}
	case errors.Is(err, errLost):
		return governor.Outcome{Kind: governor.Failed}, err
	case errors.Is(err, errCut):
		return governor.Outcome{Kind: governor.Failed}, connectorkit.Fail(connectorkit.Unavailable, err)
	case errors.As(err, &transport):
		kind := governor.Failed
		if governhttp.UnreachableHost(err) != "" {
			return governor.Outcome{Kind: kind, Unreached: true}, err
		}
		return governor.Outcome{Kind: kind}, err
	case errors.As(err, &classified):
		return governor.Outcome{Kind: governor.Rejected}, err
	}
	return governor.Outcome{Kind: governor.Rejected}, connectorkit.Fail(connectorkit.Malformed, err)
}

// refusedOutright tells whether a server said NO to a command without a reason that concerns more
// than what was asked for.
func refusedOutright(err error) bool {
	var r *refusal
	var s *governhttp.Stopped
	return errors.As(err, &r) && !errors.As(err, &s) && r.a.status == "NO"
}
