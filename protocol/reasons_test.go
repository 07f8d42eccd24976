package protocol

import (
	"slices"
	"strings"
	"testing"
)

var reasonSets = map[string]struct {
	set  []Reason
	want string
}{
	"budget defer":    {BudgetDeferReasons, "max_requests max_wall_clock retry_budget circuit_open"},
	"source pressure": {SourcePressureReasons, "rate_limited upstream_pressure"},
	"owner required":  {OwnerRequiredReasons, "auth_failure"},
	"connector defect": {
		ConnectorDefectReasons,
		"gone not_found permanent_forbidden quarantined too_many_records_rejected record_rejected",
	},
	"informational": {InformationalReasons,
		"not_available_in_mode out_of_scope user_disabled blob_too_large missing_records_kept"},
	"resumable": {ResumableReasons,
		"run_cap_deferred retry_exhausted temporary_unavailable not_reached blob_failed blob_no_room"},
}

// The closed sets are whole, and no reason is in two of them or in one twice.
func TestReasonSetsAreDisjoint(t *testing.T) {
	home := map[Reason]string{}
	for name, s := range reasonSets {
		if got := strings.Join(words(s.set), " "); got != s.want {
			t.Errorf("%s: %q, want %q", name, got, s.want)
		}
		for _, r := range s.set {
			if other, taken := home[r]; taken {
				t.Errorf("%s is in %q and in %q", r, other, name)
			}
			home[r] = name
		}
	}
	for r, name := range home {
		if r.BudgetDefer() != (name == "budget defer") || r.SourcePressure() != (name == "source pressure") {
			t.Errorf("%s is of %q: budget defer %t, source pressure %t", r, name, r.BudgetDefer(), r.SourcePressure())
		}
	}
	for _, r := range []Reason{"", "RATE_LIMITED", "rate_limited ", "a_reason_of_its_own"} {
		if r.SourcePressure() || r.BudgetDefer() {
			t.Errorf("%q is in a closed set", r)
		}
	}
}

// No planned stop arms the cooldown that only the provider's pressure may arm:
// none of the budget's axes, and neither the wire reason nor the class of an
// owner's run cap.
func TestBudgetExhaustionIsNotSourcePressure(t *testing.T) {
	t.Attr("spec", "RT-24.1")
	axes := []Reason{"max_requests", "max_wall_clock", "retry_budget", "circuit_open"}
	runCap := []Reason{ReasonRetryExhausted, ReasonRunCapDeferred, ClassRunCap}
	for _, r := range slices.Concat(axes, runCap, BudgetDeferReasons) {
		if r.SourcePressure() || slices.Contains(SourcePressureReasons, r) {
			t.Errorf("%s is source pressure", r)
		}
	}
	for _, r := range axes {
		if !r.BudgetDefer() {
			t.Errorf("%s is no budget deferral", r)
		}
	}
	for _, r := range []Reason{"rate_limited", "upstream_pressure"} {
		if !r.SourcePressure() || r.BudgetDefer() {
			t.Errorf("%s arms nothing", r)
		}
	}
	if ClassRunCap == ClassUpstreamPressure {
		t.Error("a run cap and the provider's pressure have one class")
	}
}

func TestTransientReasons(t *testing.T) {
	want := []Reason{"http_429", "manifest_stream_unresolved", "rate_limited", "retry_exhausted", "temporary_unavailable",
		"upstream_pressure", "upstream_pressure_deferred"}
	for _, r := range want {
		if !r.Transient() {
			t.Errorf("%s is not transient", r)
		}
	}
	lasting := slices.Concat(BudgetDeferReasons, OwnerRequiredReasons, ConnectorDefectReasons, InformationalReasons)
	for _, r := range append(lasting, ReasonRunCapDeferred, "") {
		if r.Transient() {
			t.Errorf("%q is transient", r)
		}
	}
}
