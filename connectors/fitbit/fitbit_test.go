//pdpp:tier programs

package fitbit_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/fitbit"
)

const token = "token_under_test"

// small is an account for most tests. Its clock begins at noon.
func small() fitbit.Config {
	began := time.Now()
	return fitbit.Config{Seed: 5, Token: token, Days: 26, MaxPage: 7, Rate: 1 << 20,
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

func target(t *testing.T, cfg fitbit.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector: connectortest.BuiltInConnector(t, "fitbit"), Credential: "FITBIT_ACCESS_TOKEN", Snapshot: true,
		Start: connectortest.StartOf(func() providersim.Simulator { return fitbit.New(cfg) },
			func(base string) map[string]string {
				return map[string]string{"FITBIT_ACCESS_TOKEN": token, "PDPP_FITBIT_BASE_URL": base}
			}),
		Changes: []providersim.Mutation{{Op: "add_sleep", N: 3}, {Op: "change_days", N: 4}, {Op: "change_heart_rate", N: 2},
			{Op: "add_workouts", N: 2}, {Op: "change_sleep", N: 2}, {Op: "delete_workouts", N: 1}, {Op: "add_weight", N: 1}},
		Deletion: providersim.Mutation{Op: "delete_sleep", N: 2}, DeletedStream: "sleep",
		Leave:  map[string]string{"forgotten bookmark": "a window of time deletes only what its bookmark remembers"},
		Scoped: "weight", OptionalField: "fat",
		Stored: connectortest.RecordMembers{
			"profile": "id=encodedId full_name=fullName display_name=displayName date_of_birth=dateOfBirth gender height " +
				"timezone member_since=memberSince",
			"days": "date=dateTime metric value",
			"heart_rate": "id=dateTime date=dateTime resting_heart_rate=value.restingHeartRate zones=value.heartRateZones " +
				"custom_zones=value.customHeartRateZones",
			"sleep": "id=#logId date=dateOfSleep start_at=startTime end_at=endTime duration_ms=duration efficiency " +
				"minutes_asleep=minutesAsleep minutes_awake=minutesAwake minutes_to_fall_asleep=minutesToFallAsleep " +
				"minutes_after_wakeup=minutesAfterWakeup time_in_bed=timeInBed main=isMainSleep type info_code=infoCode " +
				"summary=levels.summary phases=levels.data",
			"weight": "id=#logId date time weight bmi fat source",
			"workouts": "id=#logId name=activityName start_at=startTime duration_ms=duration calories steps distance speed " +
				"active_duration_ms=activeDuration distance_unit=distanceUnit elevation_gain=elevationGain " +
				"average_heart_rate=averageHeartRate levels=activityLevel log_type=logType last_modified=lastModified",
		}.StoredWith(func(stream, key string, record map[string]any) {
			if stream == "days" {
				record["id"] = key
				record["value"], _ = strconv.ParseFloat(record["value"].(string), 64)
			}
			if zones, _ := record["custom_zones"].([]any); len(zones) == 0 {
				delete(record, "custom_zones")
			}
		}),
	}
}
