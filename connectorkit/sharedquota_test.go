package connectorkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runstate"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
	"github.com/pdpp-go/pdpp/protocol"
)

// sharing runs a connector that draws on an allowance, with a runner that answers with its input and then
// sends more. It returns the messages of the connector, its first pace and its exit code.
func sharing(t *testing.T, start, learned, more string) (message string, pace time.Duration, exit int) {
	t.Helper()
	s := &service{}
	c := withManifest(t, testManifest, func(ctx context.Context, setup *Setup) ([]Collector, error) {
		if err := setup.SharedQuota(ctx, SharedQuota{}); err != nil { // without an account
			return nil, err
		}
		for range 2 { // a second word on a sender changes nothing
			if err := setup.SharedQuota(ctx, SharedQuota{Account: "ann@meadow.example"}); err != nil {
				return nil, err
			}
		}
		client, err := setup.HTTP(governhttp.Options{BaseURL: "http://archive.test", Transport: s, Classify: ByStatus})
		rate, _ := setup.r.Providers[0].Governor.Rate()
		pace = rate.Interval
		return []Collector{behind(client, pages("log", []Record{Upsert(row{ID: "1"})}, []Record{Upsert(row{ID: "2"})}))}, err
	})
	stdin, toStdin := io.Pipe()
	fromStdout, stdout := io.Pipe()
	var log, out bytes.Buffer
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		_, _ = io.WriteString(toStdin, start+"\n")
		lines, dec := protocol.NewLineReader(fromStdout, 0), protocol.NewDecoder(protocol.FromConnector)
		for {
			line, err := lines.Next()
			if err != nil {
				return
			}
			out.Write(append(line, '\n'))
			m, err := dec.Decode(bytes.Clone(line))
			if a, ok := m.(*protocol.Allowance); ok && err == nil && a.RequestID != "" {
				_, _ = fmt.Fprintf(
					toStdin,
					`{"type":"ALLOWANCE_SHARE","request_id":%q,"sender":%q,"runs":1,"place":0%s}`+"\n"+more,
					a.RequestID,
					a.Sender,
					learned,
				)
			}
		}
	}()
	exit = Run(
		t.Context(),
		c,
		Process{Stdin: stdin, Stdout: stdout, Stderr: &log, Env: func(string) string { return "" }, Now: time.Now},
	)
	_ = stdout.Close()
	_ = stdin.Close()
	<-heard
	if strings.Contains(log.String(), "meadow") {
		t.Error("the log names the account")
	}
	return out.String(), pace, exit
}

// sharedStart has a bookmark with a pace of 900 ms that was found a minute ago.
func sharedStart(allowances string) string {
	return fmt.Sprintf(
		`{"type":"START","run_id":"r","collection_mode":"incremental","scope":{"streams":[{"name":"log"}]},`+
			`"state":{"log":{"%[1]sinterval_ms":900,"%[1]srecorded_at_ms":%[2]d}},"bindings":{},"detail_gaps":[]%[3]s}`,
		runstate.PacePrefix,
		time.Now().Add(-time.Minute).UnixMilli(),
		allowances,
	)
}

// A run begins with the younger of what its bookmark and its quota contain, asks for its part once, leaves what it
// learned, and sends nothing else while no other run exists.
func TestAllowanceIsTheWarmStart(t *testing.T) {
	for name, c := range map[string]struct {
		age  time.Duration
		want time.Duration
	}{"the allowance is younger": {time.Second, 700 * time.Millisecond}, "the bookmark is younger": {time.Hour,
		900 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				learned := fmt.Sprintf(
					`,"learned":{"%s":700,"%s":%d}`,
					governor.FieldInterval,
					governor.FieldRecorded,
					time.Now().Add(-c.age).UnixMilli(),
				)
				text, pace, exit := sharing(t, sharedStart(`,"allowances":true`), learned, "")
				if exit != ExitSucceeded || pace != c.want {
					t.Errorf("exit code %d, begins at %s", exit, pace)
				}
				if n := strings.Count(
					text,
					`"ALLOWANCE"`,
				); n != 2 || strings.Contains(text, "meadow") ||
					!strings.Contains(text, `"account":"`+runstate.HashAccount("ann@meadow.example")+`"`) ||
					!strings.Contains(text, `"learned":{`) {
					t.Errorf("%d words on allowances: %s", n, text)
				}
			})
		})
	}
}

// A runner that does not know allowances receives no message about them.
func TestAllowanceIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sentence, pace, exit := sharing(t, sharedStart(""), "", "")
		if exit != ExitSucceeded || pace != 900*time.Millisecond || strings.Contains(sentence, "ALLOWANCE") {
			t.Errorf("exit code %d, begins at %s: %s", exit, pace, sentence)
		}
	})
}

// A share of what was never asked for ends the run, as everything does that was not requested.
func TestShareOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, _, exit := sharing(
			t,
			sharedStart(`,"allowances":true`),
			"",
			`{"type":"ALLOWANCE_SHARE","sender":"other","runs":2,"place":0}`+"\n",
		)
		if exit != ExitProtocol || strings.Contains(said, "DONE") {
			t.Errorf("exit code %d: %s", exit, said)
		}
	})
}
