package recorded

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"pdpp/connectorkit"
	"pdpp/protocol"
)

// session is the runner's side of the runs: what a connector is told and what it says.
type session struct {
	c         connectorkit.Connector
	env       func(string) string
	now       func() time.Time
	transport http.RoundTripper

	state, catchUp map[string]jsontext.Value
}

// outcome is what one run said.
type outcome struct {
	records map[string]map[string]string // stream, key, data
	missing map[string]int               // gaps, by stream
	skipped []string                     // what was declared as left out
	done    *protocol.Done
}

// run makes one run with the bookmarks of those before it.
func (s *session) run(ctx context.Context) (outcome, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var log bytes.Buffer
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		connectorkit.Run(ctx, s.c, connectorkit.Process{
			Stdin: inR, Stdout: outW, Stderr: &log, Env: s.env, Now: s.now, Transport: s.transport,
		})
		_ = outW.Close() // a pipe in memory
	}()
	o, err := s.converse(inW, outR)
	_, _ = inW.Close(), outR.Close() // pipes in memory
	<-exited
	switch {
	case err != nil:
		return o, err
	case o.done == nil:
		return o, fmt.Errorf("the connector ended without DONE: %s", log.String())
	case o.done.Status != protocol.DoneSucceeded:
		return o, fmt.Errorf("the run ended as %s: %s", o.done.Status, strings.TrimSpace(log.String()))
	}
	return o, nil
}

// converse starts the run and listens until it is over.
func (s *session) converse(in io.Writer, out io.Reader) (outcome, error) {
	o := outcome{records: map[string]map[string]string{}, missing: map[string]int{}}
	if err := say(in, s.start()); err != nil {
		return o, err
	}
	lines, dec := protocol.NewLineReader(out, 0), protocol.NewDecoder(protocol.FromConnector)
	for {
		line, err := lines.Next()
		if err != nil {
			return o, nil // the connector's end; what is missing then is DONE
		}
		m, err := dec.Decode(line)
		if err != nil {
			return o, fmt.Errorf("the connector broke the protocol: %w", err)
		}
		switch m := m.(type) {
		case *protocol.Record:
			if o.records[m.Stream] == nil {
				o.records[m.Stream] = map[string]string{}
			}
			o.records[m.Stream][m.Key] = string(m.Data)
		case *protocol.State:
			marks := s.state
			if m.Mode == protocol.CatchUp {
				marks = s.catchUp
			}
			marks[m.Stream] = bytes.Clone(m.Cursor)
		case *protocol.DetailGap:
			o.missing[m.Stream]++
		case *protocol.SkipResult:
			text := m.Stream + ": " + string(m.Reason)
			if m.Message != nil {
				text += ": " + *m.Message
			}
			o.skipped = append(o.skipped, text)
		case *protocol.DetailGapsPageRequest:
			err = say(in, &protocol.DetailGapsPageResponse{RequestID: m.RequestID, ReferenceOnly: true, DetailGaps: []protocol.GapEntry{}})
		case *protocol.Done:
			o.done = m
		}
		if err != nil {
			return o, err
		}
	}
}

// start asks for everything that the manifest declares.
func (s *session) start() *protocol.Start {
	m := &protocol.Start{
		RunID: "run_recorded", CollectionMode: protocol.Incremental,
		State: maps.Clone(s.state), CatchUpState: maps.Clone(s.catchUp), DetailGaps: []protocol.GapEntry{},
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")},
	}
	for _, stream := range s.c.Manifest.Streams {
		m.Scope.Streams = append(m.Scope.Streams, protocol.StreamScope{Name: stream.Name})
	}
	return m
}

func say(w io.Writer, m protocol.Message) error {
	line, err := protocol.AppendLine(nil, m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.Type(), err)
	}
	if _, err := w.Write(line); err != nil {
		return fmt.Errorf("the connector closed its input: %w", err)
	}
	return nil
}
