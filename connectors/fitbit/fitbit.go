// Package fitbit collects a person's days, nights, weight and workouts from Fitbit.
//
//	manifest.json   what it declares: streams, schemas, the sign-in
//	fitbit.go       where the records are, and how long a request may reach
package fitbit

import (
	"context"
	_ "embed"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Fitbit connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

const (
	// lateDays is how many past days every run reads again: a tracker keeps a month.
	lateDays = 30
	metrics  = "steps distance floors elevation calories minutesSedentary minutesLightlyActive minutesFairlyActive " +
		"minutesVeryActive"
)

var source = rest.Source{
	BaseURL: "https://api.fitbit.com",
	Auth:    rest.AccessToken("FITBIT_ACCESS_TOKEN"),
	QuotaOf: []string{"FITBIT_CLIENT_ID"}, PerAccount: true, // Fitbit counts for each person
	Account:     &rest.Lookup{Request: rest.Request{Path: "1/user/-/profile.json"}, Member: "user.encodedId"},
	Inspect:     readQuota,
	LimitWindow: time.Hour,
	Errors: []rest.ErrorRule{{Status: http.StatusForbidden, Class: connectorkit.Forbidden,
		Message: "Fitbit does not allow access to this part. Sign in again and leave everything ticked."}},
	Streams: []rest.Stream{
		{Name: "profile", Items: "user", Sync: rest.SingleObject{OfAccount: true}, OmitEmpty: true, Fields: rest.Fields{
			"id": rest.From("encodedId"), "full_name": rest.From("fullName"), "display_name": rest.From("displayName"),
			"date_of_birth": rest.From("dateOfBirth"), "member_since": rest.From("memberSince")}},
		days(),
		dated("heart_rate", "1/user/-/activities/heart", "activities-heart", 365, rest.Fields{
			"id": rest.From("dateTime"), "date": rest.From("dateTime").Day(),
			"resting_heart_rate": rest.From("value.restingHeartRate"), "zones": rest.From("value.heartRateZones"),
			"custom_zones": rest.From("value.customHeartRateZones")}),
		dated("sleep", "1.2/user/-/sleep", "sleep", 100, rest.Fields{"id": rest.NumberText("logId"),
			"date": rest.From("dateOfSleep").Day(), "start_at": rest.From("startTime"), "end_at": rest.From("endTime"),
			"duration_ms": rest.From("duration"), "minutes_asleep": rest.From("minutesAsleep"),
			"minutes_awake": rest.From("minutesAwake"), "minutes_to_fall_asleep": rest.From("minutesToFallAsleep"),
			"minutes_after_wakeup": rest.From("minutesAfterWakeup"), "time_in_bed": rest.From("timeInBed"),
			"main": rest.From("isMainSleep"), "info_code": rest.From("infoCode"), "summary": rest.From("levels.summary"),
			"phases": rest.From("levels.data")}),
		dated("weight", "1/user/-/body/log/weight", "weight", 31, rest.Fields{"id": rest.NumberText("logId"),
			"date": rest.From("date").Day()}),
		workouts(),
	},
}

// dated is a list by its days. A request reaches over a number of days at most; a longer one is refused.
func dated(stream, path, items string, longest int, fields rest.Fields) rest.Stream {
	return rest.Stream{Name: stream, Request: rest.Request{Path: path + "/date"}, Items: items, Fields: fields,
		OmitEmpty: true,
		Sync:      rest.DateWindows{Start: joined, Days: longest - 1, Granularity: 24 * time.Hour, Again: lateDays},
		Prepare: func(_ context.Context, _ *rest.Run, ask rest.Ask, q *governhttp.Request) error {
			q.Path += "/" + ask.Window.From.Format(time.DateOnly) + "/" + ask.Window.To.Format(time.DateOnly) + ".json"
			return nil
		}}
}

// days are totals of several kinds. A day that has not begun counts nothing and is left out.
func days() rest.Stream {
	kinds := strings.Fields(metrics)
	s := dated("days", "1/user/-/activities/{metric}", "", 1095, rest.Fields{
		"id": rest.Joined(":", rest.FromPartition("metric"), rest.From("dateTime")), "metric": rest.FromPartition("metric"),
		"date": rest.From("dateTime").Day(), "value": rest.Computed(func(item rest.Item) (jsontext.Value, error) {
			n, err := strconv.ParseFloat(item.Text("value"), 64)
			return strconv.AppendFloat(nil, n, 'f', -1, 64), err
		})})
	s.Partitions = rest.Values("metric", kinds...)
	s.Admit = func(item rest.Item) bool {
		return item.Text("value") != "0" || item.Text("dateTime") < item.Run.Now().UTC().Format(time.DateOnly)
	}
	for i := range kinds {
		kinds[i] = "activities-" + kinds[i]
	}
	s.Select = rest.FirstList(kinds...)
	return s
}

// workouts are in one list, the oldest first.
func workouts() rest.Stream {
	return rest.Stream{Name: "workouts", Items: "activities", OmitEmpty: true,
		Pages: rest.NextURL{Member: "pagination.next"}, Request: rest.Request{Path: "1/user/-/activities/list.json",
			Query: url.Values{"sort": {"asc"}, "limit": {"100"}, "offset": {"0"}}},
		Fields: rest.Fields{"id": rest.NumberText("logId"), "name": rest.From("activityName"),
			"start_at": rest.From("startTime").Time(), "duration_ms": rest.From("duration"),
			"active_duration_ms": rest.From("activeDuration"), "distance_unit": rest.From("distanceUnit"),
			"elevation_gain": rest.From("elevationGain"), "average_heart_rate": rest.From("averageHeartRate"),
			"zones": rest.From("heartRateZones"), "levels": rest.From("activityLevel"), "log_type": rest.From("logType"),
			"last_modified": rest.From("lastModified")},
		Sync: rest.DateWindows{Start: joined, Again: lateDays},
		Prepare: func(_ context.Context, _ *rest.Run, ask rest.Ask, q *governhttp.Request) error {
			if ask.Page == "" { // whether that day counts is not documented: a day more
				q.Query.Set("afterDate", ask.Window.From.AddDate(0, 0, -1).Format(time.DateOnly))
			}
			return nil
		}}
}

// joined is the day on which the person joined.
func joined(r *rest.Run) (time.Time, error) {
	text, err := r.AccountText(context.Background(), "user.memberSince") // the account is known here
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return at, connectorkit.Fail(connectorkit.Malformed, err)
	}
	return at, nil
}

// readQuota reads the quota of an hour from the headers.
func readQuota(r *governhttp.Response) error {
	left, err := strconv.Atoi(r.Header.Get("Fitbit-Rate-Limit-Remaining"))
	seconds, err2 := strconv.Atoi(r.Header.Get("Fitbit-Rate-Limit-Reset"))
	if limit, err3 := strconv.Atoi(r.Header.Get("Fitbit-Rate-Limit-Limit")); err == nil && err2 == nil && err3 == nil {
		r.Quota = governor.Quota{Known: true, Limit: limit, Remaining: left, Reset: time.Duration(seconds) * time.Second}
	}
	return nil
}
