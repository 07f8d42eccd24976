package oura

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

type object map[string]any

// The collections, and the streams of [Oura.Truth] by them.
var streams = map[string]string{"sleep": StreamSleep, "daily_sleep": StreamScores,
	"daily_readiness": StreamReadiness, "daily_activity": StreamActivity,
	"daily_stress": StreamStress, "sleep_time": StreamBedtimes, "rest_mode_period": StreamRest}

// Streams of [Oura.Truth].
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

// document is one of a collection.
type document struct {
	id       string
	n        int
	day      time.Time
	revision int
	nap      bool
	deleted  bool // discarded by the person: its type says so
	gone     bool // another id took its place
}

func (o *Oura) add(collection string, day time.Time) *document {
	o.lastID++
	d := &document{id: fmt.Sprintf("%08x-oura-%s", o.lastID*2654435761%(1<<32), collection[:4]), n: o.lastID, day: day}
	o.all[collection] = append(o.all[collection], d)
	return d
}

// live is a day with its night; every fifth has a nap, too, and every ninth begins a rest mode that has no end yet.
func (o *Oura) live(day time.Time) {
	for _, collection := range []string{"sleep", "daily_sleep", "daily_readiness", "daily_activity", "daily_stress",
		"sleep_time"} {
		o.add(collection, day)
	}
	if day.YearDay()%5 == 0 {
		o.add("sleep", day).nap = true
	}
	if day.YearDay()%9 == 0 {
		o.add("rest_mode_period", day)
	}
}

// person is what personal_info answers. Without the scope email there is no address.
var person = object{"id": "person-5081", "age": 41, "weight": 71.5, "height": 1.78, "biological_sex": "female",
	"email": nil}

func (d *document) object(collection string) object {
	out := d.members(collection)
	out["meta"] = object{"updated_at": d.day.Add(30 * time.Hour).Format(time.RFC3339), "version": 1 + d.revision}
	return out
}

func (d *document) members(collection string) object {
	day, zone := d.day.Format(time.DateOnly), time.FixedZone("", 3600)
	score := 60 + (d.n+7*d.revision)%40
	at := func(hours float64) string {
		return d.day.Add(time.Duration(hours * float64(time.Hour))).In(zone).Format(time.RFC3339)
	}
	switch collection {
	case "sleep":
		kind := "long_sleep"
		switch {
		case d.deleted:
			kind = "deleted"
		case d.nap:
			kind = "late_nap"
		}
		return object{"id": d.id, "day": day, "type": kind, "bedtime_start": at(-1.5), "bedtime_end": at(6.5), "total_sleep_duration": 25800 + d.n, "rem_sleep_duration": 5400,
			"deep_sleep_duration": 4800, "light_sleep_duration": 15600, "efficiency": 80 + d.revision%20, "latency": 540, "average_heart_rate": 54.25, "lowest_heart_rate": 47, "average_hrv": nil,
			"readiness": object{"score": score, "temperature_deviation": 0.1, "temperature_trend_deviation": nil,
				"contributors": contributors(readinessParts...)},
			"heart_rate":     object{"interval": 300.0, "items": []any{54.0, nil}, "timestamp": at(-1.5)},
			"hrv":            object{"interval": 300.0, "items": []any{61.0, nil}, "timestamp": at(-1.5)},
			"average_breath": 14.5, "awake_time": 1800, "time_in_bed": 28800, "restless_periods": 120, "period": 0,
			"low_battery_alert": false, "readiness_score_delta": nil, "sleep_score_delta": nil,
			"sleep_algorithm_version": "v2", "sleep_analysis_reason": nil, "movement_30_sec": "1112",
			"sleep_phase_5_min": "4321", "sleep_phase_30_sec": "44332211", "app_sleep_phase_5_min": "4321", "ring_id": "ring-1"}
	case "daily_sleep":
		return object{"id": d.id, "day": day, "score": score,
			"contributors": contributors("deep_sleep", "efficiency", "latency", "rem_sleep", "restfulness", "timing",
				"total_sleep"), "timestamp": at(0)}
	case "daily_readiness":
		return object{"id": d.id, "day": day, "score": score, "temperature_deviation": -0.12,
			"temperature_trend_deviation": nil, "contributors": contributors(readinessParts...), "timestamp": at(0)}
	case "daily_stress":
		return object{"id": d.id, "day": day, "stress_high": 3600 + d.n + 900*d.revision, "recovery_high": nil,
			"day_summary": "normal"}
	case "sleep_time":
		return object{"id": d.id, "day": day, "recommendation": "follow_optimal_bedtime", "status": "optimal_found",
			"optimal_bedtime": object{"day_tz": 3600, "start_offset": -5400, "end_offset": 900 * d.revision}}
	case "rest_mode_period":
		rest := object{"id": d.id, "start_day": day, "start_time": at(9), "end_day": nil, "end_time": nil,
			"episodes": []object{{"tags": []string{"tag_generic_cold"}, "timestamp": at(9)}}}
		if d.revision > 0 {
			rest["end_day"], rest["end_time"] = d.day.AddDate(0, 0, 3).Format(time.DateOnly), at(80)
		}
		return rest
	default:
		return object{"id": d.id, "day": day, "score": score, "active_calories": 430, "total_calories": 2400, "steps": 9000 +
			d.n, "target_calories": 400, "equivalent_walking_distance": 8200, "timestamp": at(4),
			"class_5_min": "001122", "met": object{"interval": 60.0, "items": []float64{0.9, 1.2}, "timestamp": at(4)},
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
func contributors(names ...string) object {
	out := object{}
	for i, name := range names {
		out[name] = 70 + i
	}
	out[names[len(names)-1]] = nil
	return out
}

// Truth returns everything that exists now, as the API serves it.
func (o *Oura) Truth() providersim.Truth {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := providersim.Truth{StreamProfile: {person["id"].(string): {Data: json.RawMessage(providersim.EncodeJSON(person))}}}
	for collection, stream := range streams {
		t[stream] = map[string]providersim.Item{}
		for _, d := range o.all[collection] {
			t[stream][d.id] = providersim.Item{Data: json.RawMessage(providersim.EncodeJSON(d.object(collection))), Deleted: d.gone || d.deleted}
		}
	}
	return t
}
