package source_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/source"
)

// today is when the runs of these tests begin.
var today = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// page is an answer of the invented provider.
type page struct {
	status int // zero means 200
	header http.Header
	body   string
}

// provider answers by method, address and body. It knows nothing else, so a wrong request fails the run.
type provider struct {
	mu       sync.Mutex
	pages    map[string]page
	requests []string
	all      []string // repeated ones too
	times    []time.Time
	delay    time.Duration // of each answer
	flying   int           // requests at the same time
	most     int
}

// count returns how often a request was sent.
func (p *provider) count(request string) (n int) {
	for _, name := range p.all {
		if name == request {
			n++
		}
	}
	return n
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	name := r.Method + " " + strings.TrimPrefix(r.URL.String(), "https://shop.example")
	if r.Body != nil {
		if body, err := io.ReadAll(r.Body); err == nil && len(body) > 0 {
			name += " " + string(body)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times, p.all = append(p.times, time.Now()), append(p.all, name)
	if !slices.Contains(p.requests, name) {
		p.requests = append(p.requests, name)
	}
	if p.delay > 0 {
		p.flying++
		p.most = max(p.most, p.flying)
		p.mu.Unlock()
		<-time.After(p.delay)
		p.mu.Lock()
		p.flying--
	}
	a, known := p.pages[name]
	if !known && len(p.requests) < 50 {
		a, known = p.pages["any"]
	}
	if !known {
		a = page{status: http.StatusBadRequest, body: "{}"}
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	return &http.Response{StatusCode: a.status, Header: a.header, Request: r,
		Body: io.NopCloser(strings.NewReader(strings.ReplaceAll(a.body, "AUTHORIZATION",
			r.Header.Get("Authorization"))))}, nil
}

// outcome is what a run did.
type outcome struct {
	requests []string
	times    []time.Time // of all requests
	records  []string
	status   string
	lines    string // of the protocol
	log      string
}

// play runs the only stream of a source file against fixed pages. Settings are variables without their prefix.
func play(t *testing.T, file string, settings map[string]string, pages map[string]page) (out outcome) {
	t.Helper()
	d, err := declarative.DescribeFile([]byte(file), describe.Options{Key: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Streams) == 0 {
		t.Fatalf("no stream can run: %+v", d.Disabled)
	}
	c, err := source.New(d)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { out = runConnector(t, c, d.Streams[0].ID, settings, &provider{pages: pages}) })
	return out
}

func runConnector(t *testing.T, c connectorkit.Connector, stream string, settings map[string]string,
	p *provider) outcome {
	t.Helper()
	start := `{"type":"START","run_id":"r","collection_mode":"incremental","scope":{"streams":[{"name":"` + stream +
		`"}]},"state":null,"bindings":{"network":{}},"detail_gaps":[]}` + "\n"
	stdin, w := io.Pipe()
	began := time.Now()
	var lines, log bytes.Buffer
	connectorkit.Run(t.Context(), c, connectorkit.Process{Stdin: io.MultiReader(strings.NewReader(start), stdin),
		Stdout: &lines, Stderr: &log, Transport: p,
		Env: func(name string) string { return settings[strings.TrimPrefix(name, "PDPP_SHOP_")] },
		Now: func() time.Time { return today.Add(time.Since(began)) }})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := outcome{requests: p.requests, times: p.times, lines: lines.String(), log: log.String()}
	for line := range strings.Lines(lines.String()) {
		var m struct {
			Type   string         `json:"type"`
			Status string         `json:"status"`
			Data   jsontext.Value `json:"data"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		switch m.Type {
		case "RECORD":
			out.records = append(out.records, string(m.Data))
		case "DONE":
			out.status = m.Status
		}
	}
	return out
}

// fileOf is a source file with one stream of things, with further members of its retriever and of itself. The path may
// be a whole address.
func fileOf(path, retriever, stream string) string {
	address := "url_base: https://shop.example\n        path: " + path
	if strings.HasPrefix(path, "https://") {
		address = "url: " + path
	}
	return `version: 1.0.0
type: DeclarativeSource
check: {type: CheckStream, stream_names: [things]}
streams:
  - type: DeclarativeStream
    name: things
    primary_key: id
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        ` + address + `
      record_selector:
        type: RecordSelector
        extractor: {type: DpathExtractor, field_path: []}
` + indent(retriever, 6) + indent(stream, 4) + `    schema_loader:
      type: InlineSchemaLoader
      schema: {type: object, properties: {id: {type: string}, at: {type: string}}}
spec:
  type: Spec
  connection_specification:
    type: object
    properties:
      colours: {type: array}
      word: {type: string}
`
}

func indent(text string, n int) string {
	var out strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		out.WriteString(strings.Repeat(" ", n) + strings.TrimRight(line, "\n") + "\n")
	}
	if text == "" {
		return ""
	}
	return out.String()
}
