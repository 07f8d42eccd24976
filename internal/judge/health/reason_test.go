package health

import (
	"regexp"
	"strings"
	"testing"
)

func TestSafeReason(t *testing.T) {
	for _, code := range []string{
		"network", "auth_failure", "http_429", "failure:network", "connector_reported_failed", "temporary_unavailable",
		"browser_session_required", "error.dns.not-found", "tls13_handshake", "upstream_503_after_3_tries",
	} {
		if got, redacted := safeReason(code, "generic"); got != code || redacted {
			t.Errorf("%s became %s, redacted %v", code, got, redacted)
		}
	}
	for _, secret := range []string{
		"ghp_abcdef", "auth_ghp_abcdef", "sk-abc", "x.eyj0", "A", "a b", "a=b", "user@host", "https://h/", "/home/ada",
		"123456", "code_123456", "4111-1111-1111", "password:hunter2", "api_key:abc", "failure:token:abc",
		"aaaaaaaaaaaaaaaaaaaaaaaa", "a1b2c3d4e5f6", "ümlaut", "a\x00b", strings.Repeat("ab_", 30),
	} {
		if got, redacted := safeReason(secret, "generic"); got != "generic" || !redacted {
			t.Errorf("%q became %q, redacted %v", secret, got, redacted)
		}
	}
	if got, redacted := safeReason("", "generic"); got != "generic" || redacted {
		t.Errorf("no reason became %q, redacted %v", got, redacted)
	}
}

var plainCode = regexp.MustCompile(`^[a-z0-9_:.-]{1,80}$`)

// FuzzSafeReason checks that the result is the generic code or an unchanged short code, and that redactions are
// reported.
func FuzzSafeReason(f *testing.F) {
	for _, seed := range []string{"", "network", "ghp_x", "password:x", "123456", "a b", "\xff", strings.Repeat("a", 81)} {
		f.Add(seed)
	}
	longRun := regexp.MustCompile(`[a-z0-9]{24}|[0-9]{6}`)
	f.Fuzz(func(t *testing.T, reason string) {
		code, redacted := safeReason(reason, "generic")
		switch {
		case redacted && code != "generic":
			t.Errorf("%q is marked and became %q", reason, code)
		case !redacted && reason != "" && code != reason:
			t.Errorf("%q became %q and is not marked", reason, code)
		case !redacted && reason != "" && (!plainCode.MatchString(code) || longRun.MatchString(code)):
			t.Errorf("%q is shown", code)
		}
		if again, _ := safeReason(code, "generic"); again != code && code != "generic" {
			t.Errorf("%q is safe once and %q the next time", code, again)
		}
	})
}

func TestSuffix(t *testing.T) {
	for class, want := range map[string]string{"failure:network": "network", "source_pressure": "source_pressure",
		"terminal:": "", "": ""} {
		if got := classSuffix(class); got != want {
			t.Errorf("suffix of %q = %q, want %q", class, got, want)
		}
	}
}
