package oura

import (
	"cmp"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// document is what all of them have, but a rest mode has start_day for its day.
type document struct {
	ID  string `json:"id"`
	Day string `json:"day"`
}

// decode reads a document into a record.
func decode[T any](raw jsontext.Value, into *T) (document, error) {
	var d struct {
		document
		StartDay string `json:"start_day"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return document{}, err
	}
	d.Day = cmp.Or(d.Day, d.StartDay)
	if _, err := time.Parse(time.DateOnly, d.Day); err != nil {
		return document{}, err
	}
	return d.document, json.Unmarshal(raw, into)
}

// made is the outcome of a reader.
func made(d document, err error, raw jsontext.Value, rec func() any) (string, string, connectorkit.Record) {
	if err != nil || d.ID == "" {
		var named struct {
			ID any `json:"id"`
		}
		_ = json.Unmarshal(raw, &named) // what can be read of it
		key := ""
		if named.ID != nil {
			key = fmt.Sprint(named.ID)
		}
		return "", "", connectorkit.Unreadable(key, err)
	}
	return d.ID, d.Day, connectorkit.Upsert(rec())
}

// The records have the members of Oura's documents, as they are; the kit checks their types by the manifest. One that
// is null is left out.

type sleepRecord struct {
	document
	Type                  any `json:"type,omitzero"`
	Period                any `json:"period,omitzero"`
	BedtimeStart          any `json:"bedtime_start,omitzero"`
	BedtimeEnd            any `json:"bedtime_end,omitzero"`
	TimeInBed             any `json:"time_in_bed,omitzero"`
	TotalSleepDuration    any `json:"total_sleep_duration,omitzero"`
	RemSleepDuration      any `json:"rem_sleep_duration,omitzero"`
	DeepSleepDuration     any `json:"deep_sleep_duration,omitzero"`
	LightSleepDuration    any `json:"light_sleep_duration,omitzero"`
	AwakeTime             any `json:"awake_time,omitzero"`
	Efficiency            any `json:"efficiency,omitzero"`
	Latency               any `json:"latency,omitzero"`
	RestlessPeriods       any `json:"restless_periods,omitzero"`
	AverageBreath         any `json:"average_breath,omitzero"`
	AverageHeartRate      any `json:"average_heart_rate,omitzero"`
	LowestHeartRate       any `json:"lowest_heart_rate,omitzero"`
	AverageHrv            any `json:"average_hrv,omitzero"`
	HeartRate             any `json:"heart_rate,omitzero"`
	Hrv                   any `json:"hrv,omitzero"`
	Movement30Sec         any `json:"movement_30_sec,omitzero"`
	SleepPhase5Min        any `json:"sleep_phase_5_min,omitzero"`
	SleepPhase30Sec       any `json:"sleep_phase_30_sec,omitzero"`
	AppSleepPhase5Min     any `json:"app_sleep_phase_5_min,omitzero"`
	LowBatteryAlert       any `json:"low_battery_alert,omitzero"`
	Readiness             any `json:"readiness,omitzero"`
	ReadinessScoreDelta   any `json:"readiness_score_delta,omitzero"`
	SleepScoreDelta       any `json:"sleep_score_delta,omitzero"`
	SleepAlgorithmVersion any `json:"sleep_algorithm_version,omitzero"`
	SleepAnalysisReason   any `json:"sleep_analysis_reason,omitzero"`
	RingId                any `json:"ring_id,omitzero"`

	Temperature *float64 `json:"temperature_delta,omitzero"` // of the readiness
}

type scoreRecord struct {
	document
	Score        any `json:"score,omitzero"`
	Contributors any `json:"contributors,omitzero"`
	Timestamp    any `json:"timestamp,omitzero"`
}

type readinessRecord struct {
	document
	Score                     any `json:"score,omitzero"`
	TemperatureDeviation      any `json:"temperature_deviation,omitzero"`
	TemperatureTrendDeviation any `json:"temperature_trend_deviation,omitzero"`
	Contributors              any `json:"contributors,omitzero"`
	Timestamp                 any `json:"timestamp,omitzero"`
}

type activityRecord struct {
	document
	Score                     any `json:"score,omitzero"`
	ActiveCalories            any `json:"active_calories,omitzero"`
	TotalCalories             any `json:"total_calories,omitzero"`
	Steps                     any `json:"steps,omitzero"`
	TargetCalories            any `json:"target_calories,omitzero"`
	EquivalentWalkingDistance any `json:"equivalent_walking_distance,omitzero"`
	Contributors              any `json:"contributors,omitzero"`
	Timestamp                 any `json:"timestamp,omitzero"`
	Class5Min                 any `json:"class_5_min,omitzero"`
	Met                       any `json:"met,omitzero"`
	AverageMetMinutes         any `json:"average_met_minutes,omitzero"`
	HighActivityMetMinutes    any `json:"high_activity_met_minutes,omitzero"`
	MediumActivityMetMinutes  any `json:"medium_activity_met_minutes,omitzero"`
	LowActivityMetMinutes     any `json:"low_activity_met_minutes,omitzero"`
	SedentaryMetMinutes       any `json:"sedentary_met_minutes,omitzero"`
	HighActivityTime          any `json:"high_activity_time,omitzero"`
	MediumActivityTime        any `json:"medium_activity_time,omitzero"`
	LowActivityTime           any `json:"low_activity_time,omitzero"`
	SedentaryTime             any `json:"sedentary_time,omitzero"`
	RestingTime               any `json:"resting_time,omitzero"`
	NonWearTime               any `json:"non_wear_time,omitzero"`
	InactivityAlerts          any `json:"inactivity_alerts,omitzero"`
	MetersToTarget            any `json:"meters_to_target,omitzero"`
	TargetMeters              any `json:"target_meters,omitzero"`
}

type stressRecord struct {
	document
	StressHigh   any `json:"stress_high,omitzero"`
	RecoveryHigh any `json:"recovery_high,omitzero"`
	DaySummary   any `json:"day_summary,omitzero"`
}

type bedtimeRecord struct {
	document
	Recommendation any `json:"recommendation,omitzero"`
	Status         any `json:"status,omitzero"`
	OptimalBedtime any `json:"optimal_bedtime,omitzero"`
}

type restRecord struct {
	ID        string `json:"id"`
	StartDay  string `json:"start_day"`
	StartTime any    `json:"start_time,omitzero"`
	EndDay    any    `json:"end_day,omitzero"`
	EndTime   any    `json:"end_time,omitzero"`
	Episodes  any    `json:"episodes,omitzero"`
}

type profileRecord struct {
	ID            string `json:"id"`
	Age           any    `json:"age,omitzero"`
	Weight        any    `json:"weight,omitzero"`
	Height        any    `json:"height,omitzero"`
	BiologicalSex any    `json:"biological_sex,omitzero"`
	Email         any    `json:"email,omitzero"`
}

// keep reads a document into a record with Oura's own members.
func keep[T any](raw jsontext.Value) (string, string, connectorkit.Record) {
	var r T
	d, err := decode(raw, &r)
	return made(d, err, raw, func() any { return r })
}

// discarded is the type of a session that the person threw away.
const discarded = "deleted"

func readSleep(raw jsontext.Value) (string, string, connectorkit.Record) {
	var r sleepRecord
	d, err := decode(raw, &r)
	if err == nil && d.ID != "" && r.Type == discarded {
		return d.ID, d.Day, connectorkit.Delete(d.ID)
	}
	return made(d, err, raw, func() any {
		var wire struct {
			Readiness struct {
				Temperature *float64 `json:"temperature_deviation"`
			} `json:"readiness"`
		}
		if json.Unmarshal(raw, &wire) == nil {
			r.Temperature = wire.Readiness.Temperature
		}
		return r
	})
}
