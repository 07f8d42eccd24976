package settings

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// desk is the arrangements over a real database.
type desk struct {
	*ownertest.Workspace
	*Settings
}

func newDesk(t *testing.T, change ...func(*Config)) *desk {
	t.Helper()
	h := ownertest.NewWorkspace(t)
	made := credential.NewKey()
	key := func() (credential.Key, error) { return made, nil }
	c := Config{
		Store: h.Store, Key: key, Opening: key, GrantService: grants.NewService(h.Store, "https://pdpp.lantern.example",
			h.Now),
		Access: auth.New(auth.Config{Store: h.Store, Now: h.Now}), Base: "https://pdpp.lantern.example", Now: h.Now,
	}
	for _, f := range change {
		f(&c)
	}
	return &desk{h, New(c)}
}

// hook is the owner's webhook.
type hook struct {
	status int
	bodies []string
	signed []string
}

func (h *hook) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	h.bodies, h.signed = append(h.bodies, string(body)), append(h.signed, r.Header.Get("Pdpp-Signature"))
	return &http.Response{StatusCode: h.status, Body: http.NoBody, Request: r}, nil
}

func TestPushTargets(t *testing.T) {
	t.Parallel()
	h := &hook{status: http.StatusNoContent}
	d := newDesk(t, func(c *Config) { c.HTTP = &http.Client{Transport: h} })
	_, err := d.TestPush(d.Ctx(), "")
	ownertest.WantError(t, err, codeNoTarget, "")
	_, err = d.TestPush(d.Ctx(), "tgt_none")
	ownertest.WantError(t, err, codeNoTarget, "")
	added, err := d.AddPushTarget(d.Ctx(),
		api.NewPushTarget{Kind: "webhook", Label: "Hook", Endpoint: "https://hook.lantern.example/secret-path",
			Secret: "moss"})
	d.Must(err)
	if added.Host != "hook.lantern.example" || added.Label != "Hook" {
		t.Errorf("target %+v", added)
	}
	if tests, err := d.TestPush(d.Ctx(), ""); err != nil || len(tests) != 1 ||
		tests[0] != (api.PushTest{Target: added.ID, Label: "Hook"}) {
		t.Errorf("tests %+v, %v", tests, err)
	}
	if len(h.bodies) != 1 || !strings.Contains(h.bodies[0], `"test"`) || h.signed[0] == "" {
		t.Errorf("pushes %q, signed %q", h.bodies, h.signed)
	}
	h.status = http.StatusGone
	tests, err := d.TestPush(d.Ctx(), added.ID)
	d.Must(err)
	if len(tests) != 1 || tests[0].Error == nil || strings.Contains(tests[0].Error.Message, "secret-path") {
		t.Errorf("a target that is gone took the test, or the error tells its address: %+v", tests)
	}
	_, err = d.AddPushTarget(d.Ctx(),
		api.NewPushTarget{Kind: "webhook", Endpoint: "https://hook.lantern.example/secret-path"})
	ownertest.WantError(t, err, "push_target_exists", "endpoint")
	_, err = d.AddPushTarget(d.Ctx(), api.NewPushTarget{Kind: "pigeon", Endpoint: "https://hook.lantern.example/other"})
	ownertest.WantError(t, err, "push_target_invalid", "")
	_, err = d.AddPushTarget(d.Ctx(), api.NewPushTarget{Kind: "webhook", Label: strings.Repeat("x", 200),
		Endpoint: "https://hook.lantern.example/other"})
	ownertest.WantError(t, err, api.CodeInvalid, "label")
	if all, err := d.PushTargets(d.Ctx()); err != nil || len(all) != 1 || all[0].ID != added.ID {
		t.Errorf("targets %+v, %v", all, err)
	}
	d.Must(d.DeletePushTarget(d.Ctx(), added.ID))
	ownertest.WantError(t, d.DeletePushTarget(d.Ctx(), added.ID), api.CodeNotFound, "")
}

func TestQuietHours(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if got, err := d.QuietHours(d.Ctx()); err != nil || got != "" {
		t.Errorf("quiet hours %q, %v", got, err)
	}
	d.Must(d.SetQuietHours(d.Ctx(), "22:00-07:00 Europe/Berlin"))
	if got, err := d.QuietHours(d.Ctx()); err != nil || got != "22:00-07:00 Europe/Berlin" {
		t.Errorf("quiet hours %q, %v", got, err)
	}
	ownertest.WantError(t, d.SetQuietHours(d.Ctx(), "at night"), "quiet_hours_invalid", "")
	d.Must(d.SetQuietHours(d.Ctx(), ""))
	if got, err := d.QuietHours(d.Ctx()); err != nil || got != "" {
		t.Errorf("quiet hours %q, %v", got, err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	made, secret, err := d.CreateToken(d.Ctx(), api.NewToken{Label: "Laptop"})
	d.Must(err)
	if !strings.HasPrefix(secret, made.Prefix) || len(made.Prefix) > 16 {
		t.Errorf("token %+v", made)
	}
	d.Must(d.RevokeToken(d.Ctx(), made.ID))
	all, err := d.Tokens(d.Ctx())
	d.Must(err)
	if len(all) != 1 || all[0].Label != "Laptop" || all[0].RevokedAt == nil {
		t.Errorf("tokens %+v", all)
	}
	ownertest.WantError(t, d.RevokeToken(d.Ctx(), "ot_none"), api.CodeNotFound, "")
	_, _, err = d.CreateToken(d.Ctx(), api.NewToken{})
	ownertest.WantError(t, err, "invalid_label", "label")
}
