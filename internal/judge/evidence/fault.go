package evidence

import (
	"slices"
	"strings"

	"pdpp/protocol"
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
	// statuses say so by themselves.
	statuses = words("401 403 unauthorized unauthenticated forbidden invalid_grant reauth relogin")

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

// CredentialFault believes a connector that says in its own code, or by asking
// for new credentials, that it failed over its credential.
func (f *Failure) CredentialFault() CredentialFault {
	if slices.Contains(otherRemedies, f.Action) {
		return ""
	}
	code := "_" + wordEdges.Replace(strings.ToLower(f.Code)) + "_"
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(code, "_"+w+"_") })
	}
	excused := has(passing) || has(elsewhere)
	switch {
	case !excused && has(asked) && has(absent):
		return CredentialMissing
	case !excused && (has(statuses) || has(subjects) && has(refusals)), f.Action == protocol.RefreshCredentials:
		return CredentialRefused
	default:
		return ""
	}
}

// wordEdges are what stands between the words of a code.
var wordEdges = strings.NewReplacer(" ", "_", "-", "_", ".", "_", ":", "_", "/", "_")
