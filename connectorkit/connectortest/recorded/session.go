package recorded

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/conformance"
	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// runnerSession is the runner's side of the runs: the messages to and from a connector.
type runnerSession struct {
	c         connectorkit.Connector
	env       func(string) string
	now       func() time.Time
	transport http.RoundTripper

	state, catchUp protocol.Cursors
}

// runOnce makes one run with the bookmarks of those before it.
func (s *runnerSession) runOnce(ctx context.Context) (*conformance.Transcript, error) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var log bytes.Buffer
	dir, err := os.MkdirTemp("", "pdpp-recorded-")
	if err != nil {
		return nil, fmt.Errorf("make a working directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		connectorkit.Run(ctx, s.c, connectorkit.Process{
			Stdin: inR, Stdout: outW, Stderr: &log, Env: s.env, Now: s.now, Transport: s.transport, Dir: dir,
		})
		_ = outW.Close() // a pipe in memory
	}()
	transcript, err := s.fullDialogue().Hold(inW, outR)
	_ = outR.Close() // a pipe in memory
	<-exited
	switch {
	case err != nil:
		return nil, err
	case len(transcript.Faults) > 0:
		return nil, fmt.Errorf("the connector broke the protocol: %s", transcript.Faults[0])
	case transcript.Done == nil:
		return nil, fmt.Errorf("the connector ended without DONE: %s", log.String())
	case transcript.Done.Status != protocol.DoneSucceeded:
		return nil, fmt.Errorf("the run ended as %s: %s", transcript.Done.Status, strings.TrimSpace(log.String()))
	}
	s.state, s.catchUp = transcript.State, transcript.CatchUp
	return transcript, nil
}

// fullDialogue asks for everything that the manifest declares.
func (s *runnerSession) fullDialogue() *conformance.Dialogue {
	d := &conformance.Dialogue{Manifest: s.c.Manifest, Start: protocol.Start{
		RunID: "run_recorded", CollectionMode: protocol.Incremental, State: s.state, CatchUpState: s.catchUp,
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")},
	}}
	for _, stream := range s.c.Manifest.Streams {
		d.Start.Scope.Streams = append(d.Start.Scope.Streams, protocol.StreamScope{Name: stream.Name})
	}
	return d
}
