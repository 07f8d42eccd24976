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

// The code by which a connector names its failure is read word by word. What a
// source does not accept is a subject with a word that says no, or the status of
// such an answer; what was never given is a credential with a word that asks for it.
var (
	// asked are what an owner gives.
	asked = words("credential credentials token password passcode apikey api_key app_password access_key")
	// absent say that it was not given.
	absent = words("missing required absent")
	// subjects are what a source can turn down.
	subjects = words("auth authentication authorization oauth login signin sign_in session sessions cookie cookies permission " +
		"credential credentials token password passcode apikey api_key app_password access_key refresh_token access_token")
	// refusals say that it did.
	refusals = words("rejected refused bad invalid wrong incorrect expired revoked denied failure failed error required ended lost")
	// statuses say so by themselves. A 403 does not: firewalls, robots' gates and single items answer so too.
	statuses = words("401 unauthorized unauthenticated invalid_grant reauth relogin")
	// forbidden is an answer that may be about the credential, if the source's own words say so.
	forbidden = words("403 forbidden")
	// limits name a source that asked for a slower pace.
	limits = words("rate_limited rate_limit ratelimited ratelimit too_many_requests throttled 429 quota_exceeded")

	// passing are the words of what goes by without a new credential, whatever
	// stands beside them: the source's pace, its troubles, the way to it.
	passing = words("rate ratelimit limit limited throttled quota 429 budget pressure circuit timeout timed retry " +
		"temporary temporarily transient unavailable network dns connection upstream 500 502 503 504")
	// elsewhere are the words of other things that are called tokens, sessions or
	// forbidden: the place in a list, a form's own guard, a single item.
	elsewhere = words("page sync cursor continuation delta csrf permanent scope browser")
)

// otherRemedies are what a connector asks for when no new credential would help.
// Its own word counts for more than the name that it gave its failure.
var otherRemedies = []protocol.RecoveryAction{
	protocol.RetryByRuntime, protocol.RetryOnConnectorUpgrade, protocol.UpdateSelector, protocol.UpstreamUnblock,
}

func words(list string) []string { return strings.Fields(list) }

// reportedFailed is the reason of a run whose connector said why it failed. The message
// of any other is this program's own.
const reportedFailed = "connector_reported_failed"

// CredentialFault believes a connector that says in its own code, by asking for new
// credentials, or at least in its sentence, that it failed over its credential. One that
// expects the next run to work needs none.
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
	case !excused && f.Reason == reportedFailed:
		return saidFault(f.Message)
	default:
		return ""
	}
}

// codeFault reads a code. It is excused when it names what no new credential changes.
func codeFault(code string) (fault CredentialFault, excused bool) {
	switch {
	case codeHas(code, passing) || codeHas(code, elsewhere):
		return "", true
	case codeHas(code, asked) && codeHas(code, absent):
		return CredentialMissing, false
	case codeHas(code, statuses) || codeHas(code, subjects) && codeHas(code, refusals):
		return CredentialRefused, false
	default:
		return "", false
	}
}

// codeHas reports whether one of the words is a whole word of the code.
func codeHas(code string, list []string) bool {
	code = "_" + wordEdges.Replace(strings.ToLower(code)) + "_"
	return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(code, "_"+w+"_") })
}

// Forbidden reports whether the connector names an answer that need not be about the credential.
func (f *Failure) Forbidden() bool { return codeHas(f.Code, forbidden) }

// Limited reports whether the connector failed because the source asked for a slower pace, by
// its code or by a code in its sentence.
func (f *Failure) Limited() bool {
	if f.Reason != reportedFailed {
		return false
	}
	return codeHas(f.Code, limits) ||
		slices.ContainsFunc(saidCodes(f.Message), func(code string) bool { return codeHas(code, limits) })
}

// saidCodes returns the words of a sentence that are written as codes are, such as oura_auth_failed.
func saidCodes(text string) (codes []string) {
	for _, w := range saidWords(text) {
		if strings.Contains(strings.Trim(w, "_"), "_") {
			codes = append(codes, w)
		}
	}
	return codes
}

func saidWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
}

// In a sentence only words that belong together count, and only those that say no
// outright: much fails after a login.
var (
	saidSubjects = slices.DeleteFunc(slices.Clone(subjects), func(w string) bool { return w == "permission" }) // files have them too
	saidRefusals = words("rejected refused bad invalid wrong incorrect expired revoked denied")
)

// saidFault reads a sentence.
func saidFault(text string) CredentialFault {
	said := saidWords(text)
	for _, code := range saidCodes(text) {
		if fault, excused := codeFault(code); fault != "" || excused {
			return fault
		}
	}
	at := func(list []string) (places []int) {
		for i, w := range said {
			if slices.Contains(list, w) || i > 0 && slices.Contains(list, said[i-1]+"_"+w) {
				places = append(places, i)
			}
		}
		return places
	}
	// together: "the token has been revoked", "invalid access token".
	together := func(subject, word []string) bool {
		words := at(word)
		return slices.ContainsFunc(at(subject), func(s int) bool {
			return slices.ContainsFunc(words, func(w int) bool { return s < w && w-s <= 4 || w < s && s-w <= 2 })
		})
	}
	switch {
	case len(at(passing))+len(at(elsewhere)) > 0:
		return ""
	case together(asked, absent):
		return CredentialMissing
	case len(at(statuses)) > 0 || together(saidSubjects, saidRefusals):
		return CredentialRefused
	default:
		return ""
	}
}

// wordEdges are what stands between the words of a code.
var wordEdges = strings.NewReplacer(" ", "_", "-", "_", ".", "_", ":", "_", "/", "_")
