package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// A credential that was exchanged is durable before the connector hears of it, and is in nothing
// that the run leaves behind.
func TestRotatedCredentialIsStoredFirst(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want protocol.CredentialOutcome
	}{{"stored", nil, protocol.CredentialStored}, {"not stored", errors.New("gone"), protocol.CredentialNotStored},
		{"nowhere to store it", nil, protocol.CredentialNotStored}} {
		t.Run(c.name, func(t *testing.T) {
			d := newDialogue(t, "notes")
			withSecret(d)
			stored := map[string]string{}
			if c.name != "nowhere to store it" {
				d.spec.Rotate = func(_ context.Context, values map[string]string) error {
					maps.Copy(stored, values)
					return c.err
				}
			}
			o := d.play(t.Context(), func(conn *connector) int {
				conn.start()
				conn.line(`{"type":"CREDENTIAL_REQUEST","request_id":"c1","reason":"rotated","values":{"NOTES_TOKEN":"hush-2"}}`)
				answer, _ := conn.hear().(*protocol.CredentialResponse)
				if answer == nil || answer.RequestID != "c1" || answer.Status != c.want {
					t.Errorf("the answer is %+v", answer)
				}
				if d.spec.Rotate != nil && stored["NOTES_TOKEN"] != "hush-2" {
					t.Errorf("stored when the answer comes: %v", stored)
				}
				conn.line(`{"type":"PROGRESS","message":"signed in with hush-2"}`)
				return conn.done(protocol.DoneSucceeded)
			})
			mustSucceed(t, o)
			if strings.Contains(fmt.Sprintf("%+v %+v", &d.memory, o), "hush-2") {
				t.Error("the secret is left behind")
			}
		})
	}
}

// What is no credential of the connector's is refused.
func TestRotatedVariableIsNoSecret(t *testing.T) {
	d := newDialogue(t, "notes")
	withSecret(d)
	d.spec.Rotate = func(context.Context, map[string]string) error { t.Error("it was stored"); return nil }
	o := d.say(t, `{"type":"CREDENTIAL_REQUEST","request_id":"c1","reason":"rotated","values":{"PATH":"/tmp"}}`)
	if o.Failure == nil || o.Failure.Violation == nil || o.Failure.Violation.Subtype != protocol.InvalidField {
		t.Errorf("%+v", o.Failure)
	}
}

func withSecret(d *dialogue) {
	m := *d.spec.Manifest
	m.RuntimeRequirements = &manifest.RuntimeRequirements{
		EnvironmentVariables: []manifest.EnvironmentVariable{{Name: "NOTES_TOKEN", Secret: true}},
	}
	d.spec.Manifest = &m
}
