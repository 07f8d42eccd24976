package launch

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

func init() {
	roles["asks for a fresh token"] = func(c *connector) {
		fmt.Fprintln(os.Stderr, "given "+os.Getenv("SAMPLE_ACCESS")+" and "+os.Getenv("SAMPLE_CLIENT_SECRET"))
		for _, v := range os.Environ() {
			if strings.Contains(v, "refresh-of-mara") || strings.Contains(v, "secret-of-the-app") {
				c.say(&protocol.Done{Status: protocol.DoneFailed, Error: &protocol.DoneError{Code: "sees_too_much"}})
				os.Exit(1)
			}
		}
		c.say(&protocol.CredentialRequest{RequestID: "c1", Reason: protocol.CredentialExpired})
		answer, _ := c.hear().(*protocol.CredentialResponse)
		if os.Getenv("SAMPLE_ACCESS") != "access-1" || answer == nil || answer.Values["SAMPLE_ACCESS"] != "access-2" ||
			len(answer.Values) != 1 || os.Getenv("SAMPLE_CLIENT_ID") != "app" {
			c.say(&protocol.Done{Status: protocol.DoneFailed, Error: &protocol.DoneError{Code: "another_token"}})
			os.Exit(1)
		}
		c.say(&protocol.Done{Status: protocol.DoneSucceeded})
		os.Exit(0)
	}
}

// A run of a connection with a sign-in at the provider gets the access token, and a fresh one on request. It never
// gets the refresh token or the app's secret, and stores neither. Without a sign-in, or after it ended, nothing
// starts.
func TestTokensOfARun(t *testing.T) {
	b, key := newBed(t), credential.NewKey()
	var asked atomic.Int32
	withdrawn := false
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if withdrawn {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return
		}
		fmt.Fprintf(w, `{"access_token":"access-%d","token_type":"Bearer","expires_in":3600,`+
			`"refresh_token":"refresh-of-mara-%d"}`, n+1, n+1)
	}))
	defer provider.Close()
	m := sample(t)
	m.Setup = &manifest.Setup{Modality: manifest.ModalityProviderAuth,
		DeploymentConfig: []string{"SAMPLE_CLIENT_ID", "SAMPLE_CLIENT_SECRET"},
		OAuth: &manifest.OAuth{AuthorizeURL: provider.URL, TokenURL: provider.URL, AccessTokenEnv: "SAMPLE_ACCESS",
			ClientIDEnv: "SAMPLE_CLIENT_ID", ClientSecretEnv: "SAMPLE_CLIENT_SECRET", ClientIDForConnector: true}}
	b.env["SAMPLE_CLIENT_ID"], b.env["SAMPLE_CLIENT_SECRET"] = "app", "secret-of-the-app"
	run := func() RunResult {
		t.Helper()
		l := b.launcher(t, "asks for a fresh token")
		found, err := l.Connectors.Find(t.Context(), "sample")
		if err != nil {
			t.Fatal(err)
		}
		found.Manifest = m
		l.Connectors = catalog.Fixed(found)
		l.Tokens = &providerauth.Keeper{Store: b.store, Key: func() (credential.Key, error) { return key, nil },
			Lookup: l.Lookup}
		r, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(); r.Status != runner.Failed || r.Failure.Reason != ReasonNotSignedIn || r.ExitCode != -1 {
		t.Errorf("without a sign-in: %s, %+v", r.Status, r.Failure)
	}
	now := time.Now()
	ends := now.Add(time.Hour)
	first := credential.Tokens{Access: credential.NewSecret("access-1"),
		Refresh: credential.NewSecret("refresh-of-mara-1"), Lifetime: time.Hour}
	err := b.store.PutCredential(t.Context(), store.Credential{ConnectionID: connection, Kind: "access_token",
		Sealed: first.SealFor(key, connection), Status: store.CredentialActive,
		CapturedAt: now, Refresh: store.Refresh{Renewable: true, ExpiresAt: &ends}})
	if err != nil {
		t.Fatal(err)
	}
	r := run()
	mustSucceed(t, r)
	row := b.row(t, r.RunID)
	events, err := b.store.RunEvents(t.Context(), r.RunID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"access-1", "access-2", "refresh-of-mara", "secret-of-the-app"} {
		if strings.Contains(fmt.Sprintf("%+v %+v %+v", row, events, r), never) {
			t.Errorf("%s is left behind", never)
		}
	}
	withdrawn = true
	past := now.Add(-time.Hour)
	err = b.store.PutCredential(t.Context(), store.Credential{ConnectionID: connection, Kind: "access_token",
		Sealed: first.SealFor(key, connection), Status: store.CredentialActive,
		CapturedAt: now, Refresh: store.Refresh{Renewable: true, ExpiresAt: &past}})
	if err != nil {
		t.Fatal(err)
	}
	before := asked.Load()
	for range 2 {
		if r := run(); r.Status != runner.Failed || r.Failure.Reason != ReasonSignInEnded || r.DoneError == nil ||
			r.DoneError.RecoveryHint.Action != protocol.RefreshCredentials {
			t.Errorf("after it was withdrawn: %s, %+v", r.Status, r.Failure)
		}
	}
	if c := b.standing(t); c.Status != store.CredentialRejected || c.RejectionReason != providerauth.ReasonWithdrawn ||
		asked.Load() != before+1 {
		t.Errorf("recorded as %s %s after %d requests", c.Status, c.RejectionReason, asked.Load()-before)
	}
}
