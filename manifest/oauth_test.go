package manifest

import (
	"slices"
	"strings"
	"testing"
)

const signing = `{"protocol_version":"0.1.0","connector_id":"https://example.org/connectors/tunes",` +
	`"connector_key":"tunes","version":"1.0.0","display_name":"Tunes",
 "setup":{"modality":"provider_auth","deployment_config":["TUNES_CLIENT_ID","TUNES_CLIENT_SECRET","TUNES_REGION"],
  "oauth":{"authorize_url":"https://tunes.example/authorize","token_url":"https://tunes.example/token",` +
	`"access_token_env":"TUNES_ACCESS_TOKEN",
   "client_id_env":"TUNES_CLIENT_ID","client_secret_env":"TUNES_CLIENT_SECRET",` +
	`"device_url":"https://tunes.example/device","scope_separator":",","authorize_params":{"prompt":"consent"},` +
	`"pkce":true,"rotation":true,
   "token_lifetime_seconds":3600,"client_auth":"body","client_id_for_connector":true,` +
	`"token_params":{"action":"requesttoken"},"token_member":"body","register_url":"https://tunes.example/apps",` +
	`"register_steps":["Choose New app."],
   "never_asked":"changing anything","provider_sees":"That this server reads.",
   "scopes":[{"name":"read","label":"What you heard"},{"name":"private","label":"What only you see",` +
	`"note":"Without it private lists are missing","optional":true}]}},
 "streams":[{"name":"plays","semantics":"append_only","schema":{"type":"object",` +
	`"properties":{"id":{"type":"string"}}},"primary_key":["id"]}]}`

// The connector gets the access token, the app's number if the provider expects it, and never its secret.
func TestOAuthVariables(t *testing.T) {
	m, err := Parse([]byte(signing))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.EnvNames(); !slices.Equal(got, []string{"TUNES_ACCESS_TOKEN", "TUNES_CLIENT_ID", "TUNES_REGION"}) {
		t.Errorf("the connector gets %v", got)
	}
	m.Setup.OAuth.ClientIDForConnector = false
	if got := m.EnvNames(); !slices.Equal(got, []string{"TUNES_ACCESS_TOKEN", "TUNES_REGION"}) {
		t.Errorf("the connector gets %v", got)
	}
	if got := m.CredentialEnv(); !slices.Equal(got, []string{"TUNES_ACCESS_TOKEN"}) {
		t.Errorf("it cannot sign in without %v", got)
	}
	if got := m.SecretEnv(); !slices.Equal(got, []string{"TUNES_ACCESS_TOKEN", "TUNES_CLIENT_SECRET"}) {
		t.Errorf("secrets are %v", got)
	}
	if !m.OAuth().UsesPKCE() {
		t.Error("without a word requests are not bound")
	}
}

func TestOAuthProblems(t *testing.T) {
	for _, c := range []struct{ from, to, problem string }{
		{`"modality":"provider_auth"`, `"modality":"none"`, "setup.oauth"},
		{`"deployment_config":["TUNES_CLIENT_ID",`, `"deployment_config":[`, "setup.oauth.client_id_env"},
		{`"TUNES_CLIENT_SECRET","TUNES_REGION"`, `"TUNES_REGION"`, "setup.oauth.client_secret_env"},
		{`https://tunes.example/token`, `http://tunes.example/token`, "setup.oauth.token_url"},
		{`https://tunes.example/token`, `http://127.0.0.1.tunes.example/token`, "setup.oauth.token_url"},
		{`https://tunes.example/token`, `http://127.0.0.1:80@tunes.example/token`, "setup.oauth.token_url"},
		{`"authorize_url":"https://tunes.example/authorize",`, `"authorize_url":"http://tunes.example/authorize",`,
			"setup.oauth.authorize_url"},
		{`"TUNES_ACCESS_TOKEN"`, `"TUNES_CLIENT_ID"`, "setup.oauth.access_token_env"},
		{`"scopes":[`, `"scopes":[{"name":"read","label":"Again"},`, "setup.oauth.scopes"},
		{`"client_auth":"body"`, `"client_auth":"cookie"`, "setup.oauth.client_auth"},
	} {
		text := strings.Replace(signing, c.from, c.to, 1)
		if text == signing {
			t.Fatalf("%q is not in the manifest", c.from)
		}
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s -> %s: %v", c.from, c.to, err)
		}
	}
	for _, own := range []string{"http://127.0.0.1:9/token", "http://localhost/token", "http://[::1]:8080/token",
		"http://localhost?x"} {
		if _, err := Parse([]byte(strings.Replace(signing, "https://tunes.example/token", own, 1))); err != nil {
			t.Errorf("%s: %v", own, err)
		}
	}
}
