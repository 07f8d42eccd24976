package view

import (
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
)

// redactedCode replaces text that is not a code.
const redactedCode = "redacted"

// longestCode is the maximum length of a code.
const longestCode = 80

// plainCode reports whether text is a short lower-case name that cannot contain a secret. No part of it may be long
// or mix letters with several digits.
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
	for _, prefix := range []string{"ghp", "gho", "ghu", "ghs", "ghr", "github_pat", "sk-", "xox", "eyj", "glpat",
		"akia"} {
		if strings.HasPrefix(s, prefix) {
			return false
		}
	}
	return true
}

// codeOr returns s if it is a code, and otherwise other.
func codeOr(s, other string) string {
	if plainCode(s) {
		return s
	}
	return other
}

// redactReason returns codes unchanged and replaces any other text.
func redactReason(s string) string {
	if s == "" || plainCode(s) {
		return s
	}
	return redactedCode
}

// redactOwnCode is redactReason for the code of a connector's failure. The replacement has the same meaning for the
// credential.
func redactOwnCode(f *evidence.Failure) string {
	if f.Code == "" || plainCode(f.Code) {
		return f.Code
	}
	switch (&evidence.Failure{Code: f.Code}).CredentialFault() {
	case evidence.CredentialMissing:
		return redactedCode + "_credential_missing"
	case evidence.CredentialRefused:
		return redactedCode + "_credential_refused"
	default:
		return redactedCode
	}
}

func redactCode[S ~string](s *S) { *s = S(redactReason(string(*s))) }

// skipReplacements replace the reason of a skip that is not a code. Together they have every meaning that such a
// reason can have.
var skipReplacements = []string{redactedCode, "redacted_retry", "redacted_disabled", "redacted_unavailable",
	"redacted_unsupported"}

// redactSkip returns a skip without free text that leads to the same coverage.
func redactSkip(s evidence.Skip) evidence.Skip {
	out := s
	redactCode(&out.Action)
	if s.Reason == "" || plainCode(s.Reason) {
		return out
	}
	means := coverageOfSkip(s)
	for _, reason := range skipReplacements {
		if out.Reason = reason; coverageOfSkip(out) == means {
			return out
		}
	}
	out.Reason = redactedCode
	return out
}

// coverageOfSkip returns the coverage that follows from the skip if nothing else is known about the stream.
func coverageOfSkip(s evidence.Skip) health.Coverage {
	e := evidence.Evidence{
		LastRun: &evidence.Run{Status: evidence.RunSucceeded}, Gaps: &evidence.Gaps{},
		Streams: []evidence.Stream{{Required: true, Fact: &evidence.Fact{RunStatus: evidence.RunSucceeded, Skip: &s}}},
	}
	return health.Project(&e, time.Time{}).Snapshot.Axes.Coverage
}
