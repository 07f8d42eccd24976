package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

const policyPath = "capabilities.refresh_policy"

func TestRefreshPolicyRules(t *testing.T) {
	at := func(key string) string { return policyPath + "." + key }
	wrong := func(key string, value any) badCase {
		return badCase{key, edits{at(key): value}, []string{at(key)}}
	}
	runBadCases(t, []badCase{
		wrong("recommended_mode", "whenever"),
		wrong("interaction_posture", "grumpy"),
		wrong("rate_limit_sensitivity", "extreme"),
		wrong("bot_detection_sensitivity", "extreme"),
		wrong("recommended_interval_seconds", 0),
		wrong("recommended_interval_seconds", 599), // below minimum_interval_seconds
		wrong("recommended_interval_seconds", "hourly"),
		wrong("recommended_interval_seconds", 3600.5),
		wrong("minimum_interval_seconds", -1),
		wrong("maximum_staleness_seconds", 0),
		wrong("session_lifetime_seconds", 0),
		wrong("max_cooldown_cycles", 0),
		wrong("max_cooldown_cycles", 25),
		wrong("max_recovery_attempts", 0),
		wrong("max_recovery_attempts", 21),
		wrong("background_safe", "yes"),
		wrong("jitter", 5),
	})
	parse(t, edited(t, edits{at("max_cooldown_cycles"): 1, at("max_recovery_attempts"): 1}))
	parse(t, edited(t, edits{at("max_cooldown_cycles"): 24, at("max_recovery_attempts"): 20}))
	parse(t, edited(t, edits{at("recommended_interval_seconds"): 600}))
}

func TestRefreshPolicyNamesModeAndRationale(t *testing.T) {
	t.Attr("spec", "RT-01.1")
	runBadCases(t, []badCase{
		{"no mode", edits{policyPath + ".recommended_mode": remove}, []string{policyPath + ".recommended_mode"}},
		{"no rationale", edits{policyPath + ".rationale": remove}, []string{policyPath + ".rationale"}},
		{"blank rationale", edits{policyPath + ".rationale": " \n"}, []string{policyPath + ".rationale"}},
		{
			"empty policy",
			edits{policyPath: map[string]any{}},
			[]string{policyPath + ".recommended_mode", policyPath + ".rationale"},
		},
	})

	parse(
		t,
		edited(t, edits{policyPath: map[string]any{"recommended_mode": "paused", "rationale": "The service has closed."}}),
	)

	want := RefreshPolicy{
		RecommendedMode:            RefreshAutomatic,
		RecommendedIntervalSeconds: 3600,
		MinimumIntervalSeconds:     600,
		MaximumStalenessSeconds:    21600,
		InteractionPosture:         PostureOTPLikely,
		SessionLifetimeSeconds:     2592000,
		RateLimitSensitivity:       SensitivityMedium,
		BotDetectionSensitivity:    SensitivityLow,
		AssistedAfterOwnerAuth:     true,
		MaxCooldownCycles:          12,
		MaxRecoveryAttempts:        5,
	}
	got := *parse(t, example(t)).RefreshPolicy()
	if got.BackgroundSafe == nil || !*got.BackgroundSafe ||
		!strings.Contains(got.Rationale, "code from the owner's phone") {
		t.Errorf("policy = %+v", got)
	}
	got.BackgroundSafe, got.Rationale = nil, ""
	if got != want {
		t.Errorf("policy = %+v, want %+v", got, want)
	}
}

func TestFrictionAsksForManualOrAssistedRefresh(t *testing.T) {
	t.Attr("spec", "RT-01.2")
	for _, posture := range []InteractionPosture{PostureOTPLikely, PostureManualActionLikely} {
		for _, mode := range RefreshModes {
			for _, assisted := range []bool{true, false} {
				doc := edited(t, edits{
					policyPath + ".interaction_posture":       posture,
					policyPath + ".recommended_mode":          mode,
					policyPath + ".assisted_after_owner_auth": assisted,
				})
				if mode != RefreshAutomatic || assisted {
					parse(t, doc)
					continue
				}
				want := []string{policyPath + ".assisted_after_owner_auth"}
				if got := pathsOf(problemsOf(t, doc)); !slices.Equal(got, want) {
					t.Errorf("%s, %s: problems at %v, want %v", posture, mode, got, want)
				}
			}
		}
	}
	costUnexplained := edited(t, edits{policyPath + ".rationale": remove})
	if got, want := pathsOf(
		problemsOf(t, costUnexplained),
	), []string{
		policyPath + ".rationale",
	}; !slices.Equal(
		got,
		want,
	) {
		t.Errorf("problems at %v, want %v", got, want)
	}
}

func TestLowFrictionMayRefreshAutomatically(t *testing.T) {
	t.Attr("spec", "RT-01.3")
	for _, posture := range []any{PostureNone, PostureCredentials, remove} {
		p := parse(t, edited(t, edits{
			policyPath + ".interaction_posture":          posture,
			policyPath + ".assisted_after_owner_auth":    remove,
			policyPath + ".recommended_interval_seconds": 900,
		})).RefreshPolicy()
		if p.RecommendedMode != RefreshAutomatic || p.RecommendedIntervalSeconds != 900 || p.ManualOnly() {
			t.Errorf("posture %v: policy %+v is not automatic every 900 s", posture, p)
		}
	}
}

func TestManualOnly(t *testing.T) {
	yes, no := true, false
	cases := []struct {
		policy *RefreshPolicy
		want   bool
	}{
		{nil, false},
		{&RefreshPolicy{RecommendedMode: RefreshAutomatic}, false},
		{&RefreshPolicy{RecommendedMode: RefreshAutomatic, BackgroundSafe: &yes}, false},
		{&RefreshPolicy{RecommendedMode: RefreshAutomatic, BackgroundSafe: &no}, true},
		{&RefreshPolicy{RecommendedMode: RefreshManual}, true},
		{&RefreshPolicy{RecommendedMode: RefreshManual, BackgroundSafe: &yes}, true},
		{&RefreshPolicy{RecommendedMode: RefreshPaused}, true},
		{&RefreshPolicy{RecommendedMode: RefreshPaused, BackgroundSafe: &yes}, true},
	}
	for _, c := range cases {
		if got := c.policy.ManualOnly(); got != c.want {
			t.Errorf("ManualOnly of %+v = %v, want %v", c.policy, got, c.want)
		}
	}
}

// The policy is advice: it may be absent, it is in one place, the rest of the manifest does not depend on it, and
// its schema describes it as not normative.
func TestRefreshPolicyIsNonNormativeMetadata(t *testing.T) {
	t.Attr("spec", "RT-01.4")
	with := parse(t, example(t))
	without := parse(t, edited(t, edits{policyPath: remove}))
	if without.RefreshPolicy() != nil {
		t.Fatal("a policy appears from nowhere")
	}
	with.Capabilities.RefreshPolicy = nil
	if !with.Equal(without) {
		t.Error("the policy changes something outside itself")
	}

	policy := map[string]any{"recommended_mode": "manual", "rationale": "Ask first."}
	for _, path := range []string{"refresh_policy", "runtime_requirements.refresh_policy", "streams[0].refresh_policy"} {
		_, warnings, err := Inspect(edited(t, edits{path: policy}))
		if got := pathsOf(warnings); err != nil || !slices.Equal(got, []string{path}) {
			t.Errorf("policy at %s: warnings at %v, %v", path, got, err)
		}
	}

	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Ref         string `json:"$ref"`
				Description string
			}
			Required []string
		} `json:"$defs"`
	}
	if err := json.Unmarshal(JSONSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	var homes []string
	for _, name := range slices.Sorted(maps.Keys(schema.Defs)) {
		for key, property := range schema.Defs[name].Properties {
			if property.Ref != "#/$defs/RefreshPolicy" {
				continue
			}
			homes = append(homes, name+"."+key)
			if !strings.Contains(property.Description, "hints") ||
				!strings.Contains(property.Description, "Non-normative metadata") {
				t.Errorf("description %q does not call the policy non-normative hints", property.Description)
			}
			if slices.Contains(schema.Defs[name].Required, key) {
				t.Errorf("%s requires a policy", name)
			}
		}
	}
	if !slices.Equal(homes, []string{"Capabilities.refresh_policy"}) {
		t.Errorf("policy lives at %v", homes)
	}
}
