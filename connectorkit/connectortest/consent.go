package connectortest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// SignedInHarness is a harness with an owner who signed in at the simulated provider, as the manifest declares it.
type SignedInHarness struct {
	*Harness
	// Missing is what the owner left out, in the words of the manifest.
	Missing []string

	keeper *providerauth.Keeper
}

// SignIn returns a harness for the target. Its owner signs in at the provider at base in place of the one
// that the manifest names. The variables are those of the owner's app there.
func SignIn(t *testing.T, target Target, base string, variables map[string]string) *SignedInHarness {
	t.Helper()
	declared := *target.Connector.Manifest
	setup, oauth := *declared.Setup, *declared.OAuth()
	for _, address := range []*string{&oauth.AuthorizeURL, &oauth.TokenURL} {
		at, err := url.Parse(*address)
		if err != nil {
			t.Fatal(err)
		}
		*address = base + at.Path
	}
	setup.OAuth, declared.Setup = &oauth, &setup
	target.Connector.Manifest = &declared
	key := credential.NewKey()
	s := &SignedInHarness{Harness: NewHarness(t, target)}
	s.keeper = &providerauth.Keeper{Store: s.Store, Key: func() (credential.Key, error) { return key, nil },
		Lookup: func(name string) (string, bool) {
			v, ok := variables[name]
			return v, ok
		}}
	s.giveConsent(t, providerauth.SignInSource{ConnectionID: Connection, ConnectorID: target.Connector.Name,
		Manifest: &declared})
	return s
}

// giveConsent is the owner's way to the provider and back.
func (s *SignedInHarness) giveConsent(t *testing.T, source providerauth.SignInSource) {
	t.Helper()
	const session, back = "session mara", "http://127.0.0.1:9/oauth/callback"
	begun, err := s.keeper.Begin(t.Context(), source, session, back, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(begun.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	to, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(to.String(), back) {
		t.Fatalf("the provider sends the owner to %v, %v", to, err)
	}
	q := to.Query()
	done, err := s.keeper.Finish(t.Context(), source, q.Get("state"), session,
		providerauth.ProviderAnswer{Code: q.Get("code"), Scope: q.Get("scope")})
	if err != nil {
		t.Fatal(err)
	}
	s.Missing = done.Missing
}

// Collect makes one run, with tokens of the owner's sign-in.
func (s *SignedInHarness) Collect(t *testing.T) launch.RunResult {
	t.Helper()
	l := s.Launcher()
	l.Tokens = s.keeper
	r, err := l.Run(t.Context(), launch.RunRequest{ConnectionID: Connection, Trigger: store.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
