//pdpp:tier programs

package strava_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/strava"
)

// TestConformance holds the connector to the suite; long, to all of it.
func TestConformance(t *testing.T) {
	small := strava.Config{Seed: 5, Activities: 26, MaxPage: 4, Ghosts: 9, Quarter: 1 << 20, Day: 1 << 20}
	large := strava.Config{Seed: 5, Activities: 120, MaxPage: 9, Ghosts: 9, Quarter: 1 << 20, Day: 1 << 20}
	connectortest.RunSuite(t, target(t, small), target(t, large))
}

const token = "access_under_test"

func target(t *testing.T, cfg strava.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "strava"),
		Start:      func(t *testing.T) *connectortest.Sim { _, sim := start(t, cfg); return sim },
		Credential: "STRAVA_ACCESS_TOKEN",
		Snapshot:   true,
		Changes: []providersim.Mutation{
			{Op: "record", N: 3}, {Op: "upload_late", N: 2}, {Op: "rename", N: 2}, {Op: "crop", N: 1}, {Op: "kudos", N: 3},
		},
		Deletion: providersim.Mutation{Op: "delete", N: 2}, DeletedStream: strava.StreamActivities,
		Scoped: strava.StreamActivities, OptionalField: "name",
		Stored: stored,
	}
}

func start(t *testing.T, cfg strava.Config) (*strava.Server, *connectortest.Sim) {
	t.Helper()
	cfg.Token = token
	s, err := strava.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"STRAVA_ACCESS_TOKEN": token, "PDPP_STRAVA_BASE_URL": s.BaseURL}}
}

// stored returns the record that the store must hold for an activity, independent of the connector's mapping.
func stored(_, _ string, data json.RawMessage) (json.RawMessage, error) {
	var w map[string]any
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	r := map[string]any{"id": strconv.FormatInt(int64(w["id"].(float64)), 10), "start_latlng": []any{},
		"end_latlng": []any{}}
	for name, from := range map[string]string{
		"name": "name", "type": "type", "sport_type": "sport_type", "start_date": "start_date",
		"start_date_local": "start_date_local", "timezone": "timezone",
		"distance_m": "distance", "moving_time_s": "moving_time", "elapsed_time_s": "elapsed_time",
		"total_elevation_gain_m": "total_elevation_gain",
		"average_speed_mps":      "average_speed", "max_speed_mps": "max_speed", "average_heartrate": "average_heartrate",
		"max_heartrate": "max_heartrate",
		"kudos_count":   "kudos_count", "comment_count": "comment_count", "achievement_count": "achievement_count",
		"start_latlng": "start_latlng",
		"end_latlng":   "end_latlng", "visibility": "visibility", "manual": "manual",
	} {
		if v := w[from]; v != nil {
			r[name] = v
		}
	}
	for _, name := range []string{"athlete_count", "total_photo_count", "pr_count", "gear_id", "device_name", "commute",
		"trainer", "private", "flagged", "workout_type", "upload_id", "external_id", "elev_high", "elev_low", "average_watts",
		"weighted_average_watts", "max_watts", "device_watts", "kilojoules", "average_cadence", "average_temp",
		"suffer_score", "has_heartrate", "utc_offset", "location_city", "location_state", "location_country"} {
		if v := w[name]; v != nil {
			r[name] = v
		}
	}
	if way := w["map"].(map[string]any)["summary_polyline"]; way != "" {
		r["map_polyline"] = way
	}
	return json.Marshal(r)
}
