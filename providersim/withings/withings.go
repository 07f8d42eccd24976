// Package withings simulates the parts of Withings's API that a person's own records are read from.
//
// Written from Withings's OpenAPI document (a public copy of July 2026).
//
//   - Every request is a POST with a form. The parameter action is what is asked for.
//   - An answer has the status 200, a status and a body. The status in the answer is 0, or a number of the refusal.
//   - An answer has offset and more. getmeas has more as a number, the others as a boolean.
//   - A measure is a whole number and a power of ten. Days and nights have only the members that data_fields names.
//
// Not in the document, and chosen here: the sizes of pages; the order; the numbers of refusals other than 401 and 601;
// that a day has one record for each device.
package withings

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Config sets what the simulated account holds.
type Config struct {
	Seed    uint64
	Days    int // of data, up to today
	MaxPage int // largest page
	Token   string
	Now     func() time.Time // clock of the data and of the Date header; nil means the wall clock
}

// statuses are the numbers of refusals, which are 503 for the others.
var statuses = map[rest.Problem]int{rest.RateLimited: 601, rest.ExpiredToken: 401, rest.NoToken: 401,
	rest.BadToken: 401, rest.NoScope: 2553, rest.Unavailable: 522, rest.Internal: 522}

// New returns an account generated from cfg.
func New(cfg Config) *rest.Service {
	s := rest.New(rest.Options{Seed: cfg.Seed, Token: cfg.Token, Now: cfg.Now,
		Scopes: []string{"user.info", "user.metrics", "user.activity"},
		Limit:  rest.Limit{Rate: 1 << 20, Window: time.Minute},
		Errors: func(f rest.Refusal) rest.Answer {
			status, known := statuses[f.Problem]
			if !known {
				status = 503
			}
			return rest.OK(rest.Object{"status": status, "body": rest.Object{}, "error": string(f.Problem)})
		}})
	s.Operations = map[string]func() string{}
	actions := map[string]func(r *http.Request) rest.Answer{}
	serve := func(path, scope string) {
		s.Handle("POST /"+path, scope, func(r *http.Request) rest.Answer {
			if act := actions[path+" "+r.PostFormValue("action")]; act != nil {
				return act(r)
			}
			return s.Refuse(r, rest.BadParameter, "action")
		})
	}
	serve("measure", "user.metrics")
	serve("v2/measure", "user.activity")
	serve("v2/sleep", "user.activity")
	serve("v2/user", "user.info")
	list := func(stream, path, action, member string, count int, fill func(row *rest.Row)) {
		recent := func(row *rest.Row) bool { return row.At.After(s.Now().AddDate(0, 0, -20)) }
		s.Open(&rest.Collection{Stream: stream, Count: count, New: func(row *rest.Row) {
			n := row.N
			if stream == "measurements" {
				n -= n % 2 // those of a group are taken at the same time
			}
			days := count - n
			if n >= count { // synced late
				days = 1 + n%15
			}
			row.At = s.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -days).Add(time.Duration(n%600) * time.Minute)
			row.Data = rest.Object{"id": 300 + s.NextID(), "timezone": "Europe/Paris", "date": row.At.Format(time.DateOnly),
				"startdate": row.At.Unix(), "enddate": row.At.Add(time.Hour).Unix(), "created": row.At.Unix() + 7,
				"modified": row.At.Unix() + 9, "deviceid": "d1", "hash_deviceid": "h1"}
			fill(row)
		}})
		s.Operations["change_"+stream] = s.EditRow(stream, recent, func(row *rest.Row) {
			row.Version += 10
			fill(row)
			if stream != "measurements" { // the group has it
				row.Data["modified"] = s.Now().Unix()
			}
		})
		s.Operations["delete_"+stream] = func() string { return s.Delete(stream, recent) }
		pager := rest.Pager{Style: rest.Offset, Place: "offset", Usual: cfg.MaxPage, Items: "body." + member,
			Extend: func(_ *http.Request, p rest.Page, body rest.Object) {
				body["status"], body["body"].(rest.Object)["offset"] = 0, 0
				if p.More {
					body["body"].(rest.Object)["offset"] = p.Offset + len(p.Rows)
				}
				body["body"].(rest.Object)["more"] = p.More
				if stream == "measurements" {
					body["body"].(rest.Object)["more"] = map[bool]int{true: 1}[p.More]
				}
			}}
		actions[path+" "+action] = func(r *http.Request) rest.Answer {
			from, until := r.PostFormValue("startdateymd"), r.PostFormValue("enddateymd")
			asked := strings.Split(r.PostFormValue("data_fields"), ",")
			group := func(row *rest.Row) any { return row.Data["grpid"] }
			rows := s.Live(stream)
			if stream == "measurements" {
				rows = slices.CompactFunc(rows, func(a, b *rest.Row) bool { return group(a) == group(b) })
			}
			return rest.Serve(s, r, pager, rest.List[*rest.Row]{All: rows, Params: r.PostForm, Of: stream + from + until,
				Keep: func(row *rest.Row) bool {
					day := row.At.Format(time.DateOnly)
					return from == "" || from <= day && day <= until
				},
				Show: func(row *rest.Row) rest.Object {
					shown := maps.Clone(row.Data)
					if inner, has := shown["data"].(rest.Object); has {
						shown["data"] = named(inner, asked)
					}
					if stream == "measurements" {
						of := rest.Filter(s.Live(stream), func(x *rest.Row) bool { return group(x) == group(row) })
						shown = rest.Members(shown, "grpid", "attrib", "date", "created", "modified", "deviceid", "model")
						shown["measures"] = rest.Show(of, func(x *rest.Row) rest.Object { return x.Data["measure"].(rest.Object) })
					}
					if stream == "activity" {
						shown = named(shown, append(asked, "date", "timezone", "deviceid", "hash_deviceid", "modified",
							"is_tracker", "brand"))
					}
					return shown
				}})
		}
	}
	list("devices", "v2/user", "getdevice", "devices", 2, func(row *rest.Row) {
		row.ID = fmt.Sprint("d", row.N)
		row.Data = rest.Object{"type": "Scale", "model": "Body Cardio", "model_id": 6, "battery": "high",
			"deviceid":      row.ID,
			"hash_deviceid": "h", "timezone": "Europe/Paris",
			"first_session_date": row.At.Unix(), "last_session_date": s.Now().Unix()}
	})
	list("measurements", "measure", "getmeas", "measuregrps", cfg.Days, func(row *rest.Row) {
		row.Data["grpid"], row.Data["attrib"], row.Data["model"] = 5000+row.N/2, 0, "Body Cardio"
		row.Data["date"], row.Data["measured_at"] = row.At.Unix(), row.At.Format(time.RFC3339)
		measure := rest.Object{"value": 75123 + row.N + row.Version, "type": []int{1, 6, 174, 999}[row.N%4], "unit": -3}
		row.ID = fmt.Sprint(row.Data["grpid"], ":", measure["type"])
		if measure["type"] == 174 {
			measure["position"] = 3
			row.ID += ":3"
		}
		row.Data["measure"], row.Data["value"] = measure, float64(75123+row.N+row.Version)/1000
	})
	numbers := "distance elevation soft moderate intense active calories totalcalories hr_average hr_min hr_max hr_zone_0"
	list("activity", "v2/measure", "getactivity", "activities", cfg.Days, func(row *rest.Row) {
		maps.Copy(row.Data, measured(row, numbers))
		row.Data["steps"], row.Data["is_tracker"], row.Data["brand"] = 8000+row.N+row.Version, true, 18
		row.Data["deviceid"] = fmt.Sprint("d", row.N)
		if row.N%3 == 0 { // a phone
			row.Data["deviceid"], row.Data["hash_deviceid"], row.Data["is_tracker"] = nil, nil, false
			delete(row.Data, "hr_average")
		}
		row.ID = fmt.Sprint(row.Data["date"], ":", row.Data["deviceid"])
		if row.N%3 == 0 {
			row.ID = fmt.Sprint(row.Data["date"], ":phone")
		}
	})
	list("sleep", "v2/sleep", "getsummary", "series", cfg.Days, func(row *rest.Row) {
		row.Data["model"], row.Data["completed"] = 32, true
		row.Data["data"] = measured(row, "sleep_score total_sleep_time hr_average snoring waso")
	})
	list("workouts", "v2/measure", "getworkouts", "series", cfg.Days, func(row *rest.Row) {
		row.Data["category"], row.Data["attrib"] = 1+row.N%2, 7
		row.Data["data"] = measured(row, "calories steps distance hr_average")
	})
	return s
}

// measured returns an object of numbers.
func measured(row *rest.Row, names string) rest.Object {
	out := rest.Object{}
	for name := range strings.FieldsSeq(names) {
		out[name] = 60 + row.N + row.Version + len(out)
	}
	return out
}

// named returns the named members of an object that has them.
func named(o rest.Object, names []string) rest.Object {
	out := rest.Object{}
	for name, value := range o {
		if slices.Contains(names, name) {
			out[name] = value
		}
	}
	return out
}
