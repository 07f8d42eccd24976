//pdpp:tier programs

package withings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/withings"
)

const token = "token_under_test"

// small is an account for most tests. Its clock begins at noon.
func small() withings.Config {
	began := time.Now()
	return withings.Config{Seed: 5, Token: token, Days: 15, MaxPage: 4,
		Now: func() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC).Add(time.Since(began)) }}
}

// TestConformance runs the connector through the suite.
func TestConformance(t *testing.T) {
	large := small()
	large.Days, large.MaxPage = 400, 60
	connectortest.RunSuite(t, target(t, small()), target(t, large))
}

func TestDrift(t *testing.T) {
	t.Parallel()
	connectortest.DetectDrift(t, target(t, small()))
}

const dated = "timezone modified_at=modified "

func target(t *testing.T, cfg withings.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "withings"), Credential: "WITHINGS_ACCESS_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return withings.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"WITHINGS_ACCESS_TOKEN": token, "PDPP_WITHINGS_BASE_URL": base,
					"PDPP_WITHINGS_FIRST_DAY": "2024-12-01"}
			}),
		Changes: []providersim.Mutation{{Op: "add_measurements", N: 3}, {Op: "change_measurements", N: 2},
			{Op: "add_sleep", N: 2}, {Op: "change_activity", N: 2}, {Op: "change_sleep", N: 1},
			{Op: "delete_workouts", N: 1}, {Op: "add_workouts", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_measurements", N: 2}, DeletedStream: "measurements",
		Scoped: "measurements", OptionalField: "unit",
		Stored: connectortest.RecordMembers{
			"devices": "id=deviceid type model timezone first_session_at=first_session_date",
			"measurements": "value type=measure.type position=measure.position group_id=#grpid attrib model " +
				"device_id=deviceid measured_at created_at=created modified_at=modified",
			"activity": dated + "date steps distance elevation soft moderate intense active calories totalcalories hr_average " +
				"hr_min hr_max hr_zone_0 is_tracker brand device_id=deviceid",
			"sleep": dated + "id=#id date start_at=startdate end_at=enddate created_at=created model completed data " +
				"sleep_score=data.sleep_score total_sleep_time=data.total_sleep_time",
			"workouts": dated + "id=#id date start_at=startdate end_at=enddate category attrib device_id=deviceid data " +
				"calories=data.calories",
		}.StoredWith(func(stream, key string, record map[string]any) {
			record["id"] = key
			for name, value := range record {
				if seconds, is := value.(float64); is && strings.HasSuffix(name, "_at") {
					record[name] = time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339)
				}
			}
			words := map[any][]string{1.0: {"weight", "kg"}, 6.0: {"fat_ratio", "%"}, 174.0: {"segment_fat_mass", "kg"}}
			if known := words[record["type"]]; known != nil {
				record["kind"], record["unit"] = known[0], known[1]
			}
		}),
	}
}
