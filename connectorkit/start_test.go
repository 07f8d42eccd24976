package connectorkit

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

const startLine = `{"type":"START","run_id":"r","collection_mode":"incremental",` +
	`"scope":{"streams":[{"name":"log"}]},"state":null,"bindings":{"network":{},"interactive":{}},"detail_gaps":[]}` + "\n"

// speak runs a connector on fixed input that stays open, and returns what it
// wrote, its log and its exit code.
func speak(c Connector, input string, keepOpen bool) (out, log string, exit int) {
	var stdout, stderr bytes.Buffer
	var stdin io.Reader = strings.NewReader(input)
	if keepOpen {
		r, w := io.Pipe()
		defer w.Close()
		stdin = io.MultiReader(stdin, r)
	}
	exit = Run(context.Background(), c, Process{
		Stdin: stdin, Stdout: &stdout, Stderr: &stderr, Env: func(string) string { return "" }, Now: time.Now,
	})
	return stdout.String(), stderr.String(), exit
}

// waiting is a stream that never gets its page.
func waiting(stream string) PagedStream {
	return PagedStream{Stream: stream, Page: func(ctx context.Context, _ Cursor) (Page, error) {
		<-ctx.Done()
		return Page{}, ctx.Err()
	}}
}

// TestFailClosed ends a run with a peer that breaks the protocol, without DONE.
func TestFailClosed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input string
		open  bool
	}{
		"nothing":               {"", false},
		"no start":              {`{"type":"INTERACTION_RESPONSE","request_id":"q1","status":"success"}` + "\n", true},
		"garbage":               {"{\n", true},
		"a connector's message": {`{"type":"DONE","status":"succeeded","records_emitted":0}` + "\n", true},
		"two starts":            {startLine + startLine, true},
		"unsolicited answer": {startLine + `{"type":"INTERACTION_RESPONSE","request_id":"q1","status":"success"}` +
			"\n", true},
		"unsolicited page": {startLine + `{"type":"DETAIL_GAPS_PAGE_RESPONSE","request_id":"q1","detail_gaps":[]}` +
			"\n", true},
		"stdin ends":    {startLine, false},
		"garbage later": {startLine + "]\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				out, log, exit := speak(collecting(t, waiting("log")), c.input, c.open)
				if exit != ExitProtocol || strings.Contains(out, "DONE") || log == "" {
					t.Errorf("exit code %d, output %q, log %q", exit, out, log)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

// TestConnectorThatIgnoresTheEnd is left behind after three seconds.
func TestConnectorThatIgnoresTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		rest, stdin := io.Pipe()
		deaf := PagedStream{Stream: "log", Page: func(context.Context, Cursor) (Page, error) {
			stdin.Close()
			<-release
			return Page{}, nil
		}}
		began := time.Now()
		exit := Run(context.Background(), collecting(t, deaf), Process{
			Stdin: io.MultiReader(strings.NewReader(startLine), rest), Stdout: io.Discard, Stderr: io.Discard,
			Env: func(string) string { return "" }, Now: time.Now,
		})
		if took := time.Since(began); exit != ExitProtocol || took != maxExitWait {
			t.Errorf("exit code %d after %s", exit, took)
		}
		close(release)
	})
}

func TestCancelledRunSaysSo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	c := collecting(t, PagedStream{Stream: "log", Page: func(ctx context.Context, _ Cursor) (Page, error) {
		cancel()
		<-ctx.Done()
		return Page{}, ctx.Err()
	}})
	r, w := io.Pipe()
	defer w.Close()
	var stdout bytes.Buffer
	exit := Run(ctx, c, Process{
		Stdin: io.MultiReader(strings.NewReader(startLine), r), Stdout: &stdout, Stderr: io.Discard,
		Env: func(string) string { return "" }, Now: time.Now,
	})
	if exit != ExitFailed ||
		!strings.Contains(stdout.String(), `{"type":"DONE","status":"cancelled","records_emitted":0`) {
		t.Errorf("exit code %d, output %s", exit, stdout.String())
	}
}

// TestProgressIsThrottled lets the clock move 100 ms per page: about every third
// page reports, and the last one always does.
func TestProgressIsThrottled(t *testing.T) {
	t.Parallel()
	now := epoch
	var list [][]Record
	for range 12 {
		list = append(list, []Record{Upsert(row{ID: "a"})})
	}
	log := pages("log", list...)
	c := collecting(t, PagedStream{Stream: "log", Page: func(ctx context.Context, at Cursor) (Page, error) {
		now = now.Add(100 * time.Millisecond)
		p, err := log.Page(ctx, at)
		p.Total = 12
		return p, err
	}})
	r := succeeded(t, newVault().run(t, c, options{scope: only("log"), now: func() time.Time { return now }}))
	var counts []float64
	for _, p := range all[*protocol.Progress](r) {
		counts = append(counts, *p.Count)
		if p.Stream != "log" || *p.Total != 12 {
			t.Errorf("progress %+v", p)
		}
	}
	if want := []float64{1, 4, 7, 10, 12}; !slices.Equal(counts, want) {
		t.Errorf("reported at %v, want %v", counts, want)
	}
}

// FuzzRun feeds whole inputs to a connector with a lane: whatever the runner
// sends, the connector ends and does not panic.
func FuzzRun(f *testing.F) {
	f.Add(startLine)
	f.Add(startLine + startLine)
	f.Add(strings.Replace(startLine, `"log"`, `"threads"},{"name":"messages"`, 1))
	f.Add(
		`{"type":"START","run_id":"r","collection_mode":"full_refresh","scope":{"streams":[{"name":"threads",` +
			`"fields":["id"]},{"name":"messages"}]},"state":{"threads":{"watermark":"x"}},` +
			`"catch_up_state":{"threads":{"before":"2024-05-01T12:00:01Z"}},"bindings":{},"detail_gaps":[{"gap_id":"g",` +
			`"lease_id":"l","stream":"messages","parent_stream":"threads","record_key":"__threads_backlog__:a:",` +
			`"detail_locator":{"kind":"archive.threads_backlog","before":"2024-05-01T12:00:01Z"},"status":"pending"}]}` +
			"\n",
	)
	c := withManifest(f, testManifest, func(context.Context, *Setup) ([]Collector, error) {
		return []Collector{pages("log", []Record{Upsert(row{ID: "a"})}), newArchive(5, 2).lane()}, nil
	})
	f.Fuzz(func(t *testing.T, input string) {
		r, w := io.Pipe()
		_, valid := firstStart(input)
		if !valid {
			w.Close()
		}
		Run(context.Background(), c, Process{
			Stdin: io.MultiReader(strings.NewReader(input+"\n"), r), Stdout: &questions{w}, Stderr: io.Discard,
			Env: func(string) string { return "" }, Now: time.Now,
		})
		w.Close()
	})
}

func firstStart(input string) (protocol.Message, bool) {
	line, err := protocol.NewLineReader(strings.NewReader(input), 0).Next()
	if err != nil {
		return nil, false
	}
	m, err := protocol.NewDecoder(protocol.ToConnector).Decode(line)
	return m, err == nil && m.Type() == protocol.TypeStart
}

// questions ends stdin when the connector asks something, since no owner answers.
type questions struct{ stdin io.Closer }

func (q *questions) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(`"DETAIL_GAPS_PAGE_REQUEST"`)) {
		return len(b), q.stdin.Close()
	}
	return len(b), nil
}
