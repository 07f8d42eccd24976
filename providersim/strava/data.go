package strava

import (
	"fmt"
	"strconv"
	"time"
)

type object map[string]any

// ownID is the person whose account it is.
const ownID = 5081

var (
	names  = []string{"Morning Run", "Lunch Ride", "Abendrunde ½", "雨 walk", "Swim <b>&amp;", "łódka"}
	sports = []string{"TrailRun", "GravelRide", "Walk", "Swim"}
	types  = []string{"Run", "Ride", "Walk", "Swim"}
)

// activity is one thing that the person did.
type activity struct {
	id      int64
	n       int
	start   time.Time
	name    string
	sport   int
	kudos   int
	hidden  bool // only the person sees it
	manual  bool // entered by hand: it has no way on the map
	deleted bool
	ghost   bool // counted in its page, and never shown
}

// record makes an activity that began at the moment.
func (s *Strava) record(start time.Time) *activity {
	s.clock = s.clock.Add(26 * time.Hour)
	s.lastID += 1 + s.choice.Int64N(90)
	n := len(s.activities)
	a := &activity{id: s.lastID, n: n, start: start, name: names[n%len(names)], sport: n % len(sports), kudos: n % 5, hidden: n%4 == 2, manual: n%6 == 5}
	a.ghost = s.cfg.Ghosts > 0 && n%s.cfg.Ghosts == s.cfg.Ghosts-1
	s.activities = append(s.activities, a)
	return a
}

func (a *activity) object() object {
	o := object{
		"id": a.id, "resource_state": 2, "athlete": object{"id": ownID, "resource_state": 1}, "name": a.name, "type": types[a.sport], "sport_type": sports[a.sport],
		"start_date": a.start.UTC().Format(time.RFC3339), "start_date_local": a.start.Add(time.Hour).UTC().Format(time.RFC3339),
		"timezone": "(GMT+01:00) Europe/Madrid", "utc_offset": 3600.0, "distance": 5000.5 + float64(a.n), "moving_time": 1800 + a.n, "elapsed_time": 1900 + a.n,
		"total_elevation_gain": 12.5, "average_speed": 2.78, "max_speed": 5.1, "has_heartrate": !a.manual, "kudos_count": a.kudos, "comment_count": 0, "achievement_count": 1,
		"start_latlng": []float64{40.1, -3.7}, "end_latlng": []float64{}, "map": object{"id": "a" + strconv.FormatInt(a.id, 10), "summary_polyline": "ki{eFvqfiVqAWQIGEEKAYJgBVqDJ{BHa@" + fmt.Sprint(a.n), "resource_state": 2},
		"private": a.hidden, "visibility": map[bool]string{true: "only_me", false: "everyone"}[a.hidden], "manual": a.manual,
	}
	o["athlete_count"], o["photo_count"], o["total_photo_count"], o["pr_count"], o["trainer"], o["commute"], o["flagged"],
		o["gear_id"], o["external_id"], o["upload_id"] = 1, 0, a.n%3, 0, false, a.n%2 == 0, false, "b1231", "garmin_push_1",
		a.id+1
	o["workout_type"], o["location_city"], o["location_state"], o["location_country"], o["has_kudoed"],
		o["from_accepted_tag"] = nil, nil, nil, "Spain", false, false
	o["elev_high"], o["elev_low"], o["upload_id_str"], o["heartrate_opt_out"], o["display_hide_heartrate_option"] = 620.5,
		601.0, strconv.FormatInt(a.id+1, 10), false, true
	if sports[a.sport] == "GravelRide" {
		o["average_watts"], o["weighted_average_watts"], o["max_watts"], o["device_watts"], o["kilojoules"],
			o["average_cadence"], o["average_temp"] = 175.3, 180, 430, true, 780.5, 83.2, 21
	}
	if a.n%2 == 0 {
		o["suffer_score"], o["device_name"] = 64.0, "Edge 530"
	}
	if a.manual {
		o["start_latlng"], o["map"] = nil, object{"id": "a" + strconv.FormatInt(a.id, 10), "summary_polyline": "", "resource_state": 2}
	} else {
		o["average_heartrate"], o["max_heartrate"] = 141.5, 172.0
	}
	return o
}
