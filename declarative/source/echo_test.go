package source_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A provider that returns the credential of a request does so in vain: the credential reaches no record, key, bookmark,
// error or log line, whether the owner entered it or the connector obtained it.
func TestEchoedCredential(t *testing.T) {
	const entered, issued = "kiwi/7731+quail-lake", "issued-a0b1c2d3e4f5"
	pair := base64.StdEncoding.EncodeToString([]byte("ada:" + entered))
	sends := func(authenticator string) string {
		return fileOf("/v1/things\n        authenticator: "+authenticator+`
        error_handler:
          type: DefaultErrorHandler
          response_filters:
            - type: HttpResponseFilter
              http_codes: [422]
              action: FAIL
              error_message: "It answers {{ response['why'] }}"`,
			"", `
incremental_sync:
  type: DatetimeBasedCursor
  cursor_field: at
  datetime_format: "%Y-%m-%d"
  start_datetime: "2026-03-01"
  start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: since}`)
	}
	for name, c := range map[string]struct{ file, echo string }{
		"bearer": {sends(`{type: BearerAuthenticator, api_token: "{{ config['word'] }}"}`), entered},
		"key": {sends(`{type: ApiKeyAuthenticator, api_token: "{{ config['word'] }}", inject_into: ` +
			`{type: RequestOption, inject_into: request_parameter, field_name: key}}`), url.QueryEscape(entered)},
		"basic": {sends(`{type: BasicHttpAuthenticator, username: ada, password: "{{ config['word'] }}"}`), pair},
		"oauth": {sends(`{type: OAuthAuthenticator, token_refresh_endpoint: "https://shop.example/token", ` +
			`client_id: app, client_secret: "{{ config['word'] }}", grant_type: client_credentials}`), issued},
		"signed": {sends(`{type: JwtAuthenticator, algorithm: HS256, secret_key: "{{ config['word'] }}"}`), "AUTHORIZATION"},
	} {
		token := page{body: `{"access_token":"` + issued + `","expires_in":3600}`}
		for _, what := range []string{"record", "error", "refusal", "broken"} {
			body := map[string]page{
				"record": {body: `[{"id":"a","at":"2026-03-02","text":"you sent ` + c.echo + `","inner":[{"x":"Bearer ` +
					c.echo + `"}],"` + c.echo + `":1},{"id":"` + c.echo + `","at":"2026-03-02"},` +
					`{"id":"b","at":"` + c.echo + `"}]`},
				"error": {status: http.StatusUnprocessableEntity, body: `{"why":"` + c.echo + `"}`},
				"refusal": {status: http.StatusForbidden, body: `{"why":"` + c.echo + `"}`,
					header: http.Header{"Retry-After": {c.echo}, "X-Why": {c.echo}}},
				"broken": {body: `{"why":"` + c.echo},
			}[what]
			exchange := url.Values{"client_id": {"app"}, "client_secret": {entered}, "grant_type": {"client_credentials"}}
			got := play(t, c.file, map[string]string{"WORD": entered},
				map[string]page{"any": body, "POST /token " + exchange.Encode(): token})
			if len(got.requests) == 0 || (what == "record") != (len(got.records) == 3 && got.status == "succeeded") {
				t.Errorf("%s, %s: %d requests, %d records: %s", name, what, len(got.requests), len(got.records), got.log)
			}
			for _, secret := range []string{entered, issued, pair, url.QueryEscape(entered), "eyJ"} {
				if strings.Contains(got.lines, secret) || strings.Contains(got.log, secret) {
					t.Errorf("%s, %s: the run shows %s:\n%s%s", name, what, secret, got.lines, got.log)
				}
			}
		}
	}
}
