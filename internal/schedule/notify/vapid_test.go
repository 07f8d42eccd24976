package notify

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
)

func TestVAPIDKeysAreMadeOnce(t *testing.T) {
	m, key := &memory{}, credential.NewKey()
	got := make([]VAPID, 6)
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() {
			var err error
			if got[i], err = LoadVAPID(t.Context(), m, key, "", noon); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, v := range got {
		if v.Public != got[0].Public || !v.Private.Equal(got[0].Private) || v.Public == "" {
			t.Fatalf("keys differ: %v", got)
		}
	}
	private := got[0].Private.Reveal()
	if raw, err := decodeBase64(private); err != nil || bytes.Contains(m.settings[VAPIDSetting], raw) ||
		strings.Contains(string(m.settings[VAPIDSetting]), private) {
		t.Error("the private key is kept in the clear")
	}
	if text := fmt.Sprintf("%+v", got[0]); strings.Contains(text, private) {
		t.Errorf("printed as %s", text)
	}
	if _, err := LoadVAPID(t.Context(), m, credential.NewKey(), "", noon); !errors.Is(err, credential.ErrWrongKey) {
		t.Errorf("with another key: %v", err)
	}
}

func TestGivenVAPIDKeys(t *testing.T) {
	a, err := LoadVAPID(t.Context(), &memory{}, credential.NewKey(), "", noon)
	if err != nil {
		t.Fatal(err)
	}
	b, err := LoadVAPID(t.Context(), &memory{}, credential.NewKey(), "", noon)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := decodeBase64(a.Public)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := NewVAPID(base64.StdEncoding.EncodeToString(raw), a.Private, "https://lantern.example"); err != nil ||
		v.Public != a.Public {
		t.Errorf("a given pair: %v, %v", v, err)
	}
	for name, c := range map[string]struct {
		public  string
		private credential.Secret
		subject string
	}{
		"pair": {b.Public, a.Private, ""}, "subject": {a.Public, a.Private, "ann@lantern.example"},
		"no private": {a.Public, credential.Secret{}, ""},
		"no public":  {"", a.Private, ""}, "not base64": {a.Public, credential.NewSecret("sword fish"), ""},
	} {
		_, err := NewVAPID(c.public, c.private, c.subject)
		var e *usererr.Error
		if !errors.As(err, &e) || e.Code != "web_push_keys_invalid" || strings.Contains(err.Error(), "sword") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSubject(t *testing.T) {
	for _, c := range []struct{ given, base, want string }{
		{"mailto:ann@lantern.example", "https://pdpp.lantern.example", "mailto:ann@lantern.example"},
		{"", "https://pdpp.lantern.example", "https://pdpp.lantern.example"},
		{"", "http://127.0.0.1:8080", "https://example.org"}, {"", "https://localhost:8443", "https://example.org"},
		{"", "", "https://example.org"},
	} {
		if got := (VAPID{Subject: c.given}).subject(c.base); got != c.want {
			t.Errorf("subject(%q, %q) = %q, want %q", c.given, c.base, got, c.want)
		}
	}
}
