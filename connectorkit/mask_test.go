package connectorkit

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// The text is put together here, so that no tool takes this file for one with secrets.
var a36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

var marks = regexp.MustCompile(`\[redacted:([a-z_]+):[0-9a-f]{8}\]`)

// TestMaskedRecords holds that a record contains how many secrets it had, where its schema has
// room for that, and that the owner can switch it off.
func TestMaskedRecords(t *testing.T) {
	t.Parallel()
	const manifest = `{"protocol_version":"0.1.0","connector_id":"notes","version":"1.0.0","display_name":"Notes",` +
		`"streams":[
		{"name":"counted","semantics":"append_only","primary_key":"id","checkpoint":"slice","schema":{"type":"object",` +
		`"properties":{"id":{"type":"string"},"text":{"type":"string"},"redactions":{"type":"integer"}}}},
		{"name":"plain","semantics":"append_only","primary_key":"id","checkpoint":"slice","schema":{"type":"object",` +
		`"additionalProperties":false,"properties":{"id":{"type":"string"},"text":{"type":"string"}}}}]}`
	for choice, want := range map[string][]string{
		"":         {`"text":"<github> and <github>","redactions":2`, `"text":"<github>"`},
		"standard": {`"text":"<github> and <github>","redactions":2`, `"text":"<github>"`},
		"off":      {`"text":"ghp_` + a36 + ` and ghp_` + a36 + `"`, `"text":"ghp_` + a36 + `"`},
	} {
		c := MustNew([]byte(manifest), func(_ context.Context, s *Setup) ([]Collector, error) {
			s.MaskSecrets(choice)
			page := func(text string) func(context.Context, Cursor) (Page, error) {
				return func(context.Context, Cursor) (Page, error) {
					return Page{Records: []Record{Upsert(map[string]string{"id": "1", "text": text})}}, nil
				}
			}
			return []Collector{
				PagedStream{Stream: "counted", Page: page("ghp_" + a36 + " and ghp_" + a36)},
				PagedStream{Stream: "plain", Page: page("ghp_" + a36)},
			}, nil
		})
		out := recordLines(t, c)
		for i, line := range want {
			if got := marks.ReplaceAllString(out[i], "<$1>"); !strings.Contains(got, line) {
				t.Errorf("%q: %s", choice, got)
			}
		}
	}
}

// recordLines runs a connector once and returns the records that it writes.
func recordLines(t *testing.T, c Connector) (lines []string) {
	t.Helper()
	start := protocol.Start{RunID: "r", CollectionMode: protocol.Incremental, State: map[string]jsontext.Value{},
		Bindings: map[string]jsontext.Value{}, DetailGaps: []protocol.GapEntry{}}
	for _, s := range c.Manifest.Streams {
		start.Scope.Streams = append(start.Scope.Streams, protocol.StreamScope{Name: s.Name})
	}
	in, err := protocol.AppendLine(nil, &start)
	if err != nil {
		t.Fatal(err)
	}
	stdin, feed := io.Pipe()
	defer feed.Close()
	go func() { _, _ = feed.Write(in) }()
	var out, stderr bytes.Buffer
	if code := Run(t.Context(), c,
		Process{Stdin: stdin, Stdout: &out, Stderr: &stderr, Env: func(string) string { return "" },
			Now: time.Now}); code != ExitSucceeded {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, `"RECORD"`) {
			lines = append(lines, line)
		}
	}
	return lines
}
