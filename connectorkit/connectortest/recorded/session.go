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

// session is the runner's side of the runs: what a connector is told and what it says.
type session struct {
	c         connectorkit.Connector
	env       func(string) string
	now       func() time.Time
	transport http.RoundTripper

	state, catchUp protocol.Cursors
}

// run makes one run with the bookmarks of those before it.
func (s *session) run(ctx context.Context) (*conformance.Transcript, error) {
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
	said, err := s.dialogue().Hold(inW, outR)
	_ = outR.Close() // a pipe in memory
	<-exited
	switch {
	case err != nil:
		return nil, err
	case len(said.Faults) > 0:
		return nil, fmt.Errorf("the connector broke the protocol: %s", said.Faults[0])
	case said.Done == nil:
		return nil, fmt.Errorf("the connector ended without DONE: %s", log.String())
	case said.Done.Status != protocol.DoneSucceeded:
		return nil, fmt.Errorf("the run ended as %s: %s", said.Done.Status, strings.TrimSpace(log.String()))
	}
	s.state, s.catchUp = said.State, said.CatchUp
	return said, nil
}

// dialogue asks for everything that the manifest declares.
func (s *session) dialogue() *conformance.Dialogue {
	d := &conformance.Dialogue{Manifest: s.c.Manifest, Start: protocol.Start{
		RunID: "run_recorded", CollectionMode: protocol.Incremental, State: s.state, CatchUpState: s.catchUp,
		Bindings: map[string]jsontext.Value{"network": jsontext.Value("{}")},
	}}
	for _, stream := range s.c.Manifest.Streams {
		d.Start.Scope.Streams = append(d.Start.Scope.Streams, protocol.StreamScope{Name: stream.Name})
	}
	return d
}
