package evidence

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// TestCredentialFault reads the codes by which connectors name a failure.
func TestCredentialFault(t *testing.T) {
	for want, codes := range map[CredentialFault][]string{
		CredentialRefused: {
			"http_401", "401", "HTTP-401", "unauthorized", "invalid_grant", "session_expired", "stored_credential_rejected",
			"auth_failure", "auth_failed", "auth_expired", "authentication_error", "permission_error", "bad_credentials",
			"credential_rejected",
			"invalid_token", "token_expired", "token_revoked", "wrong_password", "login_failed", "login_required",
			"session_required",
			"lantern_session_required", "lantern_session_failed", "invalid_api_key", "refresh_token_revoked", "cookie.expired",
			"oauth:denied",
		},
		CredentialMissing: {"credentials_missing", "credential_required", "credentials_required", "token_missing",
			"api_key_required"},
		"": {
			"", "provider_down", "http_404", "http_500", "http_429", "http_4010", "network_error", "rejected", "expired",
			// credentials in the name, and nothing that a new one would fix
			"auth_rate_limited", "http_403_rate_limited", "login_timeout", "lantern_session_establish_timeout",
			"auth_unavailable",
			"oauth_temporarily_unavailable", "token_refresh_network_error", "auth_503", "authorization_pending",
			"token_bucket_empty",
			// tokens and sessions of another kind
			"page_token_invalid", "sync_token_expired", "csrf_token_invalid", "browser_session_failed", "permanent_forbidden",
			"http_403_permanent",
			"http_403", "forbidden", // a firewall answers so too: the source's words decide
			"tokenizer_error", "unauthored_failure", "author_missing", "interaction_unanswered", "otp_required",
			"captcha_required",
		},
	} {
		for _, code := range codes {
			if got := (&Failure{Code: code}).CredentialFault(); got != want {
				t.Errorf("%q is %q, want %q", code, got, want)
			}
		}
	}
}

// TestCredentialFaultInWords classifies messages of connectors without a code. Messages of this program are never
// classified, and a connector that expects a further run to work needs no new credential.
func TestCredentialFaultInWords(t *testing.T) {
	yes, no := true, false
	for want, texts := range map[CredentialFault][]string{
		CredentialRefused: {
			"HTTP 401", "401 Unauthorized", "Request failed with status code 401",
			"invalid_grant: Token has been expired or revoked.", "Bad credentials",
			"Your session has expired, please sign in again.", "The refresh token was rejected", "Wrong password",
			"login: invalid credentials for account",
			"Invalid access token", "403 Forbidden: the token has expired", "oura_auth_failed", "slate_http_401: no",
		},
		CredentialMissing: {"SLATE_TOKEN is not set: the token is missing", "Missing credentials"},
		"": {
			"", "The page could not be read.", "Invalid JSON in session list", "Failed after login", "Rate limit: 401 after 429",
			"invalid page token",
			"Session list is long", "The author is unknown", "timeout while the token was refreshed", "expected 14012 rows",
			"GET /me: 403 Forbidden", "notion_rate_limited", "sync_token_expired",
			"Every message of the session has been read, one was bad",
		},
	} {
		for _, text := range texts {
			failure := Failure{Reason: connectorReportedFailed, Message: text}
			if got := failure.CredentialFault(); got != want {
				t.Errorf("%q is %q, want %q", text, got, want)
			}
			for _, code := range []string{"", "fetch_error"} {
				failure.Code = code
				if got := failure.CredentialFault(); got != want {
					t.Errorf("%q with the code %q is %q, want %q", text, code, got, want)
				}
			}
			if got := (&Failure{Reason: "connector_protocol_violation", Message: text}).CredentialFault(); got != "" {
				t.Errorf("%q is our own text, and read as %q", text, got)
			}
		}
	}
	for _, c := range []struct {
		f    Failure
		want CredentialFault
	}{
		{Failure{Reason: connectorReportedFailed, Message: "401 Unauthorized", Retryable: &no}, CredentialRefused},
		{Failure{Reason: connectorReportedFailed, Message: "401 Unauthorized", Retryable: &yes}, ""},
		{Failure{Reason: connectorReportedFailed, Code: "session_expired", Retryable: &yes}, ""},
		{Failure{Reason: connectorReportedFailed, Code: "session_expired", Retryable: &yes,
			Action: protocol.RefreshCredentials},
			CredentialRefused},
		{Failure{Reason: connectorReportedFailed, Message: "401 Unauthorized", Action: protocol.RetryByRuntime}, ""},
	} {
		if got := c.f.CredentialFault(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.f, got, c.want)
		}
	}
}

// TestQuestionReplacesTheLook holds that a credential which a run asks for is not
// asked for twice.
func TestQuestionReplacesTheLook(t *testing.T) {
	now := time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)
	over := now.Add(-time.Minute)
	look := Probe{Dimension: ProbeCredentials, Status: ProbeFailed, Reason: ReasonCredentialRequired, At: now}
	asked := Attention{Reason: "credentials_required", Lifecycle: AttentionOpen}
	for name, c := range map[string]struct {
		questions []Attention
		want      CredentialFault
	}{
		"no question":       {nil, CredentialMissing},
		"a question for it": {[]Attention{asked}, ""},
		"one that expired": {[]Attention{{Reason: asked.Reason, Lifecycle: AttentionOpen, ExpiresAt: &over}},
			CredentialMissing},
		"one that was answered": {[]Attention{{Reason: asked.Reason, Lifecycle: AttentionResolved}}, CredentialMissing},
		"another question":      {[]Attention{{Reason: "otp_required", Lifecycle: AttentionOpen}}, CredentialMissing},
	} {
		e := &Evidence{Probes: []Probe{look}, Attention: c.questions}
		if refusal, _ := e.CredentialRefusal(now); refusal.Fault != c.want {
			t.Errorf("%s: %q, want %q", name, refusal.Fault, c.want)
		}
	}
}

// TestStoredCredentialOutweighsTheLook checks that a stored credential overrides a probe that found none, whichever
// has the later date. A credential may be seen later than it is dated.
func TestStoredCredentialOutweighsTheLook(t *testing.T) {
	now := time.Date(2026, 4, 5, 12, 0, 0, 0, time.UTC)
	for reason, want := range map[string]CredentialFault{ReasonCredentialRequired: "",
		"session_expired": CredentialRefused} {
		e := &Evidence{
			Probes:     []Probe{{Dimension: ProbeCredentials, Status: ProbeFailed, Reason: reason, At: now}},
			Credential: &Credential{Status: CredentialActive, CapturedAt: now.Add(-time.Second)},
		}
		if refusal, _ := e.CredentialRefusal(now); refusal.Fault != want {
			t.Errorf("%s: %q, want %q", reason, refusal.Fault, want)
		}
	}
}

// TestRemedyOutweighsTheName holds that what a connector asks for counts for more
// than how it calls its failure.
func TestRemedyOutweighsTheName(t *testing.T) {
	for _, c := range []struct {
		code   string
		action protocol.RecoveryAction
		want   CredentialFault
	}{
		{"", protocol.RefreshCredentials, CredentialRefused},
		{"auth_unavailable", protocol.RefreshCredentials, CredentialRefused},
		{"credentials_missing", protocol.RefreshCredentials, CredentialMissing},
		{"http_401", protocol.RetryByRuntime, ""},
		{"session_expired", protocol.UpdateSelector, ""},
		{"http_401", protocol.ManualActionRequired, CredentialRefused},
		{"http_401", protocol.UnknownRecovery, CredentialRefused},
	} {
		if got := (&Failure{Code: c.code, Action: c.action}).CredentialFault(); got != c.want {
			t.Errorf("%q that asks for %q is %q, want %q", c.code, c.action, got, c.want)
		}
	}
}

// TestForbiddenWithoutCredential holds that a forbidden answer is about a credential only where there is one.
func TestForbiddenWithoutCredential(t *testing.T) {
	run := &Run{Status: RunFailed,
		Failure: &Failure{Reason: connectorReportedFailed, Code: "http_403", Message: "the token was revoked"}}
	for want, e := range map[CredentialFault]*Evidence{
		"":                {LastRun: run},
		CredentialRefused: {LastRun: run, Credential: &Credential{Status: CredentialActive}},
	} {
		if got := e.RunFault(e.LastRun); got != want {
			t.Errorf("with the credential %v it is %q, want %q", e.Credential, got, want)
		}
	}
	if e := (&Evidence{Connection: Connection{SourceKind: SourceBrowser}}); e.RunFault(run) != CredentialRefused {
		t.Error("where the owner signs in, it may be about the sign-in")
	}
}

func TestLimited(t *testing.T) {
	for _, f := range []Failure{{Code: "slate_rate_limited"}, {Code: "http_429"}, {Message: "notion_rate_limited"},
		{Message: "too_many_requests: later"}} {
		f.Reason = connectorReportedFailed
		if !f.Limited() {
			t.Errorf("%+v is not read as a limit", f)
		}
		f.Reason = "connector_protocol_violation"
		if f.Limited() {
			t.Errorf("%+v is our own sentence", f)
		}
	}
	for _, f := range []Failure{{Code: "gate_stuck"}, {Message: "the rate limited us to one page"},
		{Code: "moderate_limit"}} {
		f.Reason = connectorReportedFailed
		if f.Limited() {
			t.Errorf("%+v is read as a limit", f)
		}
	}
}
