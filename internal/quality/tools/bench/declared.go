package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/source"
)

//go:embed declared.yaml
var declaredFile []byte

// ridePages is the number of pages of a round. The pace of the first requests matters little for large pages.
const ridePages = 10

// declaredRides is the source of declared.yaml in Go.
var declaredRides = rest.Source{BaseURL: "https://rides.example/v1", Streams: []rest.Stream{{
	Name: "rides", Request: rest.Request{Path: "rides"}, Items: "rides",
	Pages: rest.NextToken{Param: "page", Member: "next"},
	Fields: rest.Fields{"id": rest.NumberText("id"), "start_date": rest.From("start_date").Time(),
		"distance_m": rest.From("distance")},
	Admit: func(item rest.Item) bool { return !item.Is(rest.Match{Path: "hidden"}) },
}}}

// measureDeclared compares a source that is a file with the same source in Go, by the processor time of a record from
// the bytes of an answer to the line of the protocol.
func measureDeclared(ctx context.Context, c config, _ string, r *report) error {
	d, err := declarative.DescribeFile(declaredFile, describe.Options{Key: "rides"})
	if err != nil {
		return err
	}
	inFile, err := source.New(d)
	if err != nil {
		return err
	}
	manifestJSON, err := d.Manifest.JSON()
	if err != nil {
		return err
	}
	inGo, err := rest.New(manifestJSON, declaredRides)
	if err != nil {
		return err
	}
	pages := rideAnswers(c.Records / ridePages)
	if err := sameLines(ctx, inFile, inGo, rideAnswers(20)); err != nil {
		return err
	}
	var ours, baseline []float64
	for range c.Rounds + 1 { // the first round warms up
		var rates [2]float64
		for i, connector := range []connectorkit.Connector{inFile, inGo} {
			begin := processorTime()
			if _, err := collectRides(ctx, connector, pages, io.Discard); err != nil {
				return err
			}
			rates[i] = float64(c.Records/ridePages*ridePages) / (processorTime() - begin).Seconds()
		}
		ours, baseline = append(ours, rates[0]), append(baseline, rates[1])
	}
	r.compare("declared source, against the same in Go", ours[1:], baseline[1:], 0.9)
	return nil
}

// sameLines returns an error if two connectors do not send the same records.
func sameLines(ctx context.Context, a, b connectorkit.Connector, pages rideAnswer) error {
	var first, second bytes.Buffer
	for c, out := range map[*connectorkit.Connector]*bytes.Buffer{&a: &first, &b: &second} {
		if _, err := collectRides(ctx, *c, pages, out); err != nil {
			return err
		}
	}
	if x, y := recordLines(first.String()), recordLines(second.String()); x != y || x == "" {
		return fmt.Errorf("the records differ:\n%.600s\n%.600s", x, y)
	}
	return nil
}

// recordLines returns the records with their members in order.
func recordLines(lines string) string {
	var out strings.Builder
	for line := range strings.Lines(lines) {
		var m struct {
			Type string         `json:"type"`
			Data jsontext.Value `json:"data"`
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.Type == "RECORD" && m.Data.Canonicalize() == nil {
			out.Write(append(m.Data, '\n'))
		}
	}
	return out.String()
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rideAnswer is a provider with answers by page.
type rideAnswer map[string][]byte

func (a rideAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(bytes.NewReader(a[r.URL.Query().Get("page")]))}, nil
}

// rideAnswers returns pages of n rides each.
func rideAnswers(n int) rideAnswer {
	out := rideAnswer{}
	for p := range ridePages {
		b := []byte(`{"rides":[`)
		for i := range n {
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `{"id":%d,"name":"Morning Ride %d","start_date":"2018-05-02T12:15:09Z","moving_time":4500,`+
				`"kudos_count":%d,"start_latlng":[37.83,-122.26],"manual":false,"gear_id":"b12345678987654321",`+
				`"polyline":"%s","hidden":false,"distance":24931.4}`,
				12345678987654321+p*n+i, i, i, strings.Repeat("ki{eFvqfiVsBmA`Feh@qg@iX", 12))
		}
		name, next := "", "null"
		if p > 0 {
			name = fmt.Sprintf("p%d", p)
		}
		if p < ridePages-1 {
			next = fmt.Sprintf(`"p%d"`, p+1)
		}
		out[name] = fmt.Appendf(b, `],"next":%s}`, next)
	}
	return out
}

// collectRides makes one run.
func collectRides(ctx context.Context, c connectorkit.Connector, pages rideAnswer, out io.Writer) (string, error) {
	start := `{"type":"START","run_id":"r","collection_mode":"incremental","scope":{"streams":[{"name":"rides"}]},` +
		`"state":null,"bindings":{"network":{}},"detail_gaps":[]}` + "\n"
	stdin, w := io.Pipe()
	defer w.Close()
	var log bytes.Buffer
	if code := connectorkit.Run(ctx, c, connectorkit.Process{Stdin: io.MultiReader(strings.NewReader(start), stdin),
		Stdout: out, Stderr: &log, Env: func(string) string { return "" }, Now: time.Now, Transport: pages}); code != 0 {
		return "", errors.New(log.String())
	}
	return log.String(), nil
}
