package imap

import (
	"crypto/tls"
	"errors"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// serverRefusal is a NO or a BYE, or a BAD.
type serverRefusal struct {
	command string
	a       *serverAnswer
}

// Error returns only the code, because the text may contain details of a person's mail.
func (r *serverRefusal) Error() string {
	text := r.command + ": " + r.a.status
	if r.a.code != "" {
		text += " [" + r.a.code + "]"
	}
	return text
}

const authenticateCommand = "AUTHENTICATE"

// Owners read these; the server's own text is never shown.
const (
	wordsAppPassword = "the server wants an app password in place of the account's own: " +
		"create one at the provider, then enter it here"
	wordsBrowser     = "the provider wants you to visit it in a browser first: sign in there once, then run again"
	wordsCertificate = "the mail server's certificate is not valid for its name: " +
		"check the name of the server, and run again"
	imapDisabledMessage = "reading mail over IMAP is switched off for this account: " +
		"switch it on in the provider's settings, then run again"
)

// limitPhrases are phrases for too many connections or too much traffic, where there is no code for it.
var limitPhrases = []string{"too many simultaneous", "too many connections", "too many open connections",
	"maximum number of connections", "exceeded command or bandwidth", "rate limit", "throttl"}

// classifyAnswer returns the outcome of a command. A nil error is success.
func classifyAnswer(command string, a *serverAnswer) (governor.Kind, error) {
	if a.bye != nil && a.status == "" {
		a = &serverAnswer{status: "BYE", code: a.bye.code, args: a.bye.args, text: a.bye.text}
	}
	if a.status == "OK" || a.status == "PREAUTH" {
		return governor.Success, nil
	}
	refused := &serverRefusal{command, a}
	fail := func(kind governor.Kind, class connectorkit.Class) (governor.Kind, error) {
		return kind, &connectorkit.Error{Class: class, Err: refused}
	}
	text := strings.ToLower(a.text)
	limited := a.code == "LIMIT" || a.code == "OVERQUOTA" || a.code == "THROTTLED"
	for _, words := range limitPhrases {
		limited = limited || strings.Contains(text, words)
	}
	switch {
	case limited:
		return fail(governor.Throttled, connectorkit.RateLimited)
	case a.code == "UNAVAILABLE", a.code == "SERVERBUG", a.code == "INUSE", a.code == "CORRUPTION", a.status == "BYE":
		return fail(governor.Failed, connectorkit.Unavailable)
	case command == authenticateCommand:
		_, err := fail(governor.Rejected, connectorkit.Unauthorized)
		e := err.(*connectorkit.Error)
		switch {
		case strings.Contains(text, "application-specific password"), strings.Contains(text, "app password"):
			e.OwnerMessage = wordsAppPassword
		case a.code == "WEBALERT", strings.Contains(text, "web browser"):
			e.OwnerMessage = wordsBrowser
		case strings.Contains(text, "not enabled for imap"):
			e.OwnerMessage = imapDisabledMessage
		}
		return governor.Rejected, e
	case a.status == "BAD":
		return fail(governor.Rejected, connectorkit.Malformed)
	case a.code == "NONEXISTENT":
		return fail(governor.Rejected, connectorkit.NotFound)
	case a.code == "NOPERM", text == "permission denied": // Cyrus has no code for it
		return fail(governor.Rejected, connectorkit.Forbidden)
	}
	// Repeating a NO without a reason does not help, but a part of the request may still succeed.
	return fail(governor.Rejected, connectorkit.Unavailable)
}

// classifyConnection is what a connection's failure means.
func classifyConnection(err error) (governor.Outcome, error) {
	var transport *governhttp.Error
	var stopped *governhttp.Stopped
	var classified *connectorkit.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &stopped):
		return governor.Outcome{Kind: governor.Rejected}, err // it was abandoned already
	case errors.As(err, &certificate):
		return governor.Outcome{Kind: governor.Rejected},
			&connectorkit.Error{Class: connectorkit.Unavailable, OwnerMessage: wordsCertificate, Err: err}
	case errors.Is(err, errConnectionLost):
		return governor.Outcome{Kind: governor.Failed}, err
	case errors.Is(err, errTruncatedLiteral):
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

// refusedOutright reports whether the server answered NO without a reason that affects more than this request.
func refusedOutright(err error) bool {
	var r *serverRefusal
	var s *governhttp.Stopped
	return errors.As(err, &r) && !errors.As(err, &s) && r.a.status == "NO"
}
