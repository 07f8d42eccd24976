package health

import (
	"slices"
	"strings"
)

// maxReason is the maximum length of a reason code that is shown.
const maxReason = 80

// tokenPrefixes begin well-known secrets.
var tokenPrefixes = []string{"ghp", "gho", "ghu", "ghs", "ghr", "github_pat", "sk-", "xox", "eyj", "glpat", "akia"}

// secretNames precede a secret if a colon follows them.
var secretNames = []string{"password", "passwd", "pwd", "secret", "token", "key", "authorization", "bearer", "cookie",
	"otp", "pin", "code"}

// safeReason returns the reason, or the generic one if the text could contain a secret. That is anything but a short
// lower-case code, a part that looks like a known token or random characters, a number as long as a one-time code,
// and a value after the name of a secret.
func safeReason(reason, generic string) (code string, redacted bool) {
	if reason == "" {
		return generic, false
	}
	if len(reason) > maxReason {
		return generic, true
	}
	letters, digits, allDigits := 0, 0, 0
	for i := 0; i < len(reason); i++ {
		if letters+digits == 0 && startsToken(reason[i:]) {
			return generic, true
		}
		switch c := reason[i]; {
		case c >= 'a' && c <= 'z':
			letters++
		case c >= '0' && c <= '9':
			digits, allDigits = digits+1, allDigits+1
		case c == '_' || c == ':' || c == '-' || c == '.':
			if c == ':' && endsInName(reason[:i]) {
				return generic, true
			}
			letters, digits = 0, 0
		default:
			return generic, true
		}
		if letters+digits >= 24 || letters+digits >= 12 && min(letters, digits) >= 3 || digits >= 6 || allDigits >= 8 {
			return generic, true
		}
	}
	return reason, false
}

func startsToken(part string) bool {
	return slices.ContainsFunc(tokenPrefixes, func(p string) bool { return strings.HasPrefix(part, p) })
}

func endsInName(before string) bool {
	return slices.ContainsFunc(secretNames, func(name string) bool { return strings.HasSuffix(before, name) })
}

// classSuffix returns the part of a class after its kind: network for failure:network.
func classSuffix(class string) string {
	if _, after, found := strings.Cut(class, ":"); found {
		return after
	}
	return class
}
