package rest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// wireRide and rideRecord are what a connector writes by hand for the fields of benchSource.
type wireRide struct {
	ID       int64     `json:"id"`
	Name     *string   `json:"name"`
	Start    string    `json:"start_date"`
	Distance *float64  `json:"distance"`
	Moving   *int64    `json:"moving_time"`
	Speed    *float64  `json:"average_speed"`
	Heart    *float64  `json:"average_heartrate"`
	Kudos    *int64    `json:"kudos_count"`
	Point    []float64 `json:"start_latlng"`
	Manual   *bool     `json:"manual"`
	Gear     *string   `json:"gear_id"`
	Map      *struct {
		Line *string `json:"summary_polyline"`
	} `json:"map"`
}

type rideRecord struct {
	ID       string    `json:"id"`
	Name     *string   `json:"name,omitzero"`
	Start    string    `json:"start_date"`
	Distance *float64  `json:"distance_m,omitzero"`
	Moving   *int64    `json:"moving_time_s,omitzero"`
	Speed    *float64  `json:"average_speed_mps,omitzero"`
	Heart    *float64  `json:"average_heartrate,omitzero"`
	Kudos    *int64    `json:"kudos_count,omitzero"`
	Point    []float64 `json:"start_latlng"`
	Manual   *bool     `json:"manual,omitzero"`
	Gear     *string   `json:"gear_id,omitzero"`
	Line     *string   `json:"map_polyline,omitzero"`
}

func readRide(raw jsontext.Value) connectorkit.Record {
	var a wireRide
	err := json.Unmarshal(raw, &a)
	if _, badTime := time.Parse(time.RFC3339, a.Start); err == nil {
		err = badTime
	}
	if err != nil || a.ID == 0 {
		return connectorkit.Unreadable("", err)
	}
	r := rideRecord{ID: strconv.FormatInt(a.ID, 10), Name: a.Name, Start: a.Start, Distance: a.Distance,
		Moving: a.Moving, Speed: a.Speed, Heart: a.Heart, Kudos: a.Kudos, Point: a.Point, Manual: a.Manual, Gear: a.Gear}
	if r.Point == nil {
		r.Point = []float64{}
	}
	if a.Map != nil && a.Map.Line != nil && *a.Map.Line != "" {
		r.Line = a.Map.Line
	}
	return connectorkit.Upsert(r)
}

var rideStream = Stream{Name: "rides", Fields: Fields{
	"id": NumberText("id"), "start_date": From("start_date").Time(), "distance_m": From("distance"),
	"moving_time_s": From("moving_time"), "average_speed_mps": From("average_speed"),
	"start_latlng": From("start_latlng").OrElse("[]"), "map_polyline": From("map.summary_polyline").NonEmpty(),
}}

// ridePage is a page of 200 rides, with members that no record has.
func ridePage() []byte {
	var b bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&b, `,{"resource_state":2,"athlete":{"id":134815,"resource_state":1},"name":"Morning Ride %d",`+
			`"distance":24931.4,"moving_time":4500,"elapsed_time":4500,"total_elevation_gain":0,"type":"Ride",`+
			`"sport_type":"MountainBikeRide","workout_type":null,"id":%d,"external_id":"garmin_push_12345678987654321",`+
			`"upload_id":987654321234567891234,"start_date":"2018-05-02T12:15:09Z","timezone":"(GMT-08:00) Los_Angeles",`+
			`"start_latlng":[37.83,-122.26],"kudos_count":%d,"comment_count":0,"manual":false,"gear_id":"b12345678987654321",`+
			`"from_accepted_tag":false,"average_speed":5.54,"max_speed":11,"average_heartrate":140.3,"has_heartrate":true,`+
			`"map":{"id":"a12345678987654321","summary_polyline":"%s","resource_state":2}}`,
			i, 12345678987654321+i, i, strings.Repeat("ki{eFvqfiVsBmA`Feh@qg@iX", 12))
	}
	return append(append([]byte("["), b.Bytes()[1:]...), ']')
}

const rideManifest = `{"protocol_version":"0.1.0","connector_id":"https://registry.example/rides",
	"connector_key":"rides","version":"1.0.0","display_name":"Rides",
	"runtime_requirements":{"bindings":{"network":{"required":true}}},
	"streams":[{"name":"rides","semantics":"mutable_state","checkpoint":"slice","primary_key":"id",
	"consent_time_field":"start_date","schema":{"type":"object","required":["id","start_date","start_latlng"],
	"properties":{"id":{"type":"string","minLength":1},"name":{"type":"string"},
	"start_date":{"type":"string","format":"date-time"},"distance_m":{"type":"number"},"moving_time_s":{"type":"integer"},
	"average_speed_mps":{"type":"number"},"average_heartrate":{"type":"number"},"kudos_count":{"type":"integer"},
	"start_latlng":{"type":"array","items":{"type":"number"}},"manual":{"type":"boolean"},"gear_id":{"type":"string"},
	"map_polyline":{"type":"string"}}}}]}`

// BenchmarkRecords compares a declared mapping with one that is written by hand, from the bytes of an answer to the
// lines of the protocol.
func BenchmarkRecords(b *testing.B) {
	body := ridePage()
	pages := map[string]func(r *Run) []connectorkit.Record{
		"written": func(*Run) (out []connectorkit.Record) {
			var rows *[]jsontext.Value
			if json.Unmarshal(body, &rows) != nil || rows == nil {
				return nil
			}
			for _, raw := range *rows {
				out = append(out, readRide(raw))
			}
			return out
		},
		"declared": func(r *Run) (out []connectorkit.Record) {
			got, err := rideStream.selectPage(&Answer{Response: &governhttp.Response{Body: body}}, Ask{})
			if err != nil {
				return nil
			}
			rows, _ := r.rows(&rideStream, got.items, Partition{})
			for i := range rows {
				out = append(out, rows[i].record())
			}
			return out
		},
	}
	for _, name := range []string{"written", "declared"} {
		b.Run(name, func(b *testing.B) {
			left := b.N
			var run *Run
			c, err := connectorkit.New([]byte(rideManifest), func(context.Context, *connectorkit.Setup) (
				[]connectorkit.Collector, error) {
				return []connectorkit.Collector{connectorkit.PagedStream{Stream: "rides",
					Page: func(context.Context, connectorkit.Cursor) (connectorkit.Page, error) {
						if err := connectorkit.WholeJSON(&governhttp.Response{Body: body}); err != nil {
							return connectorkit.Page{}, err
						}
						list := pages[name](run)
						list = list[:min(left, len(list))]
						left -= len(list)
						return connectorkit.Page{Records: list, Next: connectorkit.Cursor{"left": fmt.Sprint(left)},
							More: left > 0}, nil
					}}}, nil
			})
			if err != nil {
				b.Fatal(err)
			}
			plans, err := compileStreams(c.Manifest, []Stream{rideStream})
			if err != nil {
				b.Fatal(err)
			}
			run = &Run{plans: plans}
			stdin, w, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			start := `{"type":"START","run_id":"r","collection_mode":"incremental","scope":{"streams":[{"name":"rides"}]},` +
				`"state":null,"bindings":{"network":{}},"detail_gaps":[]}` + "\n"
			b.ReportAllocs()
			b.ResetTimer()
			var log bytes.Buffer
			if exit := connectorkit.Run(b.Context(), c, connectorkit.Process{
				Stdin: io.MultiReader(strings.NewReader(start), stdin), Stdout: io.Discard, Stderr: &log,
				Env: func(string) string { return "" }, Now: time.Now,
			}); exit != 0 {
				b.Fatalf("exit code %d: %s", exit, log.String())
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
