// Package fitbit simulates the parts of Fitbit's Web API that a person's own records are read from.
//
// Written from Fitbit's Web API reference, in excerpts (November 2026), and an OpenAPI document that others derived
// from it (July 2026).
//
//   - Days come by a range in the path, both ends included. A longer range than the list's own is refused.
//   - Totals of a day are texts. A day without data has the total 0, also one in the future.
//   - Workouts come after a day, with the address of the next page.
//   - 150 requests in an hour for a person. Headers have the limit, what is left, and the seconds until it resets.
//
// Not in the excerpts, and chosen here: that days before the person joined are left out; the sizes of pages.
package fitbit

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed          uint64
	Days          int // of data, up to today
	MaxPage, Rate int // largest page of workouts; requests in an hour (150)
	Token         string
	Now           func() time.Time // clock of the data and of the Date header; nil means the wall clock
}

// Metrics are the totals of a day.
var Metrics = strings.Fields("steps distance floors elevation calories minutesSedentary minutesLightlyActive " +
	"minutesFairlyActive minutesVeryActive")

var errorTypes = map[rest.Problem]string{rest.ExpiredToken: "expired_token", rest.BadToken: "invalid_token",
	rest.NoScope: "insufficient_scope", rest.BadParameter: "validation"}

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	quota := rest.FixedWindow{Rate: max(cfg.Rate, 150), Window: time.Hour}
	now := cfg.Now
	if now == nil {
		now = time.Now
	}
	today := now().UTC().Truncate(24 * time.Hour)
	profile := rest.Object{"encodedId": "GGNJL9", "fullName": "Ottilie Ångström", "displayName": "Ottilie",
		"dateOfBirth": "1985-01-02", "gender": "FEMALE", "height": 171.5, "timezone": "Europe/Berlin",
		"memberSince": today.AddDate(0, 0, 1-cfg.Days).Format(time.DateOnly)}
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Now: cfg.Now,
		Scopes: []string{"profile", "activity", "heartrate", "sleep", "weight"},
		Errors: func(f rest.Refusal) rest.Answer {
			return rest.Answer{Status: f.Status(), Body: rest.Object{"success": false,
				"errors": []rest.Object{{"errorType": errorTypes[f.Problem], "message": string(f.Problem)}}}}
		},
		Quota: func(h http.Header) bool {
			at, own := now(), http.Header{}
			allowed := quota.Spend(at, own)
			h.Set("Fitbit-Rate-Limit-Limit", own.Get("X-RateLimit-Limit"))
			h.Set("Fitbit-Rate-Limit-Remaining", own.Get("X-RateLimit-Remaining"))
			h.Set("Fitbit-Rate-Limit-Reset", fmt.Sprint(int(at.Truncate(time.Hour).Add(time.Hour).Sub(at).Seconds())+1))
			return allowed
		},
		Truth: func(add rest.AddTruth) { add("profile", "GGNJL9", profile, false) }})
	s.Handle("GET /1/user/-/profile.json", "profile", func(*http.Request) rest.Answer {
		return rest.OK(rest.Object{"user": profile})
	})
	s.Operations = map[string]func() string{}
	list := func(stream, route, scope, items string, longest int, fill func(row *rest.Row, day string)) {
		fresh := func(row *rest.Row) { fill(row, row.At.Format(time.DateOnly)) }
		recent := func(row *rest.Row) bool { return row.At.After(today.AddDate(0, 0, -20)) }
		count := cfg.Days
		if stream == "days" {
			count *= len(Metrics)
		}
		s.Open(&rest.Collection{Stream: stream, Count: count, New: func(row *rest.Row) {
			row.At = today.AddDate(0, 0, row.N*cfg.Days/count+1-cfg.Days).Add(7 * time.Hour)
			if row.N >= count { // synced late
				row.At = today.AddDate(0, 0, -row.N%9-2).Add(time.Duration(row.N) * time.Minute)
			}
			fresh(row)
			switch id := row.Data["logId"]; {
			case id != nil:
				row.ID = fmt.Sprint(id)
			case stream == "days":
				row.ID = row.Data["metric"].(string) + ":" + row.At.Format(time.DateOnly)
			default:
				row.ID = row.At.Format(time.DateOnly)
			}
		}})
		s.Operations["change_"+stream] = s.EditRow(stream, recent, fresh)
		s.Operations["delete_"+stream] = func() string { return s.Delete(stream, recent) }
		if longest == 0 {
			return
		}
		s.Handle("GET "+route+"/date/{from}/{file}", scope, func(r *http.Request) rest.Answer {
			from, err := time.Parse(time.DateOnly, r.PathValue("from"))
			until, err2 := time.Parse(time.DateOnly+".json", r.PathValue("file"))
			if err != nil || err2 != nil || until.Sub(from) >= time.Duration(longest)*24*time.Hour {
				return s.Refuse(r, rest.BadParameter, "end-date")
			}
			rows := rest.Filter(s.Live(stream), func(row *rest.Row) bool {
				of := r.PathValue("metric") == "" || r.PathValue("metric") == row.Data["metric"]
				return of && !row.At.Before(from) && row.At.Before(until.Add(24*time.Hour))
			})
			shown := rest.Show(rows, func(row *rest.Row) rest.Object { return row.Data })
			if stream == "days" && until.After(today) {
				shown = append(shown, rest.Object{"dateTime": until.Format(time.DateOnly), "value": "0"})
			}
			body := rest.Object{strings.Replace(items, "{metric}", r.PathValue("metric"), 1): shown}
			return rest.OK(body)
		})
	}
	series := "/1/user/-/activities/"
	list("days", series+"{metric}", "activity", "activities-{metric}", 1095, func(row *rest.Row, day string) {
		row.Data = rest.Object{"dateTime": day, "metric": Metrics[row.N%len(Metrics)],
			"value": fmt.Sprint(row.N%40 + row.Version)}
	})
	list("heart_rate", series+"heart", "heartrate", "activities-heart", 365, func(row *rest.Row, day string) {
		value := rest.Object{"customHeartRateZones": []any{}, "heartRateZones": []rest.Object{{"name": "Cardio",
			"caloriesOut": 1.5, "max": 156, "min": 120, "minutes": row.N}}}
		if row.N%3 > 0 {
			value["restingHeartRate"] = 60 + row.N%9 + row.Version
		}
		row.Data = rest.Object{"dateTime": day, "value": value}
	})
	list("sleep", "/1.2/user/-/sleep", "sleep", "sleep", 100, func(row *rest.Row, day string) {
		row.Data = rest.Object{"logId": 26013218219 + int64(row.N), "dateOfSleep": day, "startTime": day + "T00:10:30.000",
			"endTime": day + "T07:00:00.000", "duration": 24600000, "efficiency": 92, "minutesAsleep": 380 + row.Version,
			"minutesAwake": 30, "minutesToFallAsleep": 0, "minutesAfterWakeup": 1, "timeInBed": 410, "isMainSleep": row.N%4 > 0,
			"type": "stages", "infoCode": 0, "levels": rest.Object{"summary": rest.Object{"deep": rest.Object{"count": 3,
				"minutes": 80}}, "data": []rest.Object{{"dateTime": day + "T00:10:30.000", "level": "wake", "seconds": 30}}}}
	})
	list("weight", "/1/user/-/body/log/weight", "weight", "weight", 31, func(row *rest.Row, day string) {
		row.Data = rest.Object{"logId": 1330991999000 + int64(row.N), "date": day, "time": "23:59:59", "bmi": 23.57,
			"weight": 73.5 + float64(row.Version), "source": "API"}
		if row.N%2 == 0 {
			row.Data["fat"] = 14.5
		}
	})
	list("workouts", "", "", "", 0, func(row *rest.Row, _ string) {
		row.Data = rest.Object{"logId": 19018673358 + int64(row.N), "activityName": "Walk", "activityTypeId": 90013,
			"startTime": row.At.Format("2006-01-02T15:04:05.000Z07:00"), "duration": 1536000, "activeDuration": 1536000,
			"calories": 204 + row.Version, "steps": 1799, "logType": "auto_detected", "lastModified": stamp,
			"activityLevel": []rest.Object{{"minutes": 0, "name": "sedentary"}}}
		if row.N%2 == 0 {
			row.Data["distance"], row.Data["distanceUnit"], row.Data["averageHeartRate"] = 2.5, "Kilometer", 113
			row.Data["speed"], row.Data["elevationGain"] = 5.25, 6.5
		}
	})
	pager := rest.Pager{Style: rest.Offset, Place: "offset", Size: "limit", Most: 100, Cap: cfg.MaxPage,
		Items: "activities", Next: "pagination.next", End: "", Address: true}
	s.Handle("GET /1/user/-/activities/list.json", "activity", func(r *http.Request) rest.Answer {
		after := r.URL.Query().Get("afterDate")
		if after == "" || r.URL.Query().Get("sort") != "asc" {
			return s.Refuse(r, rest.BadParameter, "afterDate")
		}
		return rest.ListRows(s, r, pager, rest.SortByTime(s.Live("workouts"), true),
			func(row *rest.Row) bool { return row.At.Format(time.DateOnly) > after },
			func(row *rest.Row) rest.Object { return row.Data })
	})
	return s
}

const stamp = "2024-06-03T16:20:00.000Z"
