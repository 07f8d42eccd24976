package health

import "strings"

// maxReason is the longest reason code that is shown.
const maxReason = 80

// tokenPrefixes begin well-known secrets.
var tokenPrefixes = []string{"ghp", "gho", "ghu", "ghs", "ghr", "github_pat", "sk-", "xox", "eyj", "glpat", "akia"}

// safeReason gives a reason as a code, or the generic one when the text could
// carry a secret: anything but a short lower-case code, a known prefix of
// tokens, or a part that looks like random characters.
func safeReason(reason, generic string) (code string, redacted bool) {
	if reason == "" {
		return generic, false
	}
	if len(reason) > maxReason {
		return generic, true
	}
	for _, p := range tokenPrefixes {
		if strings.HasPrefix(reason, p) {
			return generic, true
		}
	}
	letters, digits := 0, 0
	for i := 0; i < len(reason); i++ {
		switch c := reason[i]; {
		case c >= 'a' && c <= 'z':
			letters++
		case c >= '0' && c <= '9':
			digits++
		case c == '_' || c == ':' || c == '-' || c == '.':
			letters, digits = 0, 0
		default:
			return generic, true
		}
		if letters+digits >= 24 || letters+digits >= 12 && min(letters, digits) >= 3 {
			return generic, true
		}
	}
	return reason, false
}

// suffix is the part of a class after its kind: failure:network is network.
func suffix(class string) string {
	if _, after, found := strings.Cut(class, ":"); found {
		return after
	}
	return class
}
