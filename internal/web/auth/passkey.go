package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const settingHandle = "owner_passkey_handle"

// holder is the owner as passkeys know them.
type holder struct {
	handle []byte
	keys   []store.Passkey // of one host
	creds  []webauthn.Credential
}

func (h *holder) WebAuthnID() []byte                         { return h.handle }
func (h *holder) WebAuthnName() string                       { return "owner" }
func (h *holder) WebAuthnDisplayName() string                { return "PDPP owner" }
func (h *holder) WebAuthnCredentials() []webauthn.Credential { return h.creds }

// holder reads the owner's passkeys for a host.
func (d *Auth) holder(ctx context.Context, host string) (*holder, error) {
	handle, err := d.settingOnce(ctx, settingHandle, func() []byte { return []byte(randomText(40)) })
	if err != nil {
		return nil, fmt.Errorf("read the owner's handle: %w", err)
	}
	all, err := d.Passkeys(ctx)
	if err != nil {
		return nil, err
	}
	h := &holder{handle: handle}
	for _, k := range all {
		var c webauthn.Credential
		if k.Host != host {
			continue
		}
		if err := json.Unmarshal(k.Credential, &c); err != nil {
			return nil, fmt.Errorf("read passkey %s: %w", k.ID, err)
		}
		h.keys, h.creds = append(h.keys, k), append(h.creds, c)
	}
	return h, nil
}

// Passkeys lists all, the newest first.
func (d *Auth) Passkeys(ctx context.Context) ([]store.Passkey, error) {
	all, err := d.store.Passkeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the passkeys: %w", err)
	}
	return all, nil
}

// RemovePasskey ends a passkey at once; store.ErrNotFound when there is none.
func (d *Auth) RemovePasskey(ctx context.Context, id string) error {
	if err := d.store.DropPasskey(ctx, id); err != nil {
		return fmt.Errorf("remove the passkey: %w", err)
	}
	return nil
}

// originOf is the origin of an address; empty when it is none.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// PasskeysAt reports whether a passkey can be used at the request's address: it needs a host name, with TLS or on
// this machine.
func (d *Auth) PasskeysAt(r *http.Request) bool {
	u, err := url.Parse("//" + r.Host)
	if err != nil {
		return false
	}
	own, _ := url.Parse(d.origin)
	if d.origin != "" && strings.EqualFold(u.Hostname(), own.Hostname()) {
		return own.Scheme == "https" && isName(own.Hostname()) || isLocalhost(own.Hostname())
	}
	return isLocalhost(u.Hostname()) || r.TLS != nil && d.origin == "" && isName(u.Hostname())
}

func isLocalhost(host string) bool { return strings.EqualFold(host, "localhost") }

func isName(host string) bool {
	_, err := netip.ParseAddr(host)
	return err != nil
}

// ownLocalhost reports whether an origin of localhost is that of the listener which the request came to: a
// page of another program on this machine has another port.
func ownLocalhost(r *http.Request, origin *url.URL) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || !isLocalhost(origin.Hostname()) || (origin.Scheme == "https") != (r.TLS != nil) {
		return false
	}
	_, port, err := net.SplitHostPort(local.String())
	usual := map[string]string{"http": "80", "https": "443"}[origin.Scheme]
	return err == nil && cmp.Or(origin.Port(), usual) == port
}

// relyingParty is this server as the passkeys of a request know it. The origin is that of PDPP_BASE_URL,
// or of this listener.
func (d *Auth) relyingParty(r *http.Request) (*webauthn.WebAuthn, string, error) {
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || origin != d.origin && !ownLocalhost(r, u) && !(d.origin == "" && r.TLS != nil) ||
		!isName(u.Hostname()) {
		return nil, "", invalidInput("", CodePasskey, "Passkeys do not work at this address.",
			"Open this server by its name: that of PDPP_BASE_URL, or http://localhost.")
	}
	party, err := webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: "PDPP", RPOrigins: []string{origin},
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, "", fmt.Errorf("describe this server: %w", err)
	}
	return party, u.Hostname(), nil
}

// challenge is what a browser's passkey is asked.
type challenge struct {
	PublicKey any    `json:"publicKey"`
	Ceremony  string `json:"ceremony"`
}

// begin makes a challenge.
func (d *Auth) begin(r *http.Request, to purpose, by string) (challenge, error) {
	party, host, err := d.relyingParty(r)
	if err != nil {
		return challenge{}, err
	}
	ctx := r.Context()
	var options any
	var asked *webauthn.SessionData
	if to == toAdd {
		owner, err := d.holder(ctx, host)
		if err != nil {
			return challenge{}, err
		}
		creation, data, err := party.BeginRegistration(owner,
			webauthn.WithExclusions(webauthn.Credentials(owner.creds).CredentialDescriptors()))
		if err != nil {
			return challenge{}, fmt.Errorf("make a challenge: %w", err)
		}
		options, asked = creation.Response, data
	} else {
		// The request lists no keys, so that callers do not learn which ones exist.
		assertion, data, err := party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
		if err != nil {
			return challenge{}, fmt.Errorf("make a challenge: %w", err)
		}
		options, asked = assertion.Response, data
	}
	sealed, err := d.seal(ctx, ceremony{For: to, By: by, Asked: *asked})
	return challenge{options, sealed}, err
}

// response is a passkey's answer.
type response struct {
	Ceremony   string          `json:"ceremony"`
	Credential json.RawMessage `json:"credential"`
	Label      string          `json:"label"` // of a new passkey
}

func unproven() *usererr.Error {
	return &usererr.Error{Status: http.StatusUnauthorized, Code: CodePasskey, Message: "That passkey was not accepted.",
		Next: "Try again, or use your password."}
}

// add keeps a new passkey.
func (d *Auth) add(r *http.Request, a response, by string) error {
	party, host, err := d.relyingParty(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	label, err := passkeyLabel(a.Label, browserWords(r.UserAgent()))
	if err != nil {
		return err
	}
	c, ok, err := d.unseal(ctx, a.Ceremony, toAdd, by)
	if err != nil {
		return err
	}
	answer, parseErr := protocol.ParseCredentialCreationResponseBytes(a.Credential)
	if !ok || parseErr != nil {
		return unproven()
	}
	owner, err := d.holder(ctx, host)
	if err != nil {
		return err
	}
	made, err := party.CreateCredential(owner, c.Asked, answer)
	if err != nil || !d.spent.spend(c.Asked.Challenge, c.Expires, d.now()) {
		return unproven()
	}
	kept, err := json.Marshal(made)
	if err != nil {
		return fmt.Errorf("keep the passkey: %w", err)
	}
	k := store.Passkey{ID: "pk_" + randomText(10), Host: host, Label: label, Credential: kept, CreatedAt: d.now()}
	if err := d.store.CreatePasskey(ctx, k); err != nil {
		return fmt.Errorf("keep the passkey: %w", err)
	}
	d.record(ctx, audit.Entry{Kind: audit.PasskeyAdd, Object: k.ID, ObjectName: k.Label}, nil)
	return nil
}

// prove checks the answer of one of the owner's passkeys.
func (d *Auth) prove(r *http.Request, a response, to purpose, by string) error {
	party, host, err := d.relyingParty(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	c, ok, err := d.unseal(ctx, a.Ceremony, to, by)
	if err != nil {
		return err
	}
	answer, parseErr := protocol.ParseCredentialRequestResponseBytes(a.Credential)
	if !ok || parseErr != nil {
		return unproven()
	}
	owner, err := d.holder(ctx, host)
	if err != nil {
		return err
	}
	used, err := party.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		if string(handle) != string(owner.handle) {
			return nil, errors.New("the passkey is somebody else's")
		}
		return owner, nil
	}, c.Asked, answer)
	if err != nil || used.Authenticator.CloneWarning || !d.spent.spend(c.Asked.Challenge, c.Expires, d.now()) {
		return unproven()
	}
	kept, err := json.Marshal(used)
	if err != nil {
		return fmt.Errorf("keep the passkey: %w", err)
	}
	for i, known := range owner.creds {
		if string(known.ID) == string(used.ID) {
			if err := d.store.UsePasskey(ctx, owner.keys[i].ID, kept, d.now()); err != nil {
				return fmt.Errorf("note the use of the passkey: %w", err)
			}
			return nil
		}
	}
	return unproven()
}

// passkeyLabel is what a passkey is called; by default as the browser that added it.
func passkeyLabel(given, browser string) (string, error) {
	if strings.TrimSpace(given) == "" {
		return browser, nil
	}
	return validLabel(given, "A passkey needs a name.")
}
