// Package whoop collects a person's days, nights, recoveries and workouts from WHOOP.
//
//	manifest.json   what it declares: streams, schemas, the sign-in
//	whoop.go        where the records are
package whoop

import (
	"context"
	_ "embed"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the WHOOP connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL:     "https://api.prod.whoop.com/developer/v2",
	Auth:        rest.AccessToken("WHOOP_ACCESS_TOKEN"),
	Header:      http.Header{"User-Agent": {"pdpp-whoop-connector/1.0"}},
	QuotaOf:     []string{"WHOOP_CLIENT_ID"},
	Account:     &rest.Lookup{Request: rest.Request{Path: "user/profile/basic"}, Member: "user_id"},
	LimitWindow: time.Minute,
	Errors: []rest.ErrorRule{{Status: http.StatusForbidden, Class: connectorkit.Forbidden,
		Message: "WHOOP does not allow access to this part: your membership has ended, or your app at WHOOP lacks a " +
			"scope. Tick all that begin with read there, and sign in again."}},
	Streams: []rest.Stream{
		{Name: "profile", Sync: rest.SingleObject{OfAccount: true}, Fields: rest.Fields{"id": rest.NumberText("user_id")}},
		{Name: "body", Request: rest.Request{Path: "user/measurement/body"}, Sync: rest.SingleObject{},
			Fields: rest.Fields{"id": rest.Computed(accountID)}},
		timed("cycles", "cycle", rest.DateWindows{},
			rest.Fields{"id": rest.NumberText("id"), "start": rest.From("start").Time()},
			below("score", "strain kilojoule average_heart_rate max_heart_rate")),
		timed("sleep", "activity/sleep", rest.DateWindows{},
			rest.Fields{"cycle_id": rest.NumberText("cycle_id"), "start": rest.From("start").Time()},
			below("score", "respiratory_rate sleep_performance_percentage sleep_consistency_percentage "+
				"sleep_efficiency_percentage"),
			below("score.stage_summary", "total_in_bed_time_milli total_awake_time_milli total_no_data_time_milli "+
				"total_light_sleep_time_milli total_slow_wave_sleep_time_milli total_rem_sleep_time_milli "+
				"sleep_cycle_count disturbance_count"),
			below("score.sleep_needed", "baseline_milli need_from_sleep_debt_milli need_from_recent_strain_milli "+
				"need_from_recent_nap_milli")),
		// WHOOP finds recoveries by the time of their sleep, which they do not have. An absent one may be older than the
		// window, and is not deleted.
		timed("recovery", "recovery", rest.DateWindows{KeepMissing: true},
			rest.Fields{"id": rest.NumberText("cycle_id"), "created_at": rest.From("created_at").Time()},
			below("score", "user_calibrating recovery_score resting_heart_rate hrv_rmssd_milli spo2_percentage "+
				"skin_temp_celsius")),
		timed("workouts", "activity/workout", rest.DateWindows{}, rest.Fields{"start": rest.From("start").Time()},
			below("score", "strain average_heart_rate max_heart_rate kilojoule percent_recorded distance_meter "+
				"altitude_gain_meter altitude_change_meter zone_durations")),
	},
}

// timed is a list by the time of its records. WHOOP returns records that overlap a window: one at a bound comes twice.
// 2015 is before the first strap was worn. Straps sync late, and WHOOP scores again.
func timed(stream, path string, windows rest.DateWindows, fields ...rest.Fields) rest.Stream {
	s := rest.Stream{Name: stream, Request: rest.Request{Path: path, Query: url.Values{"limit": {"25"}}},
		Items: "records", Fields: rest.Fields{}, OmitEmpty: true,
		Pages: rest.NextToken{Param: "nextToken", Member: "next_token"}}
	windows.From, windows.To, windows.Layout = "start", "end", "2006-01-02T15:04:05.000Z"
	windows.Since, windows.SinceVariable, windows.Days, windows.Again = "2015-01-01", "PDPP_WHOOP_FIRST_DAY", 360, 30
	s.Sync = windows
	for _, some := range fields {
		maps.Copy(s.Fields, some)
	}
	return s
}

// below are members that are below a path.
func below(path, names string) rest.Fields {
	fields := rest.Fields{}
	for name := range strings.FieldsSeq(names) {
		fields[name] = rest.From(path + "." + name)
	}
	return fields
}

// accountID is the id of an object of the account that has none.
func accountID(item rest.Item) (jsontext.Value, error) {
	id, err := item.Run.Account(context.Background()) // known: a run requests it first
	return jsontext.Value(strconv.Quote(id)), err
}
