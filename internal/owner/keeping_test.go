package owner

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pdpp/internal/evidence"
	"pdpp/internal/grants"
	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
)

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
	b := newBed(t, func(c *Config) { c.HTTP = &http.Client{Transport: h} })
	wantError(t, b.TestPush(b.ctx()), codeNoTarget, "")
	added, err := b.AddPushTarget(b.ctx(), ownerapi.NewPushTarget{Kind: "webhook", Label: "Hook", Endpoint: "https://hook.lantern.example/secret-path", Secret: "moss"})
	b.must(err)
	if added.Host != "hook.lantern.example" || added.Label != "Hook" {
		t.Errorf("target %+v", added)
	}
	b.must(b.TestPush(b.ctx()))
	if len(h.bodies) != 1 || !strings.Contains(h.bodies[0], `"test"`) || h.signed[0] == "" {
		t.Errorf("pushes %q, signed %q", h.bodies, h.signed)
	}
	h.status = http.StatusGone
	err = b.TestPush(b.ctx())
	wantError(t, err, "push_failed", "")
	if strings.Contains(err.Error(), "secret-path") {
		t.Errorf("the error tells the address: %v", err)
	}
	_, err = b.AddPushTarget(b.ctx(), ownerapi.NewPushTarget{Kind: "webhook", Endpoint: "https://hook.lantern.example/secret-path"})
	wantError(t, err, "push_target_exists", "endpoint")
	_, err = b.AddPushTarget(b.ctx(), ownerapi.NewPushTarget{Kind: "pigeon", Endpoint: "https://hook.lantern.example/other"})
	wantError(t, err, "push_target_invalid", "")
	_, err = b.AddPushTarget(b.ctx(), ownerapi.NewPushTarget{Kind: "webhook", Label: strings.Repeat("x", 200), Endpoint: "https://hook.lantern.example/other"})
	wantError(t, err, ownerapi.CodeInvalid, "label")
	if all, err := b.PushTargets(b.ctx()); err != nil || len(all) != 1 || all[0].ID != added.ID {
		t.Errorf("targets %+v, %v", all, err)
	}
	b.must(b.DeletePushTarget(b.ctx(), added.ID))
	wantError(t, b.DeletePushTarget(b.ctx(), added.ID), ownerapi.CodeNotFound, "")
}

func TestQuietHours(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	if got, err := b.QuietHours(b.ctx()); err != nil || got != "" {
		t.Errorf("quiet hours %q, %v", got, err)
	}
	b.must(b.SetQuietHours(b.ctx(), "22:00-07:00 Europe/Berlin"))
	if got, err := b.QuietHours(b.ctx()); err != nil || got != "22:00-07:00 Europe/Berlin" {
		t.Errorf("quiet hours %q, %v", got, err)
	}
	wantError(t, b.SetQuietHours(b.ctx(), "at night"), "quiet_hours_invalid", "")
	b.must(b.SetQuietHours(b.ctx(), ""))
	if got, err := b.QuietHours(b.ctx()); err != nil || got != "" {
		t.Errorf("quiet hours %q, %v", got, err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	made, secret, err := b.CreateToken(b.ctx(), "Laptop", nil)
	b.must(err)
	if !strings.HasPrefix(secret, made.Prefix) || len(made.Prefix) > 16 {
		t.Errorf("token %+v", made)
	}
	b.must(b.RevokeToken(b.ctx(), made.ID))
	all, err := b.Tokens(b.ctx())
	b.must(err)
	if len(all) != 1 || all[0].Label != "Laptop" || all[0].RevokedAt == nil {
		t.Errorf("tokens %+v", all)
	}
	wantError(t, b.RevokeToken(b.ctx(), "ot_none"), ownerapi.CodeNotFound, "")
	_, _, err = b.CreateToken(b.ctx(), "", nil)
	wantError(t, err, "invalid_label", "label")
}

func TestGrants(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	id := b.connect("trowel").ID
	b.succeed(id)
	made, token, err := b.CreateGrant(b.ctx(), ownerapi.NewGrant{ClientName: "Florist", Purpose: "Advice", Mode: "continuous",
		Streams: []ownerapi.GrantStream{{ConnectionID: id, Stream: "beds", Fields: []string{"name"}}}})
	b.must(err)
	if token == "" || made.Status != "active" || len(made.Streams) != 1 || made.Usage == nil {
		t.Errorf("grant %+v", made)
	}
	b.must(b.RevokeGrant(b.ctx(), made.ID))
	if got, err := b.Grant(b.ctx(), made.ID); err != nil || got.Status != "revoked" {
		t.Errorf("grant %+v, %v", got, err)
	}
	if all, err := b.Grants(b.ctx()); err != nil || len(all) != 1 {
		t.Errorf("grants %+v, %v", all, err)
	}
	_, _, err = b.CreateGrant(b.ctx(), ownerapi.NewGrant{ClientName: "Florist"})
	var e *ownerapi.Error
	if !errors.As(err, &e) || e.Param != "streams" {
		t.Errorf("a grant of nothing: %#v", err)
	}
	wantError(t, b.RevokeGrant(b.ctx(), "gr_none"), ownerapi.CodeNotFound, "")
	_, err = b.GrantRequest(b.ctx(), "gq_none")
	wantError(t, err, ownerapi.CodeNotFound, "")
	_, err = b.Decide(b.ctx(), "gq_none", true)
	wantError(t, err, ownerapi.CodeNotFound, "")
}

// An app asks, the owner reads what for and says yes; the answer goes back to the app.
func TestDecide(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	id := b.connect("trowel").ID
	b.succeed(id)
	app, err := b.Book.Register(b.ctx(), "Florist", []string{"https://florist.lantern.example/back"})
	b.must(err)
	ask := func() string {
		request, err := b.Book.Request(b.ctx(), grants.Ask{ClientID: app.ID, RedirectURI: "https://florist.lantern.example/back", State: "s1",
			CodeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", Purpose: "Advice",
			Wants: []grants.Want{{Stream: grants.Stream{Stream: "beds"}}, {Stream: grants.Stream{Stream: "paths"}}}})
		b.must(err)
		return request
	}
	yes, no := ask(), ask()
	r, err := b.GrantRequest(b.ctx(), yes)
	b.must(err)
	if r.ClientName != "Florist" || r.ReturnsTo != "florist.lantern.example" || len(r.Streams) != 1 || len(r.Missing) != 1 || r.Missing[0] != "paths" {
		t.Errorf("request %+v", r)
	}
	for request, want := range map[string]string{yes: "code=", no: "error=access_denied"} {
		redirect, err := b.Decide(b.ctx(), request, request == yes)
		b.must(err)
		if !strings.HasPrefix(redirect, "https://florist.lantern.example/back?") || !strings.Contains(redirect, want) {
			t.Errorf("the browser goes to %s", redirect)
		}
	}
}

func TestRuntimeAndDevices(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.worker()
	started := b.at
	b.at = b.at.Add(24 * time.Hour)
	r, err := b.Runtime(b.ctx())
	b.must(err)
	if r.Version != "1.0.0" || r.Database != "sqlite" || !r.StartedAt.Equal(started) || len(r.Workers) != 1 || r.Workers[0].Alive {
		t.Errorf("runtime %+v", r)
	}
	b.must(b.Store.PutDevice(b.ctx(), store.Device{ID: "dev_1", DisplayName: "Desk", Status: "active", CreatedAt: b.at, UpdatedAt: b.at}))
	devices, err := b.Devices(b.ctx())
	b.must(err)
	if len(devices) != 1 || devices[0].DisplayName != "Desk" || devices[0].Sources == nil {
		t.Errorf("devices %+v", devices)
	}
}

// planted gives evidence that no database holds.
type planted struct{ all []evidence.Evidence }

func (p planted) Evidence(context.Context, evidence.Query) ([]evidence.Evidence, error) {
	return p.all, nil
}

func (planted) Runtime(context.Context) (evidence.Runtime, error) { return evidence.Runtime{}, nil }

// Connections are judged by the reader that the service is given, word for word.
func TestVerdictsComeFromTheReader(t *testing.T) {
	t.Parallel()
	e := evidence.Evidence{Connection: evidence.Connection{ID: "cin_moon", DisplayName: "Moon", Status: evidence.StatusActive}, Gaps: &evidence.Gaps{}}
	b := newBed(t, func(c *Config) { c.Reader = planted{[]evidence.Evidence{e}} })
	o, err := b.Overview(b.ctx())
	b.must(err)
	why, err := b.Why(b.ctx(), "cin_moon")
	b.must(err)
	if len(o.Connections) != 1 || o.Connections[0].Verdict.ForwardStatement == "" || o.Connections[0].Verdict.ForwardStatement != why.Connection.Verdict.ForwardStatement {
		t.Errorf("overview %+v", o)
	}
	_, err = b.Why(b.ctx(), "cin_none")
	wantError(t, err, ownerapi.CodeNotFound, "")
}

// Trouble of the database is told as what the owner can do about it, without its innards.
func TestStorageFaultsAreTold(t *testing.T) {
	t.Parallel()
	err := told(&store.FaultError{Fault: store.FaultFull, Where: "/home/ada/pdpp.db", Err: errDisk}, "read")
	wantError(t, err, string(store.FaultFull), "")
	if strings.Contains(err.Error(), "ada") {
		t.Errorf("the message tells %q", err)
	}
	if err := told(errDisk, "read the moon"); !errors.Is(err, errDisk) || err.Error() != "read the moon: the disk is on fire" {
		t.Errorf("error %v", err)
	}
}
