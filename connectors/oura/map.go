package oura

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
)

// document is what all of them have.
type document struct {
	ID  string `json:"id"`
	Day string `json:"day"`
}

// decode reads a document's members.
func decode(raw jsontext.Value) (d document, members map[string]jsontext.Value, err error) {
	if err := json.Unmarshal(raw, &d); err != nil {
		return document{}, nil, err
	}
	if _, err := time.Parse(time.DateOnly, d.Day); err != nil {
		return document{}, nil, err
	}
	return d, members, json.Unmarshal(raw, &members)
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

// The members of each collection besides id and day, as Oura calls them. The kit checks their types by the manifest.
var (
	sleepMembers = []string{"type", "period", "bedtime_start", "bedtime_end", "time_in_bed", "total_sleep_duration", "rem_sleep_duration", "deep_sleep_duration", "light_sleep_duration",
		"awake_time", "efficiency", "latency", "restless_periods", "average_breath", "average_heart_rate", "lowest_heart_rate", "average_hrv", "heart_rate", "hrv", "movement_30_sec",
		"sleep_phase_5_min", "sleep_phase_30_sec", "app_sleep_phase_5_min", "low_battery_alert", "readiness", "readiness_score_delta", "sleep_score_delta", "sleep_algorithm_version", "sleep_analysis_reason", "ring_id"}
	scoreMembers     = []string{"score", "contributors", "timestamp"}
	readinessMembers = []string{"score", "temperature_deviation", "temperature_trend_deviation", "contributors", "timestamp"}
	activityMembers  = []string{"score", "active_calories", "total_calories", "steps", "target_calories", "equivalent_walking_distance", "contributors", "timestamp", "class_5_min", "met",
		"average_met_minutes", "high_activity_met_minutes", "medium_activity_met_minutes", "low_activity_met_minutes", "sedentary_met_minutes", "high_activity_time", "medium_activity_time",
		"low_activity_time", "sedentary_time", "resting_time", "non_wear_time", "inactivity_alerts", "meters_to_target", "target_meters"}
)

// keep returns the reader of a collection whose records have the members that Oura has. A member that is null is left out.
func keep(names []string) reader {
	return func(raw jsontext.Value) (string, string, connectorkit.Record) {
		d, members, err := decode(raw)
		return made(d, err, raw, func() any { return kept(d, members, names) })
	}
}

func kept(d document, members map[string]jsontext.Value, names []string) map[string]any {
	r := map[string]any{"id": d.ID, "day": d.Day}
	for _, name := range names {
		if value := members[name]; len(value) > 0 && value.Kind() != 'n' {
			r[name] = value
		}
	}
	return r
}

// discarded is the type of a session that the person threw away.
const discarded = "deleted"

func readSleep(raw jsontext.Value) (string, string, connectorkit.Record) {
	d, members, err := decode(raw)
	if err == nil && d.ID != "" && string(members["type"]) == `"`+discarded+`"` {
		return d.ID, d.Day, connectorkit.Delete(d.ID)
	}
	return made(d, err, raw, func() any {
		r := kept(d, members, sleepMembers)
		var readiness struct {
			Temperature *float64 `json:"temperature_deviation"`
		}
		if json.Unmarshal(members["readiness"], &readiness) == nil && readiness.Temperature != nil {
			r["temperature_delta"] = *readiness.Temperature
		}
		return r
	})
}
