package recorded

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

var recordFlag = flag.Bool("record", false,
	"ask the provider and write the recordings that the tests of this package replay")

// recordedRuns is how many runs a recording holds: one from the beginning, one that resumes.
const recordedRuns = 2

// Run holds the connector to the recording in the file: both runs succeed, no record
// lacks its declared shape, every declared stream has something, the second run resumes
// and asks no more than the first, and exactly what was recorded is asked for. With
// -record it asks the provider first and writes the file.
func Run(t *testing.T, c connectorkit.Connector, file string) {
	t.Helper()
	if *recordFlag {
		data, err := recordRuns(t.Context(), c, os.Getenv, http.DefaultTransport)
		if err == nil {
			err = writeFile(file, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := ReadRecording(file)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if err := replayRuns(t.Context(), c, r); err != nil {
			t.Error(err)
		}
	})
}

// recordRuns makes the runs against the provider and returns the encoded recording.
func recordRuns(ctx context.Context, c connectorkit.Connector, env func(string) string, next http.RoundTripper) ([]byte,
	error) {
	secrets, r := map[string]string{}, &Recording{RecordedAt: time.Now().UTC().Truncate(time.Second),
		Environment: map[string]string{}}
	for _, name := range c.Manifest.SecretEnv() {
		if v := env(name); v != "" {
			secrets[name] = v
		}
	}
	hide, err := newRedaction(secrets)
	if err != nil {
		return nil, err
	}
	for _, name := range c.Manifest.EnvNames() {
		if _, secret := secrets[name]; secret {
			r.Environment[name] = secretStandIn(name)
		} else if v := env(name); v != "" {
			r.Environment[name] = hide.redactText(v)
		}
	}
	recorder := &Recorder{next: next, hide: hide}
	s := newRunnerSession(c, env, time.Now, recorder)
	for range recordedRuns {
		if _, err := s.runOnce(ctx); err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
	}
	r.Exchanges = recorder.exchanges
	return r.encodeRecording(hide)
}

func newRunnerSession(c connectorkit.Connector, env func(string) string, now func() time.Time,
	transport http.RoundTripper) *runnerSession {
	return &runnerSession{
		c: c, env: env, now: now, transport: transport,
		state: protocol.Cursors{}, catchUp: protocol.Cursors{},
	}
}

// replayRuns makes the runs on the recorded answers, beginning at the time of the
// recording, and returns everything that is wrong.
func replayRuns(ctx context.Context, c connectorkit.Connector, r *Recording) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	replayer := newReplayer(r, cancel)
	s := newRunnerSession(c, func(name string) string { return r.Environment[name] },
		func() time.Time { return r.RecordedAt.Add(time.Since(began)) }, replayer)
	var asked [recordedRuns]int
	var faults []error
	for i := range recordedRuns {
		before := replayer.asked
		o, err := s.runOnce(ctx)
		asked[i] = replayer.asked - before
		if replayer.unknown != nil {
			return replayer.unknown
		}
		if err != nil {
			return fmt.Errorf("run %d: %w", i+1, err)
		}
		for _, skip := range o.Skips {
			text := skip.Stream + ": " + string(skip.Reason)
			if skip.Message != nil {
				text += ": " + *skip.Message
			}
			faults = append(faults, fmt.Errorf("run %d leaves something out: %s", i+1, text))
		}
		for _, stream := range c.Manifest.Streams {
			missing := slices.ContainsFunc(o.Gaps, func(g protocol.DetailGap) bool { return g.Stream == stream.Name })
			if i == 0 && len(o.Of(stream.Name)) == 0 && !missing {
				faults = append(faults, fmt.Errorf("stream %s gave nothing: record an account that has something of it",
					stream.Name))
			}
		}
	}
	if asked[1] > asked[0] {
		faults = append(faults, fmt.Errorf("the second run made %d requests, the first %d: it starts over instead of "+
			"resuming", asked[1], asked[0]))
	}
	if unused := replayer.unusedExchanges(); len(unused) > 0 {
		unused = unused[:min(len(unused), 10)]
		faults = append(faults, fmt.Errorf("recorded and never asked for:\n\t%s\nrecord again with -record if that is right",
			strings.Join(slices.Compact(unused), "\n\t")))
	}
	return errors.Join(faults...)
}
