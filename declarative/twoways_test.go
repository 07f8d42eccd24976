package declarative_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectors/readwise"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/source"
	simulated "github.com/pdpp-go/pdpp/providersim/readwise"
)

// listener answers with a simulator and notes the requests.
type listener struct {
	http.Handler
	mu       sync.Mutex
	requests []string
}

func (l *listener) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization"))
	got := httptest.NewRecorder()
	l.ServeHTTP(got, r)
	out := got.Result()
	out.Request = r
	return out, nil
}

// A source in Go and the same source as a file make the same requests and send the same records.
func TestTwoWays(t *testing.T) {
	text, err := os.ReadFile("testdata/readwise.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := declarative.DescribeFile(text, describe.Options{Key: "readwise"})
	if err != nil {
		t.Fatal(err)
	}
	inFile, err := source.New(d)
	if err != nil {
		t.Fatal(err)
	}
	goRequests, goRecords := collectOnce(t, readwise.Connector())
	requests, records := collectOnce(t, inFile)
	if diff := cmp.Diff(goRequests, requests); diff != "" || len(requests) != 8 {
		t.Errorf("requests in Go (-) and in the file (+): %s", diff)
	}
	if diff := cmp.Diff(goRecords, records); diff != "" || len(records) != 31 {
		t.Errorf("%d records, in Go (-) and in the file (+): %s", len(records), diff)
	}
}

// collectOnce makes one run against a new simulator and returns its sorted requests and records.
func collectOnce(t *testing.T, c connectorkit.Connector) (requests, records []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := &listener{Handler: simulated.New(simulated.Config{Seed: 5, Token: token, Books: 7, Highlights: 24,
			MaxPage: 2, Undated: 4, Rate: 1 << 20}).Handler()}
		start := `{"type":"START","run_id":"r","collection_mode":"incremental","scope":{"streams":[{"name":"books"},` +
			`{"name":"highlights"}]},"state":null,"bindings":{"network":{}},"detail_gaps":[]}` + "\n"
		stdin, w := io.Pipe()
		var lines, log bytes.Buffer
		if code := connectorkit.Run(t.Context(), c, connectorkit.Process{
			Stdin: io.MultiReader(strings.NewReader(start), stdin), Stdout: &lines, Stderr: &log, Transport: sim,
			Now: time.Now, Env: func(name string) string {
				return map[string]string{"READWISE_TOKEN": token, "PDPP_READWISE_TOKEN": token}[name]
			}}); code != 0 {
			t.Fatal(log.String())
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		requests = sim.requests
		for line := range strings.Lines(lines.String()) {
			var m struct {
				Type   string         `json:"type"`
				Stream string         `json:"stream"`
				Key    jsontext.Value `json:"key"`
				Data   jsontext.Value `json:"data"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			if m.Type == "RECORD" {
				if err := m.Data.Canonicalize(); err != nil {
					t.Fatal(err)
				}
				records = append(records, m.Stream+" "+string(m.Key)+" "+string(m.Data))
			}
		}
	})
	slices.Sort(requests)
	slices.Sort(records)
	return requests, records
}
