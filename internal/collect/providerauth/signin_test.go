package providerauth_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/providerauth"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/quality/oidctest"
)

func code(err error) string {
	var f *usererr.Error
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

// Every sign-in flow leads to a token that the provider accepts. An answer is valid once, for the session that began
// the sign-in. A refusal leaves nothing.
func TestSignIn(t *testing.T) {
	t.Parallel()
	provider := oidctest.Start(t, oidctest.Options{TokenSeconds: 600, Withheld: "private"})
	t.Run("redirect", func(t *testing.T) {
		b := newBed(t, provider)
		begun, err := b.Begin(t.Context(), b.source, "session mara", redirect, nil)
		if err != nil {
			t.Fatal(err)
		}
		back := provider.Consent(t, begun.URL, redirect)
		if back.Get("state") != begun.State || back.Get("code") == "" {
			t.Fatalf("comes back with %v", back)
		}
		if _, err := b.Finish(t.Context(), b.source, begun.State, "session of another",
			answer(back)); code(err) != providerauth.CodeNotBegun {
			t.Errorf("somebody else's browser: %v", err)
		}
		if _, err := b.Finish(t.Context(), b.source, begun.State+"x", "session mara",
			answer(back)); code(err) != providerauth.CodeNotBegun {
			t.Errorf("another state: %v", err)
		}
		done, err := b.Finish(t.Context(), b.source, begun.State, "session mara", answer(back))
		if err != nil || done.ConnectionID != connection || len(done.Missing) != 1 || done.Missing[0] != "Private lists" {
			t.Fatalf("finished: %+v, %v", done, err)
		}
		if _, err := b.Finish(t.Context(), b.source, begun.State, "session mara",
			answer(back)); code(err) != providerauth.CodeNotBegun {
			t.Errorf("a second time: %v", err)
		}
		got, err := b.Access(t.Context(), b.source, 0)
		if err != nil || !provider.Accepts(t, got.Token.Reveal()) || time.Since(got.CapturedAt) > time.Hour {
			t.Errorf("the token of %v is not accepted: %v", got.CapturedAt, err)
		}
	})
	t.Run("code", func(t *testing.T) {
		b := newBed(t, provider)
		more := []string{"private", "everything"}
		if _, err := b.BeginCode(t.Context(), b.source, "session mara", more); code(err) != providerauth.CodeScope {
			t.Errorf("more than the connector asks for: %v", err)
		}
		begun, err := b.BeginCode(t.Context(), b.source, "session mara", []string{})
		if err != nil || begun.UserCode == "" {
			t.Fatalf("%+v, %v", begun, err)
		}
		shift := time.Duration(0)
		b.Now = func() time.Time { return time.Now().Add(shift) }
		if _, ended, err := b.Poll(t.Context(), b.source, begun.State, "session mara"); ended || err != nil {
			t.Fatalf("before the code is entered: %v, %v", ended, err)
		}
		before := provider.Log(t).Requests
		if _, ended, err := b.Poll(t.Context(), b.source, begun.State, "session mara"); ended || err != nil ||
			provider.Log(t).Requests != before {
			t.Fatalf("asked again within the interval: %v", err)
		}
		if _, _, err := b.Poll(t.Context(), b.source, begun.State,
			"session of another"); code(err) != providerauth.CodeNotBegun {
			t.Errorf("somebody else: %v", err)
		}
		provider.Enter(t, begun.URL, begun.UserCode)
		shift = begun.Every + time.Second
		done, ended, err := b.Poll(t.Context(), b.source, begun.State, "session mara")
		if err != nil || !ended || len(done.Missing) != 0 { // the optional one was not asked for
			t.Fatalf("after it: %+v, %v, %v", done, ended, err)
		}
		if got, err := b.Access(t.Context(), b.source, 0); err != nil || !provider.Accepts(t, got.Token.Reveal()) {
			t.Errorf("the token is not accepted: %v", err)
		}
	})
	t.Run("declined", func(t *testing.T) {
		b := newBed(t, provider)
		provider.Decline(t, true)
		defer provider.Decline(t, false)
		begun, err := b.Begin(t.Context(), b.source, "session mara", redirect, nil)
		if err != nil {
			t.Fatal(err)
		}
		back := provider.Consent(t, begun.URL, redirect)
		if _, err := b.Finish(t.Context(), b.source, back.Get("state"), "session mara",
			answer(back)); code(err) != providerauth.CodeDeclined {
			t.Errorf("declined: %v", err)
		}
		if _, err := b.store.Credential(t.Context(), connection); err == nil {
			t.Error("something is kept")
		}
	})
}

// TestPoll holds what each answer to a code means, how long the next request waits, and that a sign-in which is
// over is asked for no more.
func TestPoll(t *testing.T) {
	t.Parallel()
	b := newBed(t, &oidctest.Server{URL: "https://tunes.example"})
	asks := b.source.Manifest.OAuth()
	asks.Scopes = asks.Scopes[:1]
	began, shift := time.Now(), time.Duration(0)
	b.Now = func() time.Time { return began.Add(shift) }
	message := ""
	provider := &memory{answer: func() (*http.Response, error) {
		status, body, _ := strings.Cut(message, " ")
		n, err := strconv.Atoi(status)
		if err != nil {
			return nil, errors.New("no route")
		}
		return &http.Response{StatusCode: n, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body))}, nil
	}}
	b.Transport = provider
	for _, sequence := range [][]struct {
		after  time.Duration
		text   string
		code   string // of the error; empty: not yet
		silent bool   // the provider is not asked
		words  string // in the error
	}{
		{{text: `400 {"error":"authorization_pending"}`}, {after: 4 * time.Second, silent: true},
			{after: time.Second, text: `400 {"error":"slow_down"}`}, {after: 9 * time.Second, silent: true},
			{after: time.Second, text: "500 {}"}, {after: 5 * time.Second, text: "429 {}"},
			{after: 5 * time.Second, text: "lost"},
			{after: 5 * time.Second, text: `400 {"error":"expired_token"}`, code: providerauth.CodeNotBegun},
			{after: 5 * time.Second, code: providerauth.CodeNotBegun, silent: true}},
		{{text: `400 {"error":"access_denied"}`, code: providerauth.CodeDeclined},
			{after: 5 * time.Second, code: providerauth.CodeNotBegun, silent: true}},
		{{text: `401 {"error":"invalid_client"}`, code: providerauth.CodeRefused, words: "does not know this server's app"},
			{after: 5 * time.Second, code: providerauth.CodeNotBegun, silent: true}},
		{{text: `400 {"error":"unauthorized_client"}`, code: providerauth.CodeRefused, words: "does not know"}},
		{{text: `400 {"error":"invalid_grant"}`, code: providerauth.CodeRefused, words: "did not let this server in"}},
	} {
		message = `200 {"device_code":"d","user_code":"U","verification_uri":"https://tunes.example/code",` +
			`"expires_in":600,"interval":5}`
		begun, err := b.BeginCode(t.Context(), b.source, "session mara", nil)
		if err != nil || provider.form.Get("scope") != "openid" {
			t.Fatalf("asks for %v, %v", provider.form, err)
		}
		for i, step := range sequence {
			shift, message = shift+step.after, step.text
			before := len(provider.asked)
			_, ended, err := b.Poll(t.Context(), b.source, begun.State, "session mara")
			if ended || code(err) != step.code || (len(provider.asked) == before) != step.silent ||
				!strings.Contains(fmt.Sprint(err), step.words) {
				t.Errorf("step %d, %q: ended %v, %v, %d requests", i, step.text, ended, err, len(provider.asked)-before)
			}
		}
	}
	begun, err := b.Begin(t.Context(), b.source, "session mara", redirect, nil)
	if err != nil || !strings.Contains(begun.URL, "scope=openid") {
		t.Fatalf("asks with %s, %v", begun.URL, err)
	}
	if _, ended, err := b.Poll(t.Context(), b.source, begun.State, "session mara"); ended || err != nil {
		t.Errorf("a sign-in by redirect: ended %v, %v", ended, err)
	}
	message = "lost"
	if _, err := b.Finish(t.Context(), b.source, begun.State, "session mara",
		providerauth.ProviderAnswer{Code: "c"}); code(err) != providerauth.CodeNoAnswer {
		t.Errorf("no answer to the exchange: %v", err)
	}
}

// TestApp holds that an entered registration is kept sealed and without the spaces of a copy, and that one
// without a number, or too long to be one, is rejected.
func TestApp(t *testing.T) {
	t.Parallel()
	b := newBed(t, &oidctest.Server{URL: "https://tunes.example"})
	b.Lookup = nil
	if _, err := b.App(t.Context(), b.source); code(err) != providerauth.CodeNoApp {
		t.Errorf("without a registration: %v", err)
	}
	for _, id := range []string{"", " \n", strings.Repeat("x", 4096)} {
		if err := b.SetApp(t.Context(), b.source, id, "s"); code(err) != providerauth.CodeNoApp {
			t.Errorf("%.5q: %v", id, err)
		}
	}
	if err := b.SetApp(t.Context(), b.source, " number\n", "\tsecret "); err != nil {
		t.Fatal(err)
	}
	app, err := b.App(t.Context(), b.source)
	if err != nil || app.ID != "number" || app.Secret.Reveal() != "secret" || app.Fixed {
		t.Errorf("%q, %v", app.ID, err)
	}
}
