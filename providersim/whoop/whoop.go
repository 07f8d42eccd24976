// Package whoop simulates the parts of WHOOP's API v2 that a person's own records are read from.
//
// Written from WHOOP's OpenAPI document of API v2 (a public copy of July 2026) and its pages "OAuth 2.0" and "API Rate
// Limiting" (read in excerpts in November 2026).
//
//   - Lists have 10 records, 25 at most, the latest first, and a next_token, which the last page lacks.
//   - start and end select the records that overlap that time. A recovery is found by the time of its sleep.
//   - Measurements are in score, which a record has only if score_state is SCORED. The present cycle has no end.
//   - 100 requests in a minute. The X-RateLimit headers are not simulated.
//
// Not in the excerpts, and chosen here: the body of errors; 403 for a missing scope.
package whoop

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Streams of the ground truth.
const (
	StreamProfile  = "profile"
	StreamBody     = "body"
	StreamCycles   = "cycles"
	StreamSleep    = "sleep"
	StreamRecovery = "recovery"
	StreamWorkouts = "workouts"
)

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed    uint64
	Days    int // of data, up to today
	MaxPage int // largest page
	Rate    int // requests in a minute (100)
	Token   string
	Now     func() time.Time // clock of the data and of the Date header; nil means the wall clock
}

// recentDays is for how long records change.
const recentDays = 20

var (
	profile = rest.Object{"user_id": 10129, "email": "o@example.org", "first_name": "Ottilie", "last_name": "Ångström"}
	body    = rest.Object{"height_meter": 1.71, "weight_kilogram": 66.25, "max_heart_rate": 188}
)

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Now: cfg.Now,
		Scopes: []string{"read:profile", "read:body_measurement", "read:cycles", "read:recovery", "read:sleep",
			"read:workout"},
		Limit: rest.Limit{Rate: cmp.Or(cfg.Rate, 100), Window: time.Minute},
		Truth: func(add rest.AddTruth) {
			add(StreamProfile, "10129", profile, false)
			add(StreamBody, "10129", body, false)
		}})
	s.Operations = map[string]func() string{}
	s.Handle("GET /developer/v2/user/profile/basic", "read:profile",
		func(*http.Request) rest.Answer { return rest.OK(profile) })
	s.Handle("GET /developer/v2/user/measurement/body", "read:body_measurement",
		func(*http.Request) rest.Answer { return rest.OK(body) })
	list := func(stream, path, scope string, hours float64, fill func(row *rest.Row)) {
		span := time.Duration(hours * float64(time.Hour))
		s.Open(&rest.Collection{Stream: stream, Count: cfg.Days, Route: "GET /developer/v2/" + path, Scope: scope,
			Pager: rest.Pager{Style: rest.Token, Place: "nextToken", Size: "limit", Usual: 10, Most: 25, Exact: true,
				Cap: cfg.MaxPage, Items: "records", Next: "next_token", Omit: true},
			Order: func(a, b *rest.Row) int { return b.At.Compare(a.At) },
			Fits: func(r *http.Request, row *rest.Row) bool {
				from, until := bound(r, "start", time.Time{}), bound(r, "end", s.Now())
				return row.At.Before(until) && !row.At.Add(span).Before(from)
			},
			New: func(row *rest.Row) {
				row.At = s.Now().UTC().Truncate(time.Second).AddDate(0, 0, row.N-cfg.Days).Add(774 * time.Millisecond)
				if row.N >= cfg.Days { // a strap was read late
					row.At = row.At.AddDate(0, 0, cfg.Days-row.N-1-row.N%recentDays).Add(time.Duration(row.N) * time.Minute)
				}
				row.Data = rest.Object{"user_id": 10129, "created_at": stamp(row.At.Add(span)),
					"updated_at": stamp(row.At.Add(span + time.Hour)), "start": stamp(row.At), "end": stamp(row.At.Add(span)),
					"timezone_offset": "-05:00", "score_state": "SCORED"}
				fill(row)
				if row.N%6 == 4 {
					row.Data["score_state"] = "PENDING_SCORE"
					delete(row.Data, "score")
				}
			}})
		recent := func(row *rest.Row) bool { return row.At.After(s.Now().AddDate(0, 0, -recentDays)) }
		s.Operations["rescore_"+stream] = s.EditRow(stream, recent, func(row *rest.Row) {
			row.Version += 100
			fill(row)
			row.Data["score_state"], row.Data["updated_at"] = "SCORED", stamp(s.Now())
		})
		s.Operations["delete_"+stream] = func() string { return s.Delete(stream, recent) }
	}
	list(StreamCycles, "cycle", "read:cycles", 23.5, func(c *rest.Row) {
		c.Data["id"], c.Data["score"] = 93845+c.N, rest.Object{"strain": 5.25 + float64(c.Version), "kilojoule": 8288.297,
			"average_heart_rate": 68 + c.N%9, "max_heart_rate": 141}
		if c.N == cfg.Days-1 {
			delete(c.Data, "end")
		}
	})
	list(StreamSleep, "activity/sleep", "read:sleep", 8, fillSleep)
	list(StreamRecovery, "recovery", "read:recovery", 8, func(r *rest.Row) {
		r.Data = rest.Members(r.Data, "user_id", "created_at", "updated_at", "score_state")
		r.ID, r.Data["cycle_id"], r.Data["sleep_id"] = fmt.Sprint(93845+r.N), 93845+r.N, rest.UUID(4000+r.N)
		score := measured(44.5+float64(r.Version%50), "recovery_score resting_heart_rate hrv_rmssd_milli")
		score["user_calibrating"] = r.N == 0
		if r.N%2 == 1 {
			maps.Copy(score, measured(33.75, "skin_temp_celsius spo2_percentage"))
		}
		r.Data["score"] = score
	})
	list(StreamWorkouts, "activity/workout", "read:workout", 1.25, func(w *rest.Row) {
		score := measured(8.5+float64(w.Version), "strain kilojoule percent_recorded")
		score["average_heart_rate"], score["max_heart_rate"] = 123, 146
		score["zone_durations"] = measured(0, "zone_five_milli zone_four_milli zone_three_milli zone_two_milli "+
			"zone_one_milli zone_zero_milli")
		if w.N%3 == 1 {
			maps.Copy(score, measured(-0.75, "altitude_change_meter altitude_gain_meter distance_meter"))
		}
		w.Data["id"], w.Data["sport_name"], w.Data["score"] = rest.UUID(8000+w.N), "running", score
	})
	return s
}

func fillSleep(n *rest.Row) {
	n.Data["id"], n.Data["cycle_id"], n.Data["nap"] = rest.UUID(4000+n.N), 93845+n.N, n.N%7 == 3
	score := measured(90.25, "respiratory_rate sleep_efficiency_percentage sleep_performance_percentage")
	if n.N > 0 {
		score["sleep_consistency_percentage"] = 90.5
	}
	score["stage_summary"] = measured(30272735+n.Version, "total_in_bed_time_milli total_awake_time_milli "+
		"total_no_data_time_milli total_light_sleep_time_milli total_slow_wave_sleep_time_milli "+
		"total_rem_sleep_time_milli sleep_cycle_count disturbance_count")
	score["sleep_needed"] = measured(-2, "need_from_recent_nap_milli baseline_milli need_from_sleep_debt_milli "+
		"need_from_recent_strain_milli")
	n.Data["score"] = score
}

// measured returns an object of numbers.
func measured[T int | float64](first T, names string) rest.Object {
	out := rest.Object{}
	for name := range strings.FieldsSeq(names) {
		out[name] = first
		first++
	}
	return out
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

func bound(r *http.Request, name string, usual time.Time) time.Time {
	if at, err := time.Parse(time.RFC3339, r.URL.Query().Get(name)); err == nil {
		return at
	}
	return usual
}
