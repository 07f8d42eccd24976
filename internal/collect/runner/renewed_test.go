package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/protocol"
)

// A fresh credential comes once in half a minute, is a secret before the connector has it, and the
// connector may go on speaking while it is fetched.
func TestRenewedCredential(t *testing.T) {
	d := newDialogue(t, "notes")
	withSecret(d)
	asked, release := 0, make(chan struct{})
	d.spec.Renew = func(context.Context) (map[string]string, error) {
		asked++
		<-release
		return map[string]string{"NOTES_TOKEN": "hush-3"}, nil
	}
	o := d.play(t.Context(), func(conn *connector) int {
		conn.start()
		conn.line(`{"type":"CREDENTIAL_REQUEST","request_id":"c1","reason":"expired"}`)
		conn.line(`{"type":"PROGRESS","message":"waiting"}`)
		close(release)
		answer, _ := conn.hear().(*protocol.CredentialResponse)
		if answer == nil || answer.RequestID != "c1" || answer.Status != protocol.CredentialRenewed ||
			answer.Values["NOTES_TOKEN"] != "hush-3" {
			t.Errorf("the answer is %+v", answer)
		}
		conn.line(`{"type":"CREDENTIAL_REQUEST","request_id":"c2","reason":"expired"}`)
		if answer, _ = conn.hear().(*protocol.CredentialResponse); answer == nil ||
			answer.Status != protocol.CredentialNotRenewed || len(answer.Values) > 0 {
			t.Errorf("a second one at once: %+v", answer)
		}
		conn.line(`{"type":"PROGRESS","message":"signed in with hush-3"}`)
		return conn.done(protocol.DoneSucceeded)
	})
	mustSucceed(t, o)
	if asked != 1 {
		t.Errorf("%d were fetched", asked)
	}
	if strings.Contains(fmt.Sprintf("%+v %+v", &d.memory, o), "hush-3") {
		t.Error("the secret is left behind")
	}
}

// Without a fresh credential the connector hears so, and nothing of why.
func TestNotRenewed(t *testing.T) {
	for name, renew := range map[string]func(context.Context) (map[string]string, error){
		"nobody has one": nil,
		"it failed":      func(context.Context) (map[string]string, error) { return nil, errors.New("no route") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(t, "notes")
			d.spec.Renew = renew
			mustSucceed(t, d.play(t.Context(), func(conn *connector) int {
				conn.start()
				conn.line(`{"type":"CREDENTIAL_REQUEST","request_id":"c1","reason":"expired"}`)
				if answer, _ := conn.hear().(*protocol.CredentialResponse); answer == nil ||
					answer.Status != protocol.CredentialNotRenewed {
					t.Errorf("the answer is %+v", answer)
				}
				return conn.done(protocol.DoneSucceeded)
			}))
		})
	}
	d := newDialogue(t, "notes")
	o := d.say(t, `{"type":"CREDENTIAL_REQUEST","request_id":"c1","reason":"expired","values":{"NOTES_TOKEN":"x"}}`)
	if o.Failure == nil || o.Failure.Violation == nil || o.Failure.Violation.Subtype != protocol.InvalidField {
		t.Errorf("values with the wrong reason: %+v", o.Failure)
	}
}
