package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/ops/redact"
)

func TestShapes(t *testing.T) {
	r := redact.New("hunter2-very-secret", "ab")
	for _, c := range []struct{ in, gone, kept string }{
		{"login with hunter2-very-secret failed", "hunter2", "login with"},
		{"Authorization: Bearer abcdef123456", "abcdef123456", "uthorization"},
		{"GET https://api.example/v1?access_token=zzz9&page=2", "zzz9", "https://api.example/v1"},
		{`{"password":"p4ss w0rd"}`, "p4ss", "password"},
		{"postgres://ann:s3cr3t@127.0.0.1/db", "s3cr3t", "127.0.0.1"},
		{"mail to ann@lantern.example bounced", "ann@", "bounced"},
		{"ghp_0123456789abcdef refused", "ghp_0123", "refused"},
		{"the one-time code is 493021 today", "493021", "today"},
		{"abandon ship", "[redacted]", "abandon ship"},
	} {
		got := r.Text(c.in)
		if strings.Contains(got, c.gone) || !strings.Contains(got, c.kept) {
			t.Errorf("Text(%q) = %q: must lose %q and keep %q", c.in, got, c.gone, c.kept)
		}
	}
}

// What explains a failure stays, however much it reads like a secret's name.
func TestDiagnosticsSurvive(t *testing.T) {
	r := redact.New("hunter2-very-secret")
	for _, text := range []string{
		"env: 'deno': No such file or directory", "claude_code: text", "claude_code: 1200 files", "code=rate_limited",
		"code: ENOENT", "status_code: 404",
		"exit code: 127", "exit_code=137", `{"code":"session_expired"}`, "error code=E1001", "http_code=1009",
		"barcode: 40011223", "max_tokens: 200",
		"country_code=DE", "zip-code: 10115", "decode: text", "postcode: 1012 AB",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
	for text, gone := range map[string]string{
		"code=4/0AX4XfWh-abcdef12": "0AX4", "code: 4711": "4711", `{"code":"83920174"}`: "83920174",
		"verification_code=AB12": "AB12", "auth-code: xyzzy": "xyzzy",
		"otp: 4711": "4711", "sms code is 493021": "493021", "refresh_token: abc": "abc", "session_id=77": "=77",
		"one_time_code: none": ": none",
	} {
		if got := r.Text(text); strings.Contains(got, gone) {
			t.Errorf("Text(%q) = %q keeps %q", text, got, gone)
		}
	}
}

func TestKnownValuesNeverSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Za-z0-9/+_-]{8,40}`).Draw(t, "secret")
		text := rapid.String().Draw(t, "before") + secret + rapid.String().Draw(t, "after")
		limit := rapid.IntRange(0, 300).Draw(t, "limit")
		r := redact.New(secret)
		if got := r.Text(text); strings.Contains(got, secret) {
			t.Fatalf("secret survives in %q", got)
		}
		line := r.Line(text, limit)
		if len(line) > limit || !utf8.ValidString(line) || strings.ContainsAny(line, "\r\n") {
			t.Fatalf("Line(%q, %d) = %q", text, limit, line)
		}
	})
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"access_token": true, "Api-Key": true, "apikey": true, "Cookie": true, "password": true,
		"thread_id": false, "updated_at": false, "before": false,
	} {
		if redact.SecretName(name) != want {
			t.Errorf("SecretName(%q) = %v", name, !want)
		}
	}
}
