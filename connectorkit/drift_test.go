package connectorkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// drifts returns what a run reported about the answers of a stream; nil when it reported nothing.
func drifts(r result, stream string) *protocol.AnswerDrift {
	for _, p := range all[*protocol.Progress](r) {
		if p.Stream == stream && p.AnswerDrift != nil {
			return p.AnswerDrift
		}
	}
	return nil
}

// TestHistoryBegins notices a history that begins exactly where providers cut off, and only when
// the stream was read from nothing.
func TestHistoryBegins(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		oldest  string
		records int
		days    int64
	}{
		{now.AddDate(0, 0, -30).Add(time.Minute).Format(time.RFC3339), 12, 30},
		{now.AddDate(0, 0, -365).Add(5 * time.Hour).Format(time.RFC3339), 12, 365},
		{now.AddDate(0, 0, -90).Format(time.DateOnly), 12, 90},
		{now.AddDate(0, 0, -7).Add(time.Hour).Format(time.RFC3339), 3, 0},
		{now.AddDate(0, 0, -33).Format(time.RFC3339), 12, 0},
		{now.AddDate(0, 0, -26).Format(time.RFC3339), 12, 0},
	} {
		var records []Record
		for i := range c.records {
			at := c.oldest
			if i > 0 {
				at = now.Add(-time.Duration(i) * time.Hour).Format(time.RFC3339)
			}
			records = append(records, Upsert(row{ID: fmt.Sprint(i), At: at}))
		}
		v := newVault()
		o := options{scope: []protocol.StreamScope{{Name: "log"}}, now: func() time.Time { return now }}
		page := PagedStream{Stream: "log", Page: func(context.Context, Cursor) (Page, error) {
			return Page{Records: records, Next: Cursor{"end": "1"}}, nil
		}}
		first := drifts(succeeded(t, v.run(t, collecting(t, page), o)), "log")
		if first == nil || first.Beginning == nil || first.Beginning.Days != c.days {
			t.Errorf("oldest %s of %d: %+v, want %d days", c.oldest, c.records, first, c.days)
		}
		if again := drifts(succeeded(t, v.run(t, collecting(t, page), o)), "log"); again != nil {
			t.Errorf("a run that went on reports %+v", again)
		}
	}
}

// TestTotalsAreCompared holds the provider's number against what its list had, page by page, those
// that are as they were included.
func TestTotalsAreCompared(t *testing.T) {
	t.Parallel()
	for _, versions := range []bool{true, false} {
		v, s := newVault(), newShelf(35, versions)
		s.garbled = "k004"
		total := 35
		run := func() *protocol.AnswerDrift {
			s.n = 0
			o := options{scope: []protocol.StreamScope{{Name: "threads"}}}
			return drifts(v.run(t, collecting(t,
				FullList{Stream: "threads", Page: func(ctx context.Context, visit PageRequest) (InventoryPage, error) {
					page, err := s.page(ctx, visit)
					page.Total = total
					return page, err
				}}), o), "threads")
		}
		for _, c := range []struct{ total, counted int64 }{{35, 35}, {35, 35}, {300, 35}, {34, 34}} {
			total = int(c.total)
			if got := run(); got == nil || got.Total == nil ||
				*got.Total != (protocol.AnnouncedTotal{Announced: c.total, Counted: c.counted}) {
				t.Errorf("versions %v, total %d: %+v", versions, c.total, got)
			}
		}
	}
}

// driftSheet is what BenchmarkAnswers knows of its provider's answers.
const driftSheet = "GET v1/log\n\titems! list\n\titems/[]! object\n\titems/[]/id! text\n\titems/[]/at! text\n" +
	"\titems/[]/text! text\n\ttotal! number\n"

// BenchmarkAnswers measures what the comparison of answers costs of a run that decodes, judges and
// emits their records: the share of its time, in percent. A runner and a store, which cost more,
// are not counted.
func BenchmarkAnswers(b *testing.B) {
	const perPage = 100
	var body bytes.Buffer
	body.WriteString(`{"total":1000,"items":[`)
	for i := range perPage {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"id":"evt_%08d","at":"2024-05-01T12:00:00Z","text":"%s"}`, i, strings.Repeat("some text ", 48))
	}
	body.WriteString(`]}`)
	provider := roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(bytes.NewReader(body.Bytes())), Request: r}, nil
	})
	var spent time.Duration
	left := b.N
	c := withManifest(b, testManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
		client, err := s.HTTP(governhttp.Options{BaseURL: "http://provider.example", Transport: provider,
			Answered: func(req *http.Request, resp *governhttp.Response) {
				began := time.Now()
				s.r.Drift.CompareAnswer(req, resp)
				spent += time.Since(began)
			}}, func(c *governor.Config) { c.Discovery, c.Ceiling = time.Nanosecond, time.Nanosecond })
		return []Collector{PagedStream{Stream: "log", Page: func(ctx context.Context, _ Cursor) (Page, error) {
			resp, err := client.Get(ctx, "/v1/log", nil)
			if err != nil {
				return Page{}, err
			}
			var wire struct {
				Items []jsontext.Value `json:"items"`
			}
			if err := json.Unmarshal(resp.Body, &wire); err != nil {
				return Page{}, err
			}
			page := Page{}
			for _, raw := range wire.Items[:min(left, perPage)] {
				var one row
				if err := json.Unmarshal(raw, &one); err != nil {
					return Page{}, err
				}
				page.Records = append(page.Records, Upsert(one))
			}
			left -= len(page.Records)
			page.Next, page.More = Cursor{"left": fmt.Sprint(left)}, left > 0
			return page, nil
		}}}, err
	})
	c.Answers = driftSheet
	stdin, w := io.Pipe()
	defer w.Close()
	began := time.Now()
	if exit := Run(b.Context(), c, Process{
		Stdin: io.MultiReader(strings.NewReader(startLine), stdin), Stdout: io.Discard, Stderr: io.Discard,
		Env: func(string) string { return "" }, Now: time.Now,
	}); exit != 0 {
		b.Fatalf("exit code %d", exit)
	}
	b.ReportMetric(100*spent.Seconds()/time.Since(began).Seconds(), "%-of-run")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
