package connectorkit

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pdpp-go/pdpp/governor/governhttp"
)

const tokenManifest = `{
  "protocol_version": "0.1.0", "connector_id": "tunes", "version": "1", "display_name": "Tunes",
  "setup": {"modality": "provider_auth", "deployment_config": ["TUNES_ID"],` +
	` "oauth": {"authorize_url": "https://tunes.example/a", "token_url": "https://tunes.example/t",
    "access_token_env": "TUNES_TOKEN", "client_id_env": "TUNES_ID"}},
  "streams": [{"name": "log", "semantics": "append_only", "checkpoint": "slice", "primary_key": "id",
    "schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}},` +
	` "required": ["id"]}}]
}`

// A token that ends while a run goes on is replaced by one question to the runner, and the run loses
// nothing; without a fresh one it ends as one with a refused credential.
func TestTokenEndsDuringARun(t *testing.T) {
	for _, given := range []bool{true, false} {
		t.Run(strconv.FormatBool(given), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &service{answer: func(n int, r *http.Request) *http.Response {
					if n > 2 && r.Header.Get("Authorization") != "Bearer second" {
						return reply(http.StatusUnauthorized)
					}
					return nil
				}}
				c := withManifest(t, tokenManifest, func(_ context.Context, setup *Setup) ([]Collector, error) {
					client, err := setup.HTTP(
						governhttp.Options{
							BaseURL:   "http://tunes.test",
							Transport: s,
							Classify:  ByStatus,
							Token:     setup.Token("TUNES_TOKEN"),
						},
					)
					if err != nil {
						return nil, err
					}
					var records [][]Record
					for i := range 5 {
						records = append(records, []Record{Upsert(row{ID: strconv.Itoa(i)})})
					}
					return []Collector{behind(client, pages("log", records...))}, nil
				})
				asked := 0
				var log bytes.Buffer
				o := options{env: map[string]string{"TUNES_TOKEN": "first"}, log: &log}
				if given {
					o.fresh = func() map[string]string { asked++; return map[string]string{"TUNES_TOKEN": "second"} }
				}
				v := newVault()
				r := v.run(t, c, o)
				if given {
					succeeded(t, r)
					if len(v.records["log"]) != 5 || asked != 1 || len(s.at) != 6 {
						t.Errorf("%d records, %d questions, %d requests", len(v.records["log"]), asked, len(s.at))
					}
				} else if r.done == nil || r.done.Error == nil || r.done.Error.RecoveryHint == nil ||
					r.done.Error.RecoveryHint.Action != "refresh_credentials" {
					t.Errorf("ended with %+v", r.done)
				}
				if strings.Contains(log.String(), "second") {
					t.Error("the log shows the token")
				}
			})
		})
	}
}
