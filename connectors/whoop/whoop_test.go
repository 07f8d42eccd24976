//pdpp:tier programs

package whoop_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/whoop"
)

const token = "token_under_test"

// small is an account for most tests. Its clock begins at noon.
func small() whoop.Config {
	began := time.Now()
	return whoop.Config{Seed: 5, Token: token, Days: 26, MaxPage: 7, Rate: 1 << 20,
		Now: func() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC).Add(time.Since(began)) }}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Days, large.MaxPage = 400, 25
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

// below lists members that are below a path.
func below(path, names string) (out string) {
	for name := range strings.FieldsSeq(names) {
		out += " " + name + "=" + path + "." + name
	}
	return out
}

const timed = "start end timezone_offset score_state created_at updated_at "

func target(t *testing.T, cfg whoop.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "whoop"), Credential: "WHOOP_ACCESS_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return whoop.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"WHOOP_ACCESS_TOKEN": token, "PDPP_WHOOP_BASE_URL": base + "/developer/v2",
					"PDPP_WHOOP_FIRST_DAY": "2024-12-01"}
			}),
		Changes: []providersim.Mutation{{Op: "add_sleep", N: 3}, {Op: "rescore_cycles", N: 2}, {Op: "rescore_recovery", N: 2},
			{Op: "add_workouts", N: 2}, {Op: "rescore_sleep", N: 2}, {Op: "delete_workouts", N: 1}, {Op: "add_recovery", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_sleep", N: 2}, DeletedStream: whoop.StreamSleep,
		Leave:  map[string]string{"forgotten bookmark": "a window of time deletes only what its bookmark remembers"},
		Scoped: whoop.StreamSleep, OptionalField: "respiratory_rate",
		Stored: connectortest.RecordMembers{
			whoop.StreamProfile: "id=#user_id email first_name last_name",
			whoop.StreamBody:    "height_meter weight_kilogram max_heart_rate",
			whoop.StreamCycles:  timed + "id=#id" + below("score", "strain kilojoule average_heart_rate max_heart_rate"),
			whoop.StreamSleep: timed + "id cycle_id=#cycle_id nap" + below("score", "respiratory_rate "+
				"sleep_performance_percentage sleep_consistency_percentage sleep_efficiency_percentage") +
				below("score.stage_summary", "total_in_bed_time_milli total_awake_time_milli total_no_data_time_milli "+
					"total_light_sleep_time_milli total_slow_wave_sleep_time_milli total_rem_sleep_time_milli "+
					"sleep_cycle_count disturbance_count") +
				below("score.sleep_needed", "baseline_milli need_from_sleep_debt_milli need_from_recent_strain_milli "+
					"need_from_recent_nap_milli"),
			whoop.StreamRecovery: "id=#cycle_id sleep_id created_at updated_at score_state" + below("score",
				"user_calibrating recovery_score resting_heart_rate hrv_rmssd_milli spo2_percentage skin_temp_celsius"),
			whoop.StreamWorkouts: timed + "id sport_name" + below("score", "strain average_heart_rate max_heart_rate "+
				"kilojoule percent_recorded distance_meter altitude_gain_meter altitude_change_meter zone_durations"),
		}.StoredWith(func(stream, key string, record map[string]any) {
			if stream == whoop.StreamBody {
				record["id"] = key
			}
		}),
	}
}
