package runstate

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/connectorkit/failure"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// RequireEnvironment checks that the declared credentials and required variables are set before the connector
// opens. It asks for missing credentials if an owner can answer; otherwise the run ends and names them (RT-08).
func (r *Run) RequireEnvironment(ctx context.Context) error {
	if missing := r.unsetVariables(r.Manifest.CredentialEnv()); len(missing) > 0 {
		answer, err := r.AskOwner(ctx, protocol.Interaction{
			Kind:    protocol.AskMissingCredentials,
			Message: r.Manifest.DisplayName + " needs " + strings.Join(missing, ", ") + " to sign in.",
			Schema:  credentialForm(r.Manifest, missing),
		})
		if err != nil && !errors.Is(err, failure.ErrNotInteractive) && !errors.Is(err, failure.ErrNotAnswered) {
			return err
		}
		for _, name := range missing {
			r.answered[name] = answer[name]
			if r.Manifest.IsPlainSetting(name) { // a record may have the address of a server, or a name
				r.Secrets.HideSecret(answer[name])
			} else {
				r.HideSecret(answer[name])
			}
		}
		if missing = r.unsetVariables(missing); len(missing) > 0 {
			return &failure.RunFailure{Verdict: failure.Verdict{
				Code: "credentials_missing", Hint: protocol.RefreshCredentials,
				Message: "credentials are missing: " + strings.Join(missing, ", "),
			}}
		}
	}
	var required []string
	if rr := r.Manifest.RuntimeRequirements; rr != nil {
		for _, v := range rr.EnvironmentVariables {
			if v.Required {
				required = append(required, v.Name)
			}
		}
	}
	if missing := r.unsetVariables(required); len(missing) > 0 {
		return &failure.RunFailure{Verdict: failure.Verdict{
			Code: "configuration_missing", Hint: protocol.ManualActionRequired,
			Message: "required variables are not set: " + strings.Join(missing, ", "),
		}}
	}
	return nil
}

// DeclaredVariable returns the owner's answer of this run, otherwise the variable.
func (r *Run) DeclaredVariable(name string) string {
	if v := r.answered[name]; v != "" {
		return v
	}
	return r.Env(name)
}

func (r *Run) unsetVariables(names []string) []string {
	var missing []string
	for _, name := range names {
		if strings.TrimSpace(r.DeclaredVariable(name)) == "" {
			missing = append(missing, name)
		}
	}
	return missing
}

// credentialForm returns the JSON Schema of the answer: one text per variable, with the labels of the setup form.
func credentialForm(m *manifest.Manifest, names []string) []byte {
	type field struct {
		Type      string `json:"type"`
		Title     string `json:"title"`
		WriteOnly bool   `json:"writeOnly,omitzero"`
		MinLength int    `json:"minLength"`
	}
	fields := map[string]field{}
	for _, name := range names {
		fields[name] = field{Type: "string", Title: name, WriteOnly: true, MinLength: 1}
	}
	if m.Setup != nil && m.Setup.CredentialCapture != nil {
		for _, f := range m.Setup.CredentialCapture.Fields {
			for _, name := range f.Env {
				if _, asked := fields[name]; asked {
					fields[name] = field{Type: "string", Title: f.Label, WriteOnly: f.Secret, MinLength: 1}
				}
			}
		}
	}
	b, err := json.Marshal(map[string]any{
		"type": "object", "properties": fields, "required": names, "additionalProperties": false,
	}, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return b
}
