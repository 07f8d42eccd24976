package protocol

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// blames matches words that put a delay on the provider.
var blames = regexp.MustCompile(`(?i)\b(busy|pressur\w*|overload\w*|slow\w*|throttl\w*|rate.?limit\w*|too many)\b`)

// everyReason is every reason of a closed set, and one that no set knows.
func everyReason() []Reason {
	all := []Reason{"a_reason_of_its_own", ""}
	for _, s := range reasonSets {
		all = append(all, s.set...)
	}
	return all
}

func TestRunCapCopy(t *testing.T) {
	t.Attr("spec", "RT-18.1")
	text := OwnerCopy(ReasonRetryExhausted, ClassRunCap)
	for what, pattern := range map[string]string{
		"a limit of one run":   `(?i)\b(limit|budget)\b.*\b(one|each|this|per) run\b|\brun\b.*\b(limit|budget)\b`,
		"set by the owner":     `(?i)\byou set\b`,
		"progress is saved":    `(?i)\bcollected\b.*\bsaved\b|\bsaved\b.*\bcollected\b`,
		"the next run goes on": `(?i)\bnext run continues\b`,
	} {
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("%q does not say: %s", text, what)
		}
	}
	if word := blames.FindString(text); word != "" {
		t.Errorf("%q blames the service: %s", text, word)
	}
}

func TestRetryExhaustedCopy(t *testing.T) {
	t.Attr("spec", "RT-18.2")
	text, runCap := OwnerCopy(ReasonRetryExhausted, ""), OwnerCopy(ReasonRetryExhausted, ClassRunCap)
	if text == runCap {
		t.Errorf("both read %q", text)
	}
	if !regexp.MustCompile(`(?i)\bretries\b.*\bused up\b`).MatchString(text) {
		t.Errorf("%q does not say that retries were used up", text)
	}
	if word := regexp.MustCompile(`(?i)\b(limit|cap|you set)\b`).FindString(text); word != "" {
		t.Errorf("%q speaks of a configured cap: %s", text, word)
	}
	if word := blames.FindString(text); word != "" {
		t.Errorf("%q blames the service: %s", text, word)
	}
}

// Only pressure of the provider reads as such, for every class.
func TestOnlySourcePressureIsCalledBusy(t *testing.T) {
	for _, reason := range everyReason() {
		for _, class := range []string{"", ClassRunCap, string(ReasonRetryBudget), string(ReasonCircuitOpen),
			ClassUpstreamPressure, "another"} {
			text := OwnerCopy(reason, class)
			if busy := strings.Contains(text, "busy"); busy != reason.SourcePressure() {
				t.Errorf("%s (class %q): %q", reason, class, text)
			}
			if word := blames.FindString(text); word != "" && !reason.SourcePressure() {
				t.Errorf("%s (class %q) blames the service: %q", reason, class, text)
			}
		}
	}
}

// A run cap's class wins over the reason, except over pressure.
func TestRunCapClassWins(t *testing.T) {
	runCap := OwnerCopy(ReasonRunCapDeferred, "")
	for _, reason := range everyReason() {
		want := runCap
		if reason.SourcePressure() {
			want = OwnerCopy(reason, "")
		}
		if got := OwnerCopy(reason, ClassRunCap); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}

// A used up retry budget and an open circuit share the reason retry_exhausted. Their class distinguishes them,
// except under pressure.
func TestOwnStopsAreToldApart(t *testing.T) {
	for _, own := range []Reason{ReasonRetryBudget, ReasonCircuitOpen} {
		if got, want := OwnerCopy(ReasonRetryExhausted, string(own)), OwnerCopy(own, ""); got != want {
			t.Errorf("%s reads %q, want %q", own, got, want)
		}
		if got := OwnerCopy(ReasonRateLimited, string(own)); got != OwnerCopy(ReasonRateLimited, "") {
			t.Errorf("%s hides the provider's pressure: %q", own, got)
		}
	}
}

// Each known reason has a sentence of its own, and the rest have one too.
func TestEveryReasonHasCopy(t *testing.T) {
	reports := map[string]Reason{}
	for _, reason := range everyReason() {
		text := OwnerCopy(reason, "")
		if !strings.HasSuffix(text, ".") || strings.Contains(text, "_") {
			t.Errorf("%s: %q is not for an owner", reason, text)
		}
		if other, taken := reports[text]; taken && !slices.Contains([]Reason{"", "a_reason_of_its_own"}, reason) {
			t.Errorf("%s and %s both read %q", reason, other, text)
		}
		reports[text] = reason
	}
	for reason := range ownerCopy {
		if !slices.Contains(everyReason(), reason) {
			t.Errorf("%s has copy and is in no set", reason)
		}
	}
}
