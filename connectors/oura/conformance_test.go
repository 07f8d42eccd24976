//pdpp:tier programs

package oura_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/oura"
)

// TestConformance holds the connector to the suite; long, to all of it.
func TestConformance(t *testing.T) {
	small := oura.Config{Seed: 5, Days: 24, Page: 7}
	large := oura.Config{Seed: 5, Days: 400, Page: 20}
	connectortest.RunSuite(t, target(t, small), target(t, large))
}

const token = "oura_under_test"

func target(t *testing.T, cfg oura.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "oura"),
		Start:      func(t *testing.T) *connectortest.Sim { return start(t, cfg) },
		Credential: "OURA_ACCESS_TOKEN",
		Snapshot:   true, // most of a small account is within the days that are read again
		Changes: []providersim.Mutation{
			{Op: "sync_late", N: 2}, {Op: "rescore", N: 3}, {Op: "recount", N: 2}, {Op: "reanalyse", N: 2},
			{Op: "stress", N: 2}, {Op: "end_rest", N: 1},
		},
		Deletion: providersim.Mutation{Op: "discard", N: 2}, DeletedStream: oura.StreamSleep,
		Scoped: oura.StreamSleep, OptionalField: "latency",
		Stored: stored,
	}
}

// start serves an account with a clock that begins at noon, so that no test crosses midnight.
func start(t *testing.T, cfg oura.Config) *connectortest.Sim {
	t.Helper()
	cfg.Token = token
	if cfg.Now == nil {
		began := time.Now()
		cfg.Now = func() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC).Add(time.Since(began)) }
	}
	s, err := oura.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"OURA_ACCESS_TOKEN": token, "PDPP_OURA_BASE_URL": s.BaseURL,
			"PDPP_OURA_FIRST_DAY": "2024-12-01"}}
}

// stored returns the record that the store must hold for a document, independent of the connector's mapping.
func stored(stream, _ string, data json.RawMessage) (json.RawMessage, error) {
	var w map[string]any
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	r := map[string]any{}
	for _, name := range map[string][]string{
		oura.StreamSleep: {"id", "day", "type", "bedtime_start", "bedtime_end", "total_sleep_duration", "rem_sleep_duration",
			"deep_sleep_duration", "light_sleep_duration",
			"efficiency", "latency", "average_heart_rate", "lowest_heart_rate", "average_hrv", "readiness", "heart_rate", "hrv",
			"average_breath", "awake_time", "time_in_bed", "restless_periods",
			"period", "low_battery_alert", "sleep_algorithm_version", "movement_30_sec", "sleep_phase_5_min",
			"sleep_phase_30_sec", "app_sleep_phase_5_min", "ring_id"},
		oura.StreamScores: {"id", "day", "score", "contributors", "timestamp"},
		oura.StreamReadiness: {"id", "day", "score", "temperature_deviation", "temperature_trend_deviation", "contributors",
			"timestamp"},
		oura.StreamActivity: {"id", "day", "score", "active_calories", "total_calories", "steps", "target_calories",
			"equivalent_walking_distance", "timestamp", "class_5_min", "met", "contributors",
			"average_met_minutes", "high_activity_met_minutes", "medium_activity_met_minutes", "low_activity_met_minutes",
			"sedentary_met_minutes", "high_activity_time", "medium_activity_time",
			"low_activity_time", "sedentary_time", "resting_time", "non_wear_time", "inactivity_alerts", "meters_to_target",
			"target_meters"},
		oura.StreamStress:   {"id", "day", "stress_high", "recovery_high", "day_summary"},
		oura.StreamBedtimes: {"id", "day", "recommendation", "status", "optimal_bedtime"},
		oura.StreamRest:     {"id", "start_day", "start_time", "end_day", "end_time", "episodes"},
		oura.StreamProfile:  {"id", "age", "weight", "height", "biological_sex", "email"},
	}[stream] {
		if w[name] != nil {
			r[name] = w[name]
		}
	}
	if stream == oura.StreamSleep {
		r["temperature_delta"] = w["readiness"].(map[string]any)["temperature_deviation"]
	}
	return json.Marshal(r)
}
