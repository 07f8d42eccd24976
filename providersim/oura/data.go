package oura

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

type jsonObject = rest.Object

// The collections, and the streams of the ground truth by them.
var collectionStreams = map[string]string{"sleep": StreamSleep, "daily_sleep": StreamScores,
	"daily_readiness": StreamReadiness, "daily_activity": StreamActivity,
	"daily_stress": StreamStress, "sleep_time": StreamBedtimes, "rest_mode_period": StreamRest}

// Streams of the ground truth.
const (
	StreamSleep     = "sleep"
	StreamScores    = "daily_sleep"
	StreamReadiness = "readiness"
	StreamActivity  = "activity"
	StreamStress    = "daily_stress"
	StreamBedtimes  = "sleep_time"
	StreamRest      = "rest_mode_period"
	StreamProfile   = "profile"
)

// addDocument adds a document of a day to a collection.
func (o *Oura) addDocument(collection string, day time.Time) *rest.Row {
	id := fmt.Sprintf("%08x-oura-%s", o.NextID()*2654435761%(1<<32), collection[:4])
	return o.Add(collection, &rest.Row{ID: id, At: day, Data: rest.Object{"type": "long_sleep"}})
}

// addDay adds a day with its night; every fifth has a nap, too, and every ninth begins a rest mode that has no end yet.
func (o *Oura) addDay(day time.Time) {
	for _, collection := range []string{"sleep", "daily_sleep", "daily_readiness", "daily_activity", "daily_stress",
		"sleep_time"} {
		o.addDocument(collection, day)
	}
	if day.YearDay()%5 == 0 {
		o.addDocument("sleep", day).Data["type"] = "late_nap"
	}
	if day.YearDay()%9 == 0 {
		o.addDocument("rest_mode_period", day)
	}
}

// personalInfo is what personal_info answers. Without the scope email there is no address.
var personalInfo = jsonObject{"id": "person-5081", "age": 41, "weight": 71.5, "height": 1.78,
	"biological_sex": "female", "email": nil}

// renderDocument returns a document as the API serves it.
func renderDocument(collection string, d *rest.Row) jsonObject {
	out := documentMembers(collection, d)
	out["meta"] = jsonObject{"updated_at": d.At.Add(30 * time.Hour).Format(time.RFC3339), "version": 1 + d.Version}
	return out
}

func documentMembers(collection string, d *rest.Row) jsonObject {
	day, zone := d.At.Format(time.DateOnly), time.FixedZone("", 3600)
	score := 60 + (d.N+7*d.Version)%40
	at := func(hours float64) string {
		return d.At.Add(time.Duration(hours * float64(time.Hour))).In(zone).Format(time.RFC3339)
	}
	switch collection {
	case "sleep":
		return jsonObject{"id": d.ID, "day": day, "type": d.Data["type"], "bedtime_start": at(-1.5), "bedtime_end": at(6.5),
			"total_sleep_duration": 25800 + d.N, "rem_sleep_duration": 5400,
			"deep_sleep_duration": 4800, "light_sleep_duration": 15600, "efficiency": 80 + d.Version%20, "latency": 540,
			"average_heart_rate": 54.25, "lowest_heart_rate": 47, "average_hrv": nil,
			"readiness": jsonObject{"score": score, "temperature_deviation": 0.1, "temperature_trend_deviation": nil,
				"contributors": contributors(readinessParts...)},
			"heart_rate":     jsonObject{"interval": 300.0, "items": []any{54.0, nil}, "timestamp": at(-1.5)},
			"hrv":            jsonObject{"interval": 300.0, "items": []any{61.0, nil}, "timestamp": at(-1.5)},
			"average_breath": 14.5, "awake_time": 1800, "time_in_bed": 28800, "restless_periods": 120, "period": 0,
			"low_battery_alert": false, "readiness_score_delta": nil, "sleep_score_delta": nil,
			"sleep_algorithm_version": "v2", "sleep_analysis_reason": nil, "movement_30_sec": "1112",
			"sleep_phase_5_min": "4321", "sleep_phase_30_sec": "44332211", "app_sleep_phase_5_min": "4321", "ring_id": "ring-1"}
	case "daily_sleep":
		return jsonObject{"id": d.ID, "day": day, "score": score,
			"contributors": contributors("deep_sleep", "efficiency", "latency", "rem_sleep", "restfulness", "timing",
				"total_sleep"), "timestamp": at(0)}
	case "daily_readiness":
		return jsonObject{"id": d.ID, "day": day, "score": score, "temperature_deviation": -0.12,
			"temperature_trend_deviation": nil, "contributors": contributors(readinessParts...), "timestamp": at(0)}
	case "daily_stress":
		return jsonObject{"id": d.ID, "day": day, "stress_high": 3600 + d.N + 900*d.Version, "recovery_high": nil,
			"day_summary": "normal"}
	case "sleep_time":
		return jsonObject{"id": d.ID, "day": day, "recommendation": "follow_optimal_bedtime", "status": "optimal_found",
			"optimal_bedtime": jsonObject{"day_tz": 3600, "start_offset": -5400, "end_offset": 900 * d.Version}}
	case "rest_mode_period":
		rest := jsonObject{"id": d.ID, "start_day": day, "start_time": at(9), "end_day": nil, "end_time": nil,
			"episodes": []jsonObject{{"tags": []string{"tag_generic_cold"}, "timestamp": at(9)}}}
		if d.Version > 0 {
			rest["end_day"], rest["end_time"] = d.At.AddDate(0, 0, 3).Format(time.DateOnly), at(80)
		}
		return rest
	default:
		return jsonObject{"id": d.ID, "day": day, "score": score, "active_calories": 430, "total_calories": 2400,
			"steps": 9000 + d.N, "target_calories": 400, "equivalent_walking_distance": 8200, "timestamp": at(4),
			"class_5_min": "001122", "met": jsonObject{"interval": 60.0, "items": []float64{0.9, 1.2}, "timestamp": at(4)},
			"contributors": contributors("meet_daily_targets", "move_every_hour", "recovery_time", "stay_active",
				"training_frequency", "training_volume"),
			"average_met_minutes": 1.5, "high_activity_met_minutes": 20, "medium_activity_met_minutes": 90,
			"low_activity_met_minutes": 150, "sedentary_met_minutes": 10, "high_activity_time": 300,
			"medium_activity_time": 1800, "low_activity_time": 12000, "sedentary_time": 30000, "resting_time": 28000,
			"non_wear_time": 600, "inactivity_alerts": 1, "meters_to_target": -200, "target_meters": 8000}
	}
}

var readinessParts = []string{"activity_balance", "body_temperature", "hrv_balance", "previous_day_activity",
	"previous_night", "recovery_index", "resting_heart_rate", "sleep_balance", "sleep_regularity"}

// contributors are the parts of a score. The last one is not known yet.
func contributors(names ...string) jsonObject {
	out := jsonObject{}
	for i, name := range names {
		out[name] = 70 + i
	}
	out[names[len(names)-1]] = nil
	return out
}

func (o *Oura) truth(add rest.AddTruth) {
	add(StreamProfile, personalInfo["id"].(string), personalInfo, false)
	for collection, stream := range collectionStreams {
		for _, d := range o.Rows[collection] {
			add(stream, d.ID, renderDocument(collection, d), d.Gone || d.Data["type"] == "deleted")
		}
	}
}
