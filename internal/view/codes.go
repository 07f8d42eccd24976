package view

import (
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// redacted stands for text that is not a code.
const redacted = "redacted"

// longestCode bounds what counts as a code.
const longestCode = 80

// plainCode reports whether text is a short name in lower case that cannot
// carry a secret: no part of it is long or mixes letters with several digits.
func plainCode(s string) bool {
	if s == "" || len(s) > longestCode {
		return false
	}
	letters, digits := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			letters++
		case c >= '0' && c <= '9':
			digits++
		case c == '_' || c == ':' || c == '-' || c == '.':
			letters, digits = 0, 0
		default:
			return false
		}
		if letters+digits >= 24 || letters > 0 && digits > 0 && letters+digits >= 8 {
			return false
		}
	}
	for _, prefix := range []string{"ghp", "gho", "ghu", "ghs", "ghr", "github_pat", "sk-", "xox", "eyj", "glpat", "akia"} {
		if strings.HasPrefix(s, prefix) {
			return false
		}
	}
	return true
}

// codeOr gives text that is a code, and other words for any other text.
func codeOr(s, other string) string {
	if plainCode(s) {
		return s
	}
	return other
}

// redactReason keeps codes alone.
func redactReason(s string) string {
	if s == "" || plainCode(s) {
		return s
	}
	return redacted
}

// redactOwnCode is redactReason for the code that a connector gave a failure: what
// stands for it says as much about the credential.
func redactOwnCode(f *evidence.Failure) string {
	if f.Code == "" || plainCode(f.Code) {
		return f.Code
	}
	switch (&evidence.Failure{Code: f.Code}).CredentialFault() {
	case evidence.CredentialMissing:
		return redacted + "_credential_missing"
	case evidence.CredentialRefused:
		return redacted + "_credential_refused"
	default:
		return redacted
	}
}

func redactCode[S ~string](s *S) { *s = S(redactReason(string(*s))) }

// standIns take the place of the reason of a skip that is not a code. Between
// them they have every meaning that such a reason can have.
var standIns = []string{redacted, "redacted_retry", "redacted_disabled", "redacted_unavailable", "redacted_unsupported"}

// redactSkip gives a skip that says as much about its stream as the one given.
func redactSkip(s evidence.Skip) evidence.Skip {
	out := s
	redactCode(&out.Action)
	if s.Reason == "" || plainCode(s.Reason) {
		return out
	}
	means := skipMeans(s)
	for _, reason := range standIns {
		if out.Reason = reason; skipMeans(out) == means {
			return out
		}
	}
	out.Reason = redacted
	return out
}

// skipMeans is the coverage of a stream of which nothing but the skip is known.
func skipMeans(s evidence.Skip) health.Coverage {
	e := evidence.Evidence{
		LastRun: &evidence.Run{Status: evidence.RunSucceeded}, Gaps: &evidence.Gaps{},
		Streams: []evidence.Stream{{Required: true, Fact: &evidence.Fact{RunStatus: evidence.RunSucceeded, Skip: &s}}},
	}
	return health.Project(&e, time.Time{}).Snapshot.Axes.Coverage
}
