package connectortest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
	"pdpp/protocol"
)

// Kept is what runs within this process have brought, as a store would keep it.
type Kept struct {
	Records map[string]map[string]string // by stream and key
	Gaps    []protocol.DetailGap
	Writes  int // records that were new or changed, but for those that only account
	state   map[string]jsontext.Value
	catchUp map[string]jsontext.Value
}

// Once runs a connector within this process, over all of its streams, from where the last
// run ended. It is for connectors that ask nothing and nobody.
func (k *Kept) Once(t testing.TB, c connectorkit.Connector, env map[string]string) {
	t.Helper()
	if k.Records == nil {
		*k = Kept{Records: map[string]map[string]string{}, state: map[string]jsontext.Value{}, catchUp: map[string]jsontext.Value{}}
	}
	exit, out, stderr := alone(t, c, env, k.state, k.catchUp)
	if exit != connectorkit.ExitSucceeded {
		t.Fatalf("exit code %d: %s", exit, stderr)
	}
	dec := protocol.NewDecoder(protocol.FromConnector)
	for line := range strings.Lines(out) {
		m, err := dec.Decode([]byte(line))
		if err != nil {
			t.Fatalf("%v: %.300s", err, line)
		}
		k.take(t, m)
	}
}

// Alone runs a connector within this process from nothing, and gives its exit code and all that it said.
func Alone(t testing.TB, c connectorkit.Connector, env map[string]string) (exit int, said string) {
	t.Helper()
	exit, out, stderr := alone(t, c, env, map[string]jsontext.Value{}, nil)
	return exit, out + stderr
}

func alone(t testing.TB, c connectorkit.Connector, env map[string]string, state, catchUp map[string]jsontext.Value) (exit int, stdout, stderr string) {
	t.Helper()
	start := protocol.Start{
		RunID: "once", CollectionMode: protocol.Incremental, State: state, CatchUpState: catchUp,
		Bindings: map[string]jsontext.Value{"filesystem": jsontext.Value("{}")}, DetailGaps: []protocol.GapEntry{},
	}
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
	var out, complaint bytes.Buffer
	exit = connectorkit.Run(context.Background(), c, connectorkit.Process{
		Stdin: stdin, Stdout: &out, Stderr: &complaint, Now: time.Now, Dir: t.TempDir(), Env: func(name string) string { return env[name] },
	})
	return exit, out.String(), complaint.String()
}

func (k *Kept) take(t testing.TB, m protocol.Message) {
	switch m := m.(type) {
	case *protocol.Record:
		if k.Records[m.Stream] == nil {
			k.Records[m.Stream] = map[string]string{}
		}
		before, had := k.Records[m.Stream][string(m.Key)]
		if m.Op == protocol.OpDelete {
			delete(k.Records[m.Stream], string(m.Key))
		} else {
			k.Records[m.Stream][string(m.Key)] = string(m.Data)
		}
		if (!had || before != string(m.Data)) && m.Stream != "coverage_diagnostics" {
			k.Writes++
		}
	case *protocol.DetailGap:
		k.Gaps = append(k.Gaps, *m)
	case *protocol.State:
		marks := k.state
		if m.Mode == protocol.CatchUp {
			marks = k.catchUp
		}
		if marks[m.Stream] = slices.Clone(m.Cursor); m.Cursor.Kind() == 'n' {
			delete(marks, m.Stream)
		}
	case *protocol.SkipResult:
		t.Errorf("skipped: %s: %s", m.Stream, *m.Message)
	}
}

// Keys are the keys of a stream's records.
func (k *Kept) Keys(stream string) []string { return slices.Sorted(maps.Keys(k.Records[stream])) }
