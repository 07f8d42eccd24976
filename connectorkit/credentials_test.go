package connectorkit

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/internal/runnerlink"
	"github.com/pdpp-go/pdpp/protocol"
)

const guardedManifest = `{
  "protocol_version": "0.1.0", "connector_id": "vaulted", "version": "1", "display_name": "Vaulted",
  "runtime_requirements": {"environment_variables": [
    {"name": "VAULTED_KEY", "required": true, "secret": true}, {"name": "VAULTED_HOST", "required": true},` +
	` {"name": "VAULTED_LIMIT"}]},
  "setup": {"modality": "static_secret", "credential_capture": {"kind": "username_password", "fields": [
    {"name": "user", "label": "User name", "required": true, "env": ["VAULTED_USER"]},
    {"name": "note", "label": "Note", "env": ["VAULTED_NOTE"]}]}},
  "streams": [{"name": "log", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id",
    "schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}},` +
	` "required": ["id"]}}]
}`

// guarded keeps what it got in a record.
func guarded(t tb, names ...string) Connector {
	return withManifest(t, guardedManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
		var values []string
		for _, name := range names {
			values = append(values, s.Env(name))
		}
		s.Log.Info("opened", "with", strings.Join(values, ","))
		return []Collector{pages("log", []Record{Upsert(row{ID: "a", Text: strings.Join(values, ",")})})}, nil
	})
}

func TestMissingCredentialsAreAskedFor(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-08.1")
	v := newVault()
	var asked *protocol.Interaction
	var log bytes.Buffer
	r := succeeded(t, v.run(t, guarded(t, "VAULTED_KEY", "VAULTED_USER"), options{
		bindings: []string{"interactive"}, env: map[string]string{"VAULTED_HOST": "h"}, log: &log,
		answer: func(q *protocol.Interaction) *protocol.InteractionResponse {
			asked = q
			return &protocol.InteractionResponse{
				Status: protocol.ResponseSuccess,
				Data:   jsontext.Value(`{"VAULTED_KEY":"k3y \"q\"","VAULTED_USER":"ann","VAULTED_HOST":"evil"}`),
			}
		},
	}))
	if asked.Kind != protocol.AskMissingCredentials || !strings.Contains(asked.Message, "VAULTED_KEY") ||
		!strings.Contains(asked.Message, "VAULTED_USER") {
		t.Errorf("asked %s: %s", asked.Kind, asked.Message)
	}
	if strings.Contains(asked.Message, "VAULTED_NOTE") {
		t.Errorf("asked for an optional field: %s", asked.Message)
	}
	var form struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Title     string `json:"title"`
			WriteOnly bool   `json:"writeOnly"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(
		asked.Schema,
		&form,
	); err != nil || !slices.Equal(form.Required, []string{"VAULTED_KEY", "VAULTED_USER"}) ||
		form.Properties["VAULTED_USER"].Title != "User name" ||
		!form.Properties["VAULTED_KEY"].WriteOnly {
		t.Errorf("form %s: %v", asked.Schema, err)
	}
	if at := slices.IndexFunc(
		r.messages,
		func(m protocol.Message) bool { return m.Type() == protocol.TypeInteraction },
	); at != 0 {
		t.Errorf("the question is message %d", at)
	}
	if got := v.records["log"]["a"]; got != `{"id":"a","text":"k3y \"q\",ann"}` {
		t.Errorf("the answer reached the connector as %s", got)
	}
	if strings.Contains(log.String(), "k3y") || !strings.Contains(log.String(), "[redacted]") {
		t.Errorf("log %s", log.String())
	}
}

func TestUnansweredCredentialsFailTheRun(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]*protocol.InteractionResponse{
		"cancelled": {Status: protocol.ResponseCancelled},
		"timeout":   {Status: protocol.ResponseTimeout},
		"blank":     {Status: protocol.ResponseSuccess, Data: jsontext.Value(`{"VAULTED_KEY":" ","VAULTED_USER":7}`)},
		"no data":   {Status: protocol.ResponseSuccess},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newVault().run(t, guarded(t), options{
				bindings: []string{"interactive"},
				answer:   func(*protocol.Interaction) *protocol.InteractionResponse { return answer },
			})
			if e := r.done.Error; e == nil || e.Code != "credentials_missing" ||
				e.RecoveryHint.Action != protocol.RefreshCredentials {
				t.Errorf("ended as %s", describe(r))
			}
		})
	}
}

func TestMissingCredentialsWithoutAnybodyToAsk(t *testing.T) {
	t.Parallel()
	t.Attr("spec", "RT-08.2")
	synctest.Test(t, func(t *testing.T) { // a run that waits for an answer would deadlock here
		r := newVault().run(t, guarded(t), options{env: map[string]string{"VAULTED_HOST": "h"}})
		e := r.done.Error
		if r.done.Status != protocol.DoneFailed || e.Code != "credentials_missing" ||
			!strings.Contains(e.Message, "VAULTED_KEY") || !strings.Contains(e.Message, "VAULTED_USER") {
			t.Errorf("ended as %s", describe(r))
		}
		if len(all[*protocol.Interaction](r)) > 0 {
			t.Error("asked although nobody can answer")
		}
	})
}

func TestMissingVariable(t *testing.T) {
	t.Parallel()
	r := newVault().run(t, guarded(t), options{env: map[string]string{"VAULTED_KEY": "k", "VAULTED_USER": "u"}})
	if e := r.done.Error; e == nil || e.Code != "configuration_missing" || !strings.Contains(e.Message, "VAULTED_HOST") {
		t.Errorf("ended as %s", describe(r))
	}
}

// TestEnvironmentIsLimited hides variables that the manifest does not declare.
func TestEnvironmentIsLimited(t *testing.T) {
	t.Parallel()
	v := newVault()
	env := map[string]string{
		"VAULTED_KEY":   "k",
		"VAULTED_USER":  "u",
		"VAULTED_HOST":  "h",
		"VAULTED_LIMIT": "9",
		"HOME":          "/root",
	}
	succeeded(t, v.run(t, guarded(t, "VAULTED_HOST", "VAULTED_LIMIT", "HOME"), options{env: env}))
	if got := v.records["log"]["a"]; got != `{"id":"a","text":"h,9,"}` {
		t.Errorf("seen %s", got)
	}
}

// TestOpenQuestionSilencesTheConnector shows that the output is held from the
// question to its answer, so that no goroutine of a connector can break in.
func TestOpenQuestionSilencesTheConnector(t *testing.T) {
	t.Parallel()
	var out *runnerlink.LineOutput
	c := withManifest(t, testManifest, func(ctx context.Context, s *Setup) ([]Collector, error) {
		out = s.r.Out
		answer, err := s.Interact(ctx, protocol.Interaction{Kind: protocol.AskOTP, Message: "code?"})
		return []Collector{pages("log", []Record{Upsert(row{ID: answer["code"]})})}, err
	})
	v := newVault()
	succeeded(t, v.run(t, c, options{
		scope: only("log"), bindings: []string{"interactive"},
		answer: func(*protocol.Interaction) *protocol.InteractionResponse {
			if !out.IsHeld() {
				t.Error("the output is free while a question is open")
			}
			return &protocol.InteractionResponse{Status: protocol.ResponseSuccess, Data: jsontext.Value(`{"code":"123456"}`)}
		},
	}))
	if v.records["log"]["123456"] == "" {
		t.Errorf("stored %v", v.records["log"])
	}
}

// TestInteractWithoutBinding refuses to ask when no owner can answer.
func TestInteractWithoutBinding(t *testing.T) {
	t.Parallel()
	c := withManifest(t, testManifest, func(ctx context.Context, s *Setup) ([]Collector, error) {
		_, err := s.Interact(ctx, protocol.Interaction{Kind: protocol.AskOTP, Message: "code?"})
		return nil, err
	})
	r := newVault().run(t, c, options{})
	if len(all[*protocol.Interaction](r)) > 0 || r.done.Error == nil || r.done.Error.Code != "interaction_unanswered" {
		t.Errorf("ended as %s", describe(r))
	}
}
