// Package withings collects a person's measurements, days, nights and workouts from Withings.
//
//	manifest.json   what it declares: streams, schemas, the sign-in
//	withings.go     where the records are, and how Withings refuses
package withings

import (
	"context"
	_ "embed"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Withings connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

var source = rest.Source{
	BaseURL:     "https://wbsapi.withings.net",
	Auth:        rest.AccessToken("WITHINGS_ACCESS_TOKEN"),
	QuotaOf:     []string{"WITHINGS_CLIENT_ID"},
	LimitWindow: time.Minute,
	// Withings refuses with the status 200 and a status of its own in the body.
	Errors: []rest.ErrorRule{
		refusal(connectorkit.RateLimited, "", "601"),
		refusal(connectorkit.Unauthorized, "", "100", "101", "102", "200", "401"),
		refusal(connectorkit.Forbidden, "Withings does not allow access to this part. Sign in again, and leave all ticked.",
			"214", "277", "2553", "2555"),
		refusal(connectorkit.Unavailable, "", "522"),
	},
	Streams: []rest.Stream{
		actionList("devices", "v2/user", "getdevice", "devices", rest.Fields{"id": rest.From("deviceid")},
			moments("first_session_at", "first_session_date")),
		measurements(),
		windows("steps,distance,elevation,soft,moderate,intense,active,calories,totalcalories,hr_average,hr_min,hr_max,"+
			"hr_zone_0,hr_zone_1,hr_zone_2,hr_zone_3",
			actionList("activity", "v2/measure", "getactivity", "activities", rest.Fields{
				"id":   rest.Joined(":", rest.From("date"), rest.From("deviceid", "hash_deviceid").OrElse(`"phone"`)),
				"date": rest.From("date").Day(), "device_id": rest.From("deviceid", "hash_deviceid")},
				moments("modified_at", "modified"))),
		windows("total_timeinbed,total_sleep_time,asleepduration,lightsleepduration,remsleepduration,deepsleepduration,"+
			"sleep_efficiency,sleep_latency,wakeup_latency,wakeupduration,wakeupcount,waso,nb_rem_episodes,out_of_bed_count,"+
			"hr_average,hr_min,hr_max,rr_average,rr_min,rr_max,breathing_disturbances_intensity,snoring,"+
			"snoringepisodecount,sleep_score,apnea_hypopnea_index",
			actionList("sleep", "v2/sleep", "getsummary", "series", rest.Fields{"id": rest.NumberText("id"),
				"sleep_score": rest.From("data.sleep_score"), "total_sleep_time": rest.From("data.total_sleep_time")},
				moments("start_at", "startdate", "end_at", "enddate", "created_at", "created", "modified_at",
					"modified"))),
		windows("calories,intensity,manual_distance,manual_calories,hr_average,hr_min,hr_max,hr_zone_0,hr_zone_1,hr_zone_2,"+
			"hr_zone_3,pause_duration,spo2_average,steps,distance,elevation,pool_laps,strokes,pool_length",
			actionList("workouts", "v2/measure", "getworkouts", "series", rest.Fields{"id": rest.NumberText("id"),
				"calories": rest.From("data.calories"), "device_id": rest.From("deviceid", "hash_deviceid")},
				moments("start_at", "startdate", "end_at", "enddate", "modified_at", "modified"))),
	},
}

// refusal is a rule for statuses in the body of an answer.
func refusal(class connectorkit.Class, message string, statuses ...string) rest.ErrorRule {
	return rest.ErrorRule{Status: rest.AnyStatus, Member: "status", Values: statuses, Class: class, Message: message}
}

// actionList is a list of an action. An answer that refuses for another reason has none.
func actionList(stream, path, action, member string, fields ...rest.Fields) rest.Stream {
	s := rest.Stream{Name: stream, Items: "body." + member, OmitEmpty: true, Fields: rest.Fields{},
		Request: rest.Request{Method: http.MethodPost, Path: path, Query: url.Values{"action": {action}},
			Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}},
		Pages: rest.NextToken{Param: "offset", Member: "body.offset", More: "body.more"},
		Prepare: func(_ context.Context, _ *rest.Run, _ rest.Ask, q *governhttp.Request) error {
			q.Body, q.Query = []byte(q.Query.Encode()), nil
			return nil
		}}
	for _, some := range fields {
		maps.Copy(s.Fields, some)
	}
	return s
}

// moments are times that Withings writes as seconds: names, each with its path.
func moments(names ...string) rest.Fields {
	fields := rest.Fields{}
	for pair := range slices.Chunk(names, 2) {
		fields[pair[0]] = rest.From(pair[1]).UnixTime()
	}
	return fields
}

// windows reads a list by the days of its records. Devices sync late, and Withings computes again.
func windows(members string, s rest.Stream) rest.Stream {
	s.Query.Set("data_fields", members)
	s.Sync = rest.DateWindows{From: "startdateymd", To: "enddateymd", Since: "2009-01-01",
		SinceVariable: "PDPP_WITHINGS_FIRST_DAY", Days: 360, Again: 30}
	return s
}

// measurements are the elements of groups, which were taken at the same time. A person can change any of them, so every
// run reads all.
func measurements() rest.Stream {
	s := actionList("measurements", "measure", "getmeas", "", rest.Fields{"id": rest.Computed(measureID),
		"value": rest.Computed(valueOf), "kind": rest.From("measure.type").Translated(kinds),
		"unit": rest.From("measure.type").Translated(units), "type": rest.From("measure.type"),
		"position": rest.From("measure.position"), "group_id": rest.NumberText("group.grpid"),
		"attrib": rest.From("group.attrib"), "device_id": rest.From("group.deviceid", "group.hash_deviceid"),
		"model": rest.From("group.model")},
		moments("measured_at", "group.date", "created_at", "group.created", "modified_at", "group.modified"))
	s.Query.Set("category", "1") // 2 are goals
	s.Select = func(a *rest.Answer) (out []jsontext.Value, err error) {
		groups, err := rest.FirstList("body.measuregrps")(a)
		for _, group := range groups {
			var elements []jsontext.Value
			if err := json.Unmarshal(rest.Item{Raw: group}.Member("measures"), &elements); err != nil {
				return nil, connectorkit.Fail(connectorkit.Malformed, err)
			}
			for _, raw := range elements {
				out = append(out, slices.Concat([]byte(`{"group":`), group, []byte(`,"measure":`), raw, []byte("}")))
			}
		}
		return out, err
	}
	return s
}

// measureID identifies a measurement: its group, its kind and, for a part of the body, that part.
func measureID(item rest.Item) (jsontext.Value, error) {
	id := item.Text("group.grpid") + ":" + item.Text("measure.type")
	if position := item.Text("measure.position"); position != "" {
		id += ":" + position
	}
	return jsontext.AppendQuote(nil, id)
}

// valueOf returns the number that a whole number and a power of ten are.
func valueOf(item rest.Item) (jsontext.Value, error) {
	n, err := strconv.ParseFloat(item.Text("measure.value")+"e"+item.Text("measure.unit"), 64)
	if err != nil {
		return nil, err
	}
	return strconv.AppendFloat(nil, n, 'f', -1, 64), nil
}

// kinds and units are those of Withings's numbers. Another number has none.
var kinds, units = map[string]string{}, map[string]string{}

func init() {
	for line := range strings.Lines(numbers) {
		if word := strings.Fields(line); len(word) > 1 {
			kinds[word[0]] = word[1]
			if len(word) > 2 {
				units[word[0]] = word[2]
			}
		}
	}
}

const numbers = `1 weight kg
4 height m
5 fat_free_mass kg
6 fat_ratio %
8 fat_mass kg
9 diastolic_blood_pressure mmHg
10 systolic_blood_pressure mmHg
11 heart_rate bpm
12 temperature °C
54 spo2 %
71 body_temperature °C
73 skin_temperature °C
76 muscle_mass kg
77 hydration kg
88 bone_mass kg
91 pulse_wave_velocity m/s
123 vo2_max ml/min/kg
130 atrial_fibrillation
135 qrs_interval
136 pr_interval
137 qt_interval
138 corrected_qt_interval
139 atrial_fibrillation_ppg
155 vascular_age
168 extracellular_water kg
169 intracellular_water kg
170 visceral_fat
173 segment_fat_free_mass
174 segment_fat_mass kg
175 segment_muscle_mass
226 basal_metabolic_rate
227 metabolic_age
`
