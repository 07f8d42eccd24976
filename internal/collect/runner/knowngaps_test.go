package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestSkipsBecomeKnownGaps(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		line      string
		requested bool
		want      KnownGap
	}{
		"hint is authoritative": {`{"type":"SKIP_RESULT","stream":"notes","reason":"login_required",` +
			`"recovery_hint":{"action":"upstream_unblock","retryable":true}}`, true,
			KnownGap{Reason: "login_required", Severity: protocol.SeverityActionable,
				RecoveryHint: protocol.RecoveryHint{Action: protocol.UpstreamUnblock, Retryable: &yes}}},
		"informational": {skip("notes", "user_disabled"), false,
			KnownGap{Reason: "user_disabled", Severity: protocol.SeverityInformational,
				RecoveryHint: protocol.RecoveryHint{Action: protocol.UnknownRecovery}}},
		"informational, but asked for": {skip("notes", "user_disabled"), true,
			KnownGap{Reason: "user_disabled", Severity: protocol.SeverityActionable,
				RecoveryHint: protocol.RecoveryHint{Action: protocol.UnknownRecovery}}},
		"transient": {skip("notes", "http_429"), true,
			KnownGap{Reason: "http_429", Severity: protocol.SeverityTransient,
				RecoveryHint: protocol.RecoveryHint{Action: protocol.RetryByRuntime}}},
		"bounded and redacted": {`{"type":"SKIP_RESULT","stream":"notes","reason":"odd","message":"code 493021",` +
			`"diagnostics":{"password":"x"},"recovery_hint":"not_retriable",` +
			`"continuation":{"boundary":"ann@lantern.example","slice_start":0,"slice_end":1,"considered":1,"covered":1,` +
			`"remaining":true,"owner":"runtime"}}`, true,
			KnownGap{Reason: "odd", Message: "code [redacted]", Severity: protocol.SeverityActionable,
				RecoveryHint: protocol.RecoveryHint{Action: protocol.NotRetriable},
				Diagnostics:  []byte(`{"password":"[redacted]"}`),
				Continuation: &protocol.Continuation{Boundary: "[redacted]", SliceEnd: 1, Considered: 1, Covered: 1,
					Remaining: true, Owner: "runtime"}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t)
			if c.requested {
				d.spec.Scope = scope("notes")
			}
			o := d.say(t, c.line)
			mustSucceed(t, o)
			c.want.Kind, c.want.Stream = protocol.KnownSkipResult, "notes"
			if diff := cmp.Diff([]KnownGap{c.want}, o.KnownGaps); diff != "" {
				t.Errorf("known gaps (-want +got):\n%s", diff)
			}
			if f := o.Facts.Streams[0].Skipped; f == nil || f.Reason != c.want.Reason ||
				f.RecoveryAction != c.want.RecoveryHint.Action {
				t.Errorf("fact = %+v", f)
			}
		})
	}
}

// The fix of a failed run is inferred from the connector's own message, and its retryable member counts.
func TestFailureHintReadsNoTextOfOurs(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		last string
		want protocol.RecoveryHint
	}{
		"words": {doneLine("failed", 0, `"error":{"message":"session expired"}`),
			protocol.RecoveryHint{Action: protocol.RefreshCredentials}},
		"words, retryable": {doneLine("failed", 0, `"error":{"message":"odd","retryable":true}`),
			protocol.RecoveryHint{Action: protocol.RetryByRuntime, Retryable: &yes}},
		"words, not so": {doneLine("failed", 0, `"error":{"message":"network down","retryable":false}`),
			protocol.RecoveryHint{Action: protocol.NotRetriable, Retryable: &no}},
		"no words": {doneLine("failed", 0), protocol.RecoveryHint{Action: protocol.UnknownRecovery}},
		"ours: a violation": {`{"type":"RECORD","stream":"auth_token","key":"1","data":{},"emitted_at":"2026-03-01"}`,
			protocol.RecoveryHint{Action: protocol.RetryOnConnectorUpgrade}},
	} {
		d := newDialogue(t, "notes")
		o := d.play(t.Context(), func(transcript *connector) int {
			transcript.start()
			transcript.line(c.last)
			transcript.done("")
			return 1
		})
		if o.Failure == nil {
			t.Fatalf("%s: the run succeeded", name)
		}
		got := o.KnownGaps[len(o.KnownGaps)-1]
		if diff := cmp.Diff(c.want, got.RecoveryHint); got.Kind != protocol.KnownRunFailed || diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, o.Failure.Reason, diff)
		}
	}
}

// TestLastingSkipIsKept: what no retry fixes is not hidden by what a retry does.
func TestLastingSkipIsKept(t *testing.T) {
	hinted := func(reason, hint string) string {
		return `{"type":"SKIP_RESULT","stream":"notes","reason":"` + reason + `","recovery_hint":` + hint + `}`
	}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"transient later": {[]string{hinted("gone", `"not_retriable"`), skip("notes", "http_429")}, "gone"},
		"retryable later": {[]string{hinted("blocked", `"upstream_unblock"`), hinted("slow", `"retry_by_runtime"`)},
			"blocked"},
		"said to be retryable": {[]string{skip("notes", "odd"), hinted("again", `{"action":"unknown","retryable":true}`)},
			"odd"},
		"unclear later":         {[]string{hinted("gone", `"not_retriable"`), skip("notes", "odd")}, "gone"},
		"lasting later":         {[]string{skip("notes", "http_429"), hinted("gone", `"not_retriable"`)}, "gone"},
		"unclear after passing": {[]string{skip("notes", "http_429"), skip("notes", "odd")}, "odd"},
		"the last of equals":    {[]string{hinted("one", `"not_retriable"`), hinted("two", `"refresh_credentials"`)}, "two"},
		"the last of passing":   {[]string{skip("notes", "http_429"), skip("notes", "rate_limited")}, "rate_limited"},
		"the hint decides":      {[]string{hinted("http_429", `"not_retriable"`), skip("notes", "odd")}, "http_429"},
		"an inferred action":    {[]string{skip("notes", "odd"), skip("notes", "temporary_unavailable")}, "odd"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newDialogue(t, "notes").say(t, c.lines...)
			mustSucceed(t, o)
			if f := o.Facts.Streams[0].Skipped; f == nil || f.Reason != c.want {
				t.Errorf("fact = %+v, want %s", f, c.want)
			}
			if len(o.KnownGaps) != len(c.lines) {
				t.Errorf("known gaps = %+v, want every skip", o.KnownGaps)
			}
		})
	}
}

func TestInferredActions(t *testing.T) {
	for text, want := range map[string]protocol.RecoveryAction{
		"captcha shown":            protocol.ManualActionRequired,
		"token expired":            protocol.RefreshCredentials,
		"http 503":                 protocol.RetryByRuntime,
		"run_timed_out":            protocol.RetryByRuntime,
		"request timeout":          protocol.RetryByRuntime,
		"cannot parse page":        protocol.RetryOnConnectorUpgrade,
		"selector is gone":         protocol.UpdateSelector,
		"account locked":           protocol.UpstreamUnblock,
		"something else":           protocol.UnknownRecovery,
		"challenge: login refused": protocol.ManualActionRequired, // the first family wins
	} {
		if got := inferAction(text); got != want {
			t.Errorf("inferAction(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestGapsAreSummedUp(t *testing.T) {
	d := newDialogue(t, "notes")
	o := d.say(t, gapOf("notes", "", "1", `"detail":{"class":"run_cap_deferred"}`),
		gapOf("notes", "", "2", `"detail":{"class":"run_cap_deferred"}`),
		gapOf("notes", "", "3", `"detail":{"class":"upstream_pressure_deferred","http_status":429}`,
			`"last_error":{"message":"slow down"}`))
	mustSucceed(t, o)
	var counts []int64
	for _, g := range o.KnownGaps {
		counts = append(counts, g.Count)
		if g.Kind != protocol.KnownDetailGap || g.Severity != protocol.SeverityRecoverable || g.Reason != "rate_limited" ||
			g.Stream != "notes" {
			t.Errorf("known gap = %+v", g)
		}
	}
	if diff := cmp.Diff([]int64{2, 1}, counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	gap := d.slices[0].Gaps[2]
	want := slice.Gap{Stream: "notes", RecordKey: "3", Reason: "rate_limited", Retryable: true,
		LastError: []byte(`{"class":"upstream_pressure_deferred","http_status":429,"message":"slow down"}`)}
	if diff := cmp.Diff(want, gap); diff != "" {
		t.Errorf("gap (-want +got):\n%s", diff)
	}
	if f := o.Facts.Streams[0]; f.PendingGaps != 3 {
		t.Errorf("facts = %+v", f)
	}
}

func TestFailureIsAKnownGap(t *testing.T) {
	o := newDialogue(t, "notes").play(t.Context(), func(c *connector) int {
		c.start()
		c.line(doneLine("failed", 0,
			`"error":{"code":"login_failed","message":"refused for ann@lantern.example","retryable":false,`+
				`"recovery_hint":"refresh_credentials"}`))
		return c.done(protocol.DoneFailed)
	})
	mustFail(t, o, ReasonConnectorFailed)
	want := []KnownGap{{Kind: protocol.KnownRunFailed, Reason: "connector_reported_failed",
		Severity: protocol.SeverityActionable,
		Message:  "refused for [redacted]", RecoveryHint: protocol.RecoveryHint{Action: protocol.RefreshCredentials}}}
	if diff := cmp.Diff(want, o.KnownGaps); diff != "" {
		t.Errorf("known gaps (-want +got):\n%s", diff)
	}
	if e := o.DoneError; e == nil || e.Code != "login_failed" || e.Message != "refused for [redacted]" ||
		*o.Reported != 0 {
		t.Errorf("the connector's own word = %+v", e)
	}
}
