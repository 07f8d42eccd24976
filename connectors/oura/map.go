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

// decode reads a document into a record; a pointer is a member that may be null or absent, and is then
// absent from the record.
func decode[T any](raw jsontext.Value, into *T) (document, error) {
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return document{}, err
	}
	if _, err := time.Parse(time.DateOnly, d.Day); err != nil {
		return document{}, err
	}
	return d, json.Unmarshal(raw, into)
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

type sleepRecord struct {
	ID            string   `json:"id"`
	Day           string   `json:"day"`
	Type          *string  `json:"type,omitzero"`
	BedtimeStart  *string  `json:"bedtime_start,omitzero"`
	BedtimeEnd    *string  `json:"bedtime_end,omitzero"`
	Total         *int64   `json:"total_sleep_duration,omitzero"`
	REM           *int64   `json:"rem_sleep_duration,omitzero"`
	Deep          *int64   `json:"deep_sleep_duration,omitzero"`
	Light         *int64   `json:"light_sleep_duration,omitzero"`
	Efficiency    *int64   `json:"efficiency,omitzero"`
	Latency       *int64   `json:"latency,omitzero"`
	AverageHeart  *float64 `json:"average_heart_rate,omitzero"`
	LowestHeart   *int64   `json:"lowest_heart_rate,omitzero"`
	AverageHRV    *float64 `json:"average_hrv,omitzero"`
	TemperatureBy *float64 `json:"temperature_delta,omitzero"`
}

// discarded is the type of a session that the person threw away.
const discarded = "deleted"

func readSleep(raw jsontext.Value) (string, string, connectorkit.Record) {
	var s struct {
		sleepRecord
		Readiness *struct {
			Temperature *float64 `json:"temperature_deviation"`
		} `json:"readiness"`
	}
	d, err := decode(raw, &s)
	if err == nil && d.ID != "" && s.Type != nil && *s.Type == discarded {
		return d.ID, d.Day, connectorkit.Delete(d.ID)
	}
	return made(d, err, raw, func() any {
		if s.Readiness != nil {
			s.TemperatureBy = s.Readiness.Temperature
		}
		return s.sleepRecord
	})
}

type scoreRecord struct {
	ID           string            `json:"id"`
	Day          string            `json:"day"`
	Score        *int64            `json:"score,omitzero"`
	Contributors map[string]*int64 `json:"contributors,omitzero"`
}

func readScore(raw jsontext.Value) (string, string, connectorkit.Record) {
	var r scoreRecord
	d, err := decode(raw, &r)
	return made(d, err, raw, func() any { return r })
}

type readinessRecord struct {
	ID               string            `json:"id"`
	Day              string            `json:"day"`
	Score            *int64            `json:"score,omitzero"`
	Temperature      *float64          `json:"temperature_deviation,omitzero"`
	TemperatureTrend *float64          `json:"temperature_trend_deviation,omitzero"`
	Contributors     map[string]*int64 `json:"contributors,omitzero"`
}

func readReadiness(raw jsontext.Value) (string, string, connectorkit.Record) {
	var r readinessRecord
	d, err := decode(raw, &r)
	return made(d, err, raw, func() any { return r })
}

type activityRecord struct {
	ID             string `json:"id"`
	Day            string `json:"day"`
	Score          *int64 `json:"score,omitzero"`
	ActiveCalories *int64 `json:"active_calories,omitzero"`
	TotalCalories  *int64 `json:"total_calories,omitzero"`
	Steps          *int64 `json:"steps,omitzero"`
	TargetCalories *int64 `json:"target_calories,omitzero"`
	Walking        *int64 `json:"equivalent_walking_distance,omitzero"`
}

func readActivity(raw jsontext.Value) (string, string, connectorkit.Record) {
	var r activityRecord
	d, err := decode(raw, &r)
	return made(d, err, raw, func() any { return r })
}
