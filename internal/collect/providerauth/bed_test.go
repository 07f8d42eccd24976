package providerauth_test

import (
	"context"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/quality/oidctest"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/manifest"
)

const connection = "cin_tunes_1"

// tunes is a connector of the provider.
func tunes(provider string) *manifest.Manifest {
	m, err := manifest.Parse([]byte(`{"protocol_version":"0.1.0",` +
		`"connector_id":"https://example.org/connectors/tunes","connector_key":"tunes","version":"1.0.0",` +
		`"display_name":"Tunes",
 "setup":{"modality":"provider_auth","deployment_config":["TUNES_CLIENT_ID","TUNES_CLIENT_SECRET"],
  "oauth":{"authorize_url":"` +
		provider + `/auth","token_url":"` +
		provider + `/token","device_url":"` + provider + `/device/auth","access_token_env":"TUNES_ACCESS_TOKEN",
   "client_id_env":"TUNES_CLIENT_ID","client_secret_env":"TUNES_CLIENT_SECRET","rotation":true,"authorize_params":{"prompt":"consent"},
   "scopes":[{"name":"openid","label":"Who you are"},{"name":"offline_access","label":"Read while you are away"},{"name":"private","label":"Private lists","optional":true}]}},
 "streams":[{"name":"plays","semantics":"append_only","schema":{"type":"object","properties":{"id":{"type":"string"}}},"primary_key":["id"]}]}`))
	if err != nil {
		panic(err) // a worker has no test
	}
	return m
}

var testKey = credential.NewKey()

type bed struct {
	*providerauth.Keeper
	store    store.Store
	provider *oidctest.Server
	source   providerauth.SignInSource
}

func keeper(st store.Store) *providerauth.Keeper {
	return &providerauth.Keeper{Store: st, Key: func() (credential.Key, error) { return testKey, nil },
		Lookup: func(name string) (string, bool) {
			v, ok := map[string]string{"TUNES_CLIENT_ID": oidctest.ClientID, "TUNES_CLIENT_SECRET": oidctest.ClientSecret}[name]
			return v, ok
		}}
}

func newBed(t *testing.T, p *oidctest.Server) *bed {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pdpp.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	b := &bed{Keeper: keeper(st), store: st, provider: p}
	b.source = providerauth.SignInSource{ConnectionID: connection, ConnectorID: "tunes", Manifest: tunes(p.URL)}
	connect(t, st)
	return b
}

func connect(t testing.TB, st store.Store) {
	t.Helper()
	now := time.Now()
	err := st.CreateConnection(context.Background(),
		store.Connection{ID: connection, ConnectorID: "tunes", DisplayName: "Tunes", Status: store.ConnectionActive,
			SourceKind: store.SourceAccount, CreatedAt: now, UpdatedAt: now})
	if err != nil {
		t.Fatal(err)
	}
}

// answer is what the provider sent back.
func answer(back url.Values) providerauth.ProviderAnswer {
	return providerauth.ProviderAnswer{Code: back.Get("code"), Error: back.Get("error"), Scope: back.Get("scope")}
}

const redirect = "http://127.0.0.1:65000/oauth/callback"

// signIn goes the way of the redirect.
func (b *bed) signIn(t *testing.T) providerauth.Done {
	t.Helper()
	begun, err := b.Begin(t.Context(), b.source, "session mara", redirect, nil)
	if err != nil {
		t.Fatal(err)
	}
	back := b.provider.Consent(t, begun.URL, redirect)
	done, err := b.Finish(t.Context(), b.source, back.Get("state"), "session mara", answer(back))
	if err != nil {
		t.Fatal(err)
	}
	return done
}
