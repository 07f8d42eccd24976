package evidence

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pdpp-go/pdpp/protocol"
)

// CredentialFault is how a run failed over its credential; empty when it did not.
type CredentialFault string

const (
	CredentialMissing CredentialFault = "missing"
	CredentialRefused CredentialFault = "refused"
)

// The code of a failure is split into words. A refused credential is a subject combined with a refusal, or the status
// code of such an answer. A missing credential is an owner-supplied secret combined with a word for its absence.
var (
	// ownerSuppliedWords name secrets that the owner enters.
	ownerSuppliedWords = words("credential credentials token password passcode apikey api_key app_password access_key")
	// absenceWords state that the secret was not entered.
	absenceWords = words("missing required absent")
	// credentialWords name what a source can reject.
	credentialWords = words("auth authentication authorization oauth login signin sign_in session sessions cookie " +
		"cookies permission credential credentials token password passcode apikey api_key app_password access_key " +
		"refresh_token access_token")
	// refusalWords state that the source rejected it.
	refusalWords = words("rejected refused bad invalid wrong incorrect expired revoked denied failure failed error " +
		"required " +
		"ended lost")
	// unauthorizedWords need no second word. A 403 is not among them: firewalls, bot checks and single items return it,
	// too.
	unauthorizedWords = words("401 unauthorized unauthenticated invalid_grant reauth relogin")
	// forbiddenWords name an answer that is about the credential only if the source's message states so.
	forbiddenWords = words("403 forbidden")
	// rateLimitWords name a source that asked for a slower pace.
	rateLimitWords = words("rate_limited rate_limit ratelimited ratelimit too_many_requests throttled 429 quota_exceeded")

	// transientWords name failures that pass without a new credential: rate limits, outages and network errors. They
	// override all other words of a code.
	transientWords = words("rate ratelimit limit limited throttled quota 429 budget pressure circuit timeout timed " +
		"retry temporary temporarily transient unavailable network dns connection upstream 500 502 503 504")
	// unrelatedWords name other things that are called token, session or forbidden: a position in a list, a form's CSRF
	// token, a single item.
	unrelatedWords = words("page sync cursor continuation delta csrf permanent scope browser")
)

// otherRemedies are the recovery actions that no new credential can replace. The action counts for more than the code
// of the failure.
var otherRemedies = []protocol.RecoveryAction{
	protocol.RetryByRuntime, protocol.RetryOnConnectorUpgrade, protocol.UpdateSelector, protocol.UpstreamUnblock,
}

func words(list string) []string { return strings.Fields(list) }

// connectorReportedFailed is the reason of a run that failed with a message of its connector. Messages of other runs
// come from this program.
const connectorReportedFailed = "connector_reported_failed"

// CredentialFault returns whether the connector failed because of its credential. It reads the code, the requested
// action and then the message. A connector that expects the next run to work needs no new credential.
func (f *Failure) CredentialFault() CredentialFault {
	if slices.Contains(otherRemedies, f.Action) || f.Action == "" && f.Retryable != nil && *f.Retryable {
		return ""
	}
	fault, excused := codeFault(f.Code)
	switch {
	case fault != "":
		return fault
	case f.Action == protocol.RefreshCredentials:
		return CredentialRefused
	case !excused && f.Reason == connectorReportedFailed:
		return messageFault(f.Message)
	default:
		return ""
	}
}

// codeFault classifies a code. It is excused when the code names something that a new credential does not change.
func codeFault(code string) (fault CredentialFault, excused bool) {
	switch {
	case codeContains(code, transientWords) || codeContains(code, unrelatedWords):
		return "", true
	case codeContains(code, ownerSuppliedWords) && codeContains(code, absenceWords):
		return CredentialMissing, false
	case codeContains(code, unauthorizedWords) || codeContains(code, credentialWords) && codeContains(code, refusalWords):
		return CredentialRefused, false
	default:
		return "", false
	}
}

// codeContains reports whether one of the words is a whole word of the code.
func codeContains(code string, list []string) bool {
	code = wordEdges.Replace(strings.ToLower(code))
	return slices.ContainsFunc(list, func(w string) bool { return containsWord(code, w) })
}

// containsWord reports whether the word occurs in the code between underscores or its ends.
func containsWord(code, word string) bool {
	for from := 0; ; {
		i := strings.Index(code[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || code[start-1] == '_') && (end == len(code) || code[end] == '_') {
			return true
		}
		from = start + 1
	}
}

// Forbidden reports whether the connector names an answer that need not be about the credential.
func (f *Failure) Forbidden() bool { return codeContains(f.Code, forbiddenWords) }

// Limited reports whether the connector failed because the source asked for a slower pace, according to its code or
// to a code in its message.
func (f *Failure) Limited() bool {
	if f.Reason != connectorReportedFailed {
		return false
	}
	return codeContains(f.Code, rateLimitWords) ||
		slices.ContainsFunc(codesInMessage(f.Message), func(code string) bool { return codeContains(code, rateLimitWords) })
}

// codesInMessage returns the words of a message that are written like codes, such as oura_auth_failed.
func codesInMessage(text string) (codes []string) {
	for _, w := range wordsInMessage(text) {
		if strings.Contains(strings.Trim(w, "_"), "_") {
			codes = append(codes, w)
		}
	}
	return codes
}

func wordsInMessage(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
}

// In a message only words close to each other count, and only explicit refusals: many other things fail after a
// login.
var (
	// Files have permissions, too.
	messageSubjects = slices.DeleteFunc(slices.Clone(credentialWords), func(w string) bool { return w == "permission" })
	messageRefusals = words("rejected refused bad invalid wrong incorrect expired revoked denied")
)

// messageFault classifies a message.
func messageFault(text string) CredentialFault {
	texts := wordsInMessage(text)
	for _, code := range codesInMessage(text) {
		if fault, excused := codeFault(code); fault != "" || excused {
			return fault
		}
	}
	at := func(list []string) (places []int) {
		for i, w := range texts {
			if slices.Contains(list, w) || i > 0 && slices.Contains(list, texts[i-1]+"_"+w) {
				places = append(places, i)
			}
		}
		return places
	}
	// near matches "the token has been revoked" and "invalid access token".
	near := func(subject, word []string) bool {
		words := at(word)
		return slices.ContainsFunc(at(subject), func(s int) bool {
			return slices.ContainsFunc(words, func(w int) bool { return s < w && w-s <= 4 || w < s && s-w <= 2 })
		})
	}
	switch {
	case len(at(transientWords))+len(at(unrelatedWords)) > 0:
		return ""
	case near(ownerSuppliedWords, absenceWords):
		return CredentialMissing
	case len(at(unauthorizedWords)) > 0 || near(messageSubjects, messageRefusals):
		return CredentialRefused
	default:
		return ""
	}
}

// wordEdges replaces the separators between the words of a code.
var wordEdges = strings.NewReplacer(" ", "_", "-", "_", ".", "_", ":", "_", "/", "_")
