package auth_test

import (
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

func TestOwnerToken(t *testing.T) {
	b := newBed(t)
	expires := b.now().Add(time.Hour)
	made, token, err := b.auth.CreateToken(t.Context(), auth.NewToken{Label: " laptop ", ExpiresAt: &expires})
	if err != nil || !strings.HasPrefix(token, "pdpp_ot_") || len(token) != 48 || made.Label != "laptop" ||
		made.Prefix != token[:12] {
		t.Fatalf("%+v, %v", made, err)
	}
	ask := func(path, header string) answer {
		return b.request("GET", path).with("Authorization", header).by(http.DefaultClient)
	}
	if a := ask("/_ref/x", "Bearer "+token); a.body != "owner_token"+made.ID {
		t.Errorf("the token: %d %s", a.StatusCode, a.body)
	}
	if a := ask("/v1/streams", "bearer "+token); a.body != "all" {
		t.Errorf("the data: %d %s", a.StatusCode, a.body)
	}
	all, err := b.auth.Tokens(t.Context())
	if err != nil || len(all) != 1 || all[0].LastUsedAt == nil || !all[0].LastUsedAt.Equal(b.now()) {
		t.Errorf("%+v, %v", all, err)
	}
	for name, header := range map[string]string{
		"another": "Bearer pdpp_ot_" + strings.Repeat("a", 40), "cut": "Bearer " + token[:47], "upper case": "Bearer " +
			strings.ToUpper(token),
		"basic": "Basic " + token, "bare": token, "empty": "Bearer ", "its digest": "Bearer pdpp_ot_" +
			hex.EncodeToString(made.Hash[:20]),
	} {
		a := ask("/_ref/x", header)
		if a.StatusCode != http.StatusUnauthorized || !strings.Contains(a.body, `"code":"authentication_error"`) ||
			!strings.Contains(a.Header.Get("WWW-Authenticate"), `error="invalid_token"`) {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
		if a := ask("/v1/streams", header); a.body != "" {
			t.Errorf("%s reads the data", name)
		}
	}
	b.later(time.Hour)
	if a := ask("/_ref/x", "Bearer "+token); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("expired: %d", a.StatusCode)
	}
}

func TestRevokedTokenIsRefused(t *testing.T) {
	b := newBed(t)
	made, token, err := b.auth.CreateToken(t.Context(), auth.NewToken{Label: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.auth.RevokeToken(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	c := b.signedIn() // a token is judged independently of the session
	if a := b.request("GET", "/_ref/x").with("Authorization",
		"Bearer "+token).by(c); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("revoked: %d", a.StatusCode)
	}
	if a := b.request("GET", "/v1/streams").with("Authorization", "Bearer "+token).by(c); a.body != "" {
		t.Error("it reads the data")
	}
	if err := b.auth.RevokeToken(t.Context(), "ot_nothing"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
}

func TestTokenNeedsANameAndAFuture(t *testing.T) {
	b := newBed(t)
	past := b.now()
	var refusal *usererr.Error
	for name, c := range map[string]struct {
		label   string
		expires *time.Time
		param   string
	}{
		"no name": {" ", nil, "label"}, "long": {strings.Repeat("a", 101), nil, "label"}, "control": {"a\x1bb", nil, "label"},
		"over": {"a", &past, "expires_at"},
	} {
		if _, token, err := b.auth.CreateToken(t.Context(),
			auth.NewToken{Label: c.label, ExpiresAt: c.expires}); !errors.As(err, &refusal) || refusal.Param != c.param ||
			token != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
