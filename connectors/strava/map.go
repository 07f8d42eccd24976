package strava

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// wireActivity is what is read of an activity. A pointer is a member that may be null or absent; it is
// then absent from the record.
type wireActivity struct {
	ID             int64     `json:"id"`
	Name           *string   `json:"name"`
	Type           *string   `json:"type"`
	SportType      *string   `json:"sport_type"`
	StartDate      string    `json:"start_date"`
	StartLocal     *string   `json:"start_date_local"`
	Timezone       *string   `json:"timezone"`
	Distance       *float64  `json:"distance"`
	MovingTime     *int64    `json:"moving_time"`
	ElapsedTime    *int64    `json:"elapsed_time"`
	ElevationGain  *float64  `json:"total_elevation_gain"`
	AverageSpeed   *float64  `json:"average_speed"`
	MaxSpeed       *float64  `json:"max_speed"`
	AverageHeart   *float64  `json:"average_heartrate"`
	MaxHeart       *float64  `json:"max_heartrate"`
	KudosCount     *int64    `json:"kudos_count"`
	CommentCount   *int64    `json:"comment_count"`
	AchievementCnt *int64    `json:"achievement_count"`
	StartPoint     []float64 `json:"start_latlng"`
	EndPoint       []float64 `json:"end_latlng"`
	Visibility     *string   `json:"visibility"`
	Manual         *bool     `json:"manual"`
	Map            *struct {
		Polyline *string `json:"summary_polyline"`
	} `json:"map"`
	extras
}

// extras are members that the record has as Strava has them: power, gear, device, places and counts.
type extras struct {
	AthleteCount   *int64   `json:"athlete_count,omitzero"`
	PhotoCount     *int64   `json:"total_photo_count,omitzero"`
	PRCount        *int64   `json:"pr_count,omitzero"`
	Gear           *string  `json:"gear_id,omitzero"`
	Device         *string  `json:"device_name,omitzero"`
	Commute        *bool    `json:"commute,omitzero"`
	Trainer        *bool    `json:"trainer,omitzero"`
	Private        *bool    `json:"private,omitzero"`
	Flagged        *bool    `json:"flagged,omitzero"`
	WorkoutType    *int64   `json:"workout_type,omitzero"`
	UploadID       *int64   `json:"upload_id,omitzero"`
	ExternalID     *string  `json:"external_id,omitzero"`
	ElevHigh       *float64 `json:"elev_high,omitzero"`
	ElevLow        *float64 `json:"elev_low,omitzero"`
	AverageWatts   *float64 `json:"average_watts,omitzero"`
	WeightedWatts  *float64 `json:"weighted_average_watts,omitzero"`
	MaxWatts       *float64 `json:"max_watts,omitzero"`
	DeviceWatts    *bool    `json:"device_watts,omitzero"`
	Kilojoules     *float64 `json:"kilojoules,omitzero"`
	AverageCadence *float64 `json:"average_cadence,omitzero"`
	AverageTemp    *float64 `json:"average_temp,omitzero"`
	SufferScore    *float64 `json:"suffer_score,omitzero"`
	HasHeart       *bool    `json:"has_heartrate,omitzero"`
	Offset         *float64 `json:"utc_offset,omitzero"`
	City           *string  `json:"location_city,omitzero"`
	State          *string  `json:"location_state,omitzero"`
	Country        *string  `json:"location_country,omitzero"`
}

type record struct {
	ID             string    `json:"id"`
	Name           *string   `json:"name,omitzero"`
	Type           *string   `json:"type,omitzero"`
	SportType      *string   `json:"sport_type,omitzero"`
	StartDate      string    `json:"start_date"`
	StartLocal     *string   `json:"start_date_local,omitzero"`
	Timezone       *string   `json:"timezone,omitzero"`
	Distance       *float64  `json:"distance_m,omitzero"`
	MovingTime     *int64    `json:"moving_time_s,omitzero"`
	ElapsedTime    *int64    `json:"elapsed_time_s,omitzero"`
	ElevationGain  *float64  `json:"total_elevation_gain_m,omitzero"`
	AverageSpeed   *float64  `json:"average_speed_mps,omitzero"`
	MaxSpeed       *float64  `json:"max_speed_mps,omitzero"`
	AverageHeart   *float64  `json:"average_heartrate,omitzero"`
	MaxHeart       *float64  `json:"max_heartrate,omitzero"`
	KudosCount     *int64    `json:"kudos_count,omitzero"`
	CommentCount   *int64    `json:"comment_count,omitzero"`
	AchievementCnt *int64    `json:"achievement_count,omitzero"`
	StartPoint     []float64 `json:"start_latlng"`
	EndPoint       []float64 `json:"end_latlng"`
	Polyline       *string   `json:"map_polyline,omitzero"`
	Visibility     *string   `json:"visibility,omitzero"`
	Manual         *bool     `json:"manual,omitzero"`
	extras
}

// read maps one row of the list. The local start ends in Z and is wall time all the same: it is kept as
// it stands, and the zone beside it.
func read(raw jsontext.Value) connectorkit.ListItem {
	var a wireActivity
	err := json.Unmarshal(raw, &a)
	if _, badTime := time.Parse(time.RFC3339, a.StartDate); err == nil {
		err = badTime
	}
	if err != nil || a.ID == 0 {
		var named struct {
			ID any `json:"id"`
		}
		_ = json.Unmarshal(raw, &named) // what can be read of it
		key := ""
		if named.ID != nil {
			key = fmt.Sprint(named.ID)
		}
		return connectorkit.ListItem{Record: connectorkit.Unreadable(key, err)}
	}
	r := record{
		ID: strconv.FormatInt(a.ID, 10), Name: a.Name, Type: a.Type, SportType: a.SportType, StartDate: a.StartDate, StartLocal: a.StartLocal,
		Timezone: a.Timezone, Distance: a.Distance, MovingTime: a.MovingTime, ElapsedTime: a.ElapsedTime, ElevationGain: a.ElevationGain,
		AverageSpeed: a.AverageSpeed, MaxSpeed: a.MaxSpeed, AverageHeart: a.AverageHeart, MaxHeart: a.MaxHeart, KudosCount: a.KudosCount,
		CommentCount: a.CommentCount, AchievementCnt: a.AchievementCnt, StartPoint: point(a.StartPoint), EndPoint: point(a.EndPoint), Visibility: a.Visibility, Manual: a.Manual,
	}
	r.extras = a.extras
	if a.Map != nil && a.Map.Polyline != nil && *a.Map.Polyline != "" {
		r.Polyline = a.Map.Polyline
	}
	return connectorkit.ListItem{Key: r.ID, Record: connectorkit.Upsert(r)}
}

// point is a place on the map; empty where the owner hides it.
func point(p []float64) []float64 {
	if p == nil {
		return []float64{}
	}
	return p
}
