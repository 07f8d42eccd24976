package conformance

import (
	"io"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// closedInput is the input of a connector that reads START and nothing after it.
type closedInput struct{ started bool }

func (c *closedInput) Write(b []byte) (int, error) {
	if c.started {
		return 0, io.ErrClosedPipe
	}
	c.started = true
	return len(b), nil
}

func (*closedInput) Close() error { return nil }

// TestConnectorThatExitsBeforeAnAnswer holds that the last lines of a connector count although
// no answer can be delivered.
func TestConnectorThatExitsBeforeAnAnswer(t *testing.T) {
	m, err := manifest.Parse([]byte(`{"protocol_version":"0.1.0","connector_id":"brief","version":"1",
		"display_name":"Brief","streams":[{"name":"notes","semantics":"append_only","primary_key":["id"],
		"schema":{"type":"object","properties":{"id":{"type":"string"}}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d := &Dialogue{Manifest: m, Start: protocol.Start{RunID: "run_1", CollectionMode: protocol.Incremental,
		State: protocol.Cursors{}, Allowances: true}}
	transcript, err := d.Hold(&closedInput{}, strings.NewReader(
		`{"type":"ALLOWANCE","request_id":"a1","sender":"api","provider":"brief","account":"ann"}`+"\n"+
			`{"type":"DONE","status":"succeeded","records_emitted":0}`+"\n"))
	if err != nil || transcript.Done == nil || len(transcript.Faults) > 0 {
		t.Errorf("%v, DONE %v, faults %v", err, transcript.Done, transcript.Faults)
	}
}
