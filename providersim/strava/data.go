package strava

import (
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// ownUserID is the owner of the account.
const ownUserID = 5081

var (
	sampleNames   = []string{"Morning Run", "Lunch Ride", "Abendrunde ½", "雨 walk", "Swim <b>&amp;", "łódka"}
	sampleSports  = []string{"TrailRun", "GravelRide", "Walk", "Swim"}
	activityTypes = []string{"Run", "Ride", "Walk", "Swim"}
)

// newActivity makes an activity. Every fourth is visible only to the person, every sixth was entered by hand and has
// no way on the map.
func (s *Strava) newActivity(a *rest.Row) {
	s.Advance(26 * time.Hour)
	n, id, sport, private, manual := a.N, 14_000_000_000+47*s.NextID(), a.N%len(sampleSports), a.N%4 == 2, a.N%6 == 5
	a.Ghost = s.cfg.Ghosts > 0 && n%s.cfg.Ghosts == s.cfg.Ghosts-1
	way := fmt.Sprint("ki{eFvqfiVqAWQIGEEKAYJgBVqDJ{BHa@", n)
	if manual {
		way = ""
	}
	o := rest.Object{
		"id": id, "resource_state": 2, "athlete": rest.Object{"id": ownUserID, "resource_state": 1},
		"name": sampleNames[n%len(sampleNames)], "type": activityTypes[sport], "sport_type": sampleSports[sport],
		"timezone": "(GMT+01:00) Europe/Madrid", "utc_offset": 3600.0, "distance": 5000.5 + float64(n),
		"moving_time": 1800 + n, "elapsed_time": 1900 + n, "total_elevation_gain": 12.5, "average_speed": 2.78,
		"max_speed": 5.1, "has_heartrate": !manual, "kudos_count": n % 5, "comment_count": 0, "achievement_count": 1,
		"start_latlng": []float64{40.1, -3.7}, "end_latlng": []float64{},
		"map":     rest.Object{"id": fmt.Sprint("a", id), "summary_polyline": way, "resource_state": 2},
		"private": private, "visibility": map[bool]string{true: "only_me", false: "everyone"}[private], "manual": manual,
		"athlete_count": 1, "photo_count": 0, "total_photo_count": n % 3, "pr_count": 0, "trainer": false,
		"commute": n%2 == 0, "flagged": false, "gear_id": "b1231", "external_id": "garmin_push_1", "upload_id": id + 1,
		"upload_id_str": fmt.Sprint(id + 1), "workout_type": nil, "location_city": nil, "location_state": nil,
		"location_country": "Spain", "has_kudoed": false, "from_accepted_tag": false, "elev_high": 620.5, "elev_low": 601.0,
		"heartrate_opt_out": false, "display_hide_heartrate_option": true,
	}
	if sampleSports[sport] == "GravelRide" {
		o["average_watts"], o["weighted_average_watts"], o["max_watts"], o["device_watts"], o["kilojoules"],
			o["average_cadence"], o["average_temp"] = 175.3, 180, 430, true, 780.5, 83.2, 21
	}
	if n%2 == 0 {
		o["suffer_score"], o["device_name"] = 64.0, "Edge 530"
	}
	if manual {
		o["start_latlng"] = nil
	} else {
		o["average_heartrate"], o["max_heartrate"] = 141.5, 172.0
	}
	a.Data = o
	setStart(a, a.At)
}

// setStart moves an activity to a moment.
func setStart(a *rest.Row, at time.Time) {
	a.At, a.Data["start_date"] = at, at.UTC().Format(time.RFC3339)
	a.Data["start_date_local"] = at.Add(time.Hour).UTC().Format(time.RFC3339)
}
