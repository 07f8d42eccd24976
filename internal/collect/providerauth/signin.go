package providerauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// redirectTime is how long the owner may take at the provider.
const redirectTime = 15 * time.Minute

// Begun is a sign-in that waits for the owner.
type Begun struct {
	// State identifies the sign-in in the provider's answer. Only the session that began it can finish it.
	State string
	// URL is where the owner goes: to consent, or to enter UserCode.
	URL string
	// UserCode is entered on any device; empty where the answer comes by redirect.
	UserCode string
	// Every is how often it may be asked whether a code was entered.
	Every     time.Duration
	ExpiresAt time.Time
}

// pending is what finishes a sign-in, sealed.
type pending struct {
	Redirect   string   `json:"redirect,omitempty"`
	Verifier   string   `json:"verifier,omitempty"`
	DeviceCode string   `json:"device_code,omitempty"`
	EverySec   int64    `json:"every_seconds,omitempty"`
	Scopes     []string `json:"scopes"`
}

// Done is a sign-in that worked.
type Done struct {
	ConnectionID string
	// Missing are the labels of what was asked for and not allowed.
	Missing []string
}

// Begin begins a sign-in with an answer by redirect to one of our addresses. It leaves out optional scopes that are
// not in wanted; nil requests all.
func (k *Keeper) Begin(ctx context.Context, s SignInSource, binder, redirect string, wanted []string) (Begun, error) {
	o := s.Manifest.OAuth()
	if o.AuthorizeURL == "" {
		return Begun{}, refusal(http.StatusConflict, CodeNoWay, s.Manifest.DisplayName+" has no page to sign in on.",
			"Sign in with a code instead.")
	}
	app, err := k.App(ctx, s)
	if err != nil {
		return Begun{}, err
	}
	p := pending{Redirect: redirect}
	if p.Scopes, err = scopes(o, wanted); err != nil {
		return Begun{}, err
	}
	now := k.now()
	begun := Begun{State: randomSecret(), ExpiresAt: now.Add(redirectTime)}
	var more []oauth2.AuthCodeOption
	for name, value := range o.AuthorizeParams {
		more = append(more, oauth2.SetAuthURLParam(name, value))
	}
	if len(p.Scopes) > 0 {
		more = append(more, oauth2.SetAuthURLParam("scope", strings.Join(p.Scopes, scopeSeparator(o))))
	}
	if o.UsesPKCE() {
		p.Verifier = oauth2.GenerateVerifier()
		more = append(more, oauth2.S256ChallengeOption(p.Verifier))
	}
	begun.URL = config(o, app, redirect).AuthCodeURL(begun.State, more...)
	return begun, k.storeCredential(ctx, s, binder, begun, p)
}

// BeginCode begins a sign-in with a code that the owner enters on any device.
func (k *Keeper) BeginCode(ctx context.Context, s SignInSource, binder string, wanted []string) (Begun, error) {
	o := s.Manifest.OAuth()
	if o.DeviceURL == "" {
		return Begun{}, refusal(http.StatusConflict, CodeNoWay, s.Manifest.DisplayName+" offers no codes.",
			"Sign in on its page instead.")
	}
	app, err := k.App(ctx, s)
	if err != nil {
		return Begun{}, err
	}
	p := pending{}
	if p.Scopes, err = scopes(o, wanted); err != nil {
		return Begun{}, err
	}
	c := config(o, app, "")
	var more []oauth2.AuthCodeOption
	if len(p.Scopes) > 0 {
		more = append(more, oauth2.SetAuthURLParam("scope", strings.Join(p.Scopes, scopeSeparator(o))))
	}
	now := k.now()
	if c.Endpoint.AuthStyle == oauth2.AuthStyleInParams && c.ClientSecret != "" {
		more = append(more, oauth2.SetAuthURLParam("client_secret", c.ClientSecret))
	}
	code, err := c.DeviceAuth(k.callingAs(ctx, s, c), more...)
	if err != nil {
		return Begun{}, k.exchangeFailed(s, answered(err))
	}
	p.DeviceCode, p.EverySec = code.DeviceCode, max(code.Interval, 1)
	begun := Begun{State: randomSecret(), URL: code.VerificationURI, UserCode: code.UserCode,
		Every: time.Duration(p.EverySec) * time.Second, ExpiresAt: code.Expiry}
	if begun.ExpiresAt.IsZero() {
		begun.ExpiresAt = now.Add(redirectTime)
	}
	return begun, k.storeCredential(ctx, s, binder, begun, p)
}

// scopes are what is asked for.
func scopes(o *manifest.OAuth, wanted []string) ([]string, error) {
	out := []string{}
	for _, name := range wanted {
		if !slices.ContainsFunc(o.Scopes, func(s manifest.OAuthScope) bool { return s.Name == name }) {
			return nil, refusal(http.StatusBadRequest, CodeScope, "The connector does not ask for "+name+".", "Leave it out.")
		}
	}
	for _, s := range o.Scopes {
		if !s.Optional || wanted == nil || slices.Contains(wanted, s.Name) {
			out = append(out, s.Name)
		}
	}
	return out, nil
}

func (k *Keeper) storeCredential(ctx context.Context, s SignInSource, binder string, begun Begun, p pending) error {
	key, err := k.Key()
	if err != nil {
		return fmt.Errorf("load the key that seals credentials: %w", err)
	}
	b, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode the sign-in: %w", err)
	}
	mark := markOf(begun.State)
	return k.Store.PutSignIn(ctx, store.SignIn{Mark: mark, Binder: binder, ConnectionID: s.ConnectionID,
		Sealed: key.Seal(signInPlace(mark), b), ExpiresAt: begun.ExpiresAt}, k.now())
}

// Whose returns the connection of a sign-in without finishing it, or store.ErrNotFound when this binder has none.
func (k *Keeper) Whose(ctx context.Context, state, binder string) (string, error) {
	now := k.now()
	s, err := k.Store.PollSignIn(ctx, markOf(state), binder, now, now)
	if errors.Is(err, store.ErrWaiting) {
		err = nil
	}
	return s.ConnectionID, err
}

// ProviderAnswer is what the provider sent the owner back with.
type ProviderAnswer struct {
	Code  string
	Error string // the protocol's word for a refusal; empty when there was none
	// Scope is what the owner allowed, if the provider reports it here; most report it with the tokens.
	Scope string
}

// Finish exchanges the code that came with the answer. A sign-in is used once, whatever comes of it.
func (k *Keeper) Finish(ctx context.Context, s SignInSource, state, binder string, a ProviderAnswer) (Done, error) {
	now := k.now()
	kept, err := k.Store.TakeSignIn(ctx, markOf(state), binder, now)
	if errors.Is(err, store.ErrNotFound) || err == nil && kept.ConnectionID != s.ConnectionID {
		return Done{}, notBegun()
	}
	if err != nil {
		return Done{}, fmt.Errorf("find the sign-in: %w", err)
	}
	if a.Error == "access_denied" {
		return Done{}, declined(s)
	}
	p, err := k.openCredential(kept)
	if err != nil {
		return Done{}, err
	}
	if a.Error != "" || a.Code == "" || p.Redirect == "" {
		return Done{}, refusal(http.StatusBadGateway, CodeRefused, s.Manifest.DisplayName+" did not let this server in.",
			"Try again; if it stays so, look at the app's registration there.")
	}
	app, err := k.App(ctx, s)
	if err != nil {
		return Done{}, err
	}
	var more []oauth2.AuthCodeOption
	if p.Verifier != "" {
		more = append(more, oauth2.VerifierOption(p.Verifier))
	}
	t, err := config(s.Manifest.OAuth(), app, p.Redirect).Exchange(k.exchangeContext(ctx, s), a.Code,
		more...)
	if err != nil {
		return Done{}, k.exchangeFailed(s, answered(err))
	}
	return k.storeTokens(ctx, s, t, p, a.Scope)
}

// Poll asks once whether the owner has entered the code; false means not yet. It asks no more often
// than the provider lets it.
func (k *Keeper) Poll(ctx context.Context, s SignInSource, state, binder string) (Done, bool, error) {
	now := k.now()
	mark := markOf(state)
	kept, err := k.Store.PollSignIn(ctx, mark, binder, now.Add(time.Second), now)
	switch {
	case errors.Is(err, store.ErrWaiting):
		return Done{}, false, nil
	case errors.Is(err, store.ErrNotFound), err == nil && kept.ConnectionID != s.ConnectionID:
		return Done{}, false, notBegun()
	case err != nil:
		return Done{}, false, fmt.Errorf("find the sign-in: %w", err)
	}
	p, err := k.openCredential(kept)
	if err != nil {
		return Done{}, false, err
	}
	if p.DeviceCode == "" {
		return Done{}, false, nil // its answer comes by redirect
	}
	app, err := k.App(ctx, s)
	if err != nil {
		return Done{}, false, err
	}
	every := time.Duration(p.EverySec) * time.Second
	t, err := config(s.Manifest.OAuth(), app, "").Exchange(k.exchangeContext(ctx, s), "",
		oauth2.SetAuthURLParam("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
		oauth2.SetAuthURLParam("device_code", p.DeviceCode))
	if err == nil {
		if _, err := k.Store.TakeSignIn(ctx, mark, binder, k.now()); err != nil {
			return Done{}, false, notBegun()
		}
		done, err := k.storeTokens(ctx, s, t, p, "")
		return done, err == nil, err
	}
	var refusal *answerError
	err = answered(err)
	if !errors.As(err, &refusal) {
		return Done{}, false, nil // no answer: the code is still good
	}
	switch refusal.Code {
	case "authorization_pending":
	case "slow_down":
		every += 5 * time.Second
	case "access_denied":
		_, _ = k.Store.TakeSignIn(ctx, mark, binder, k.now()) // it is over, found or not
		return Done{}, false, declined(s)
	default:
		if refusal.Status >= http.StatusInternalServerError || refusal.Status == http.StatusTooManyRequests {
			break
		}
		_, _ = k.Store.TakeSignIn(ctx, mark, binder, k.now()) // it is over, found or not
		return Done{}, false, k.exchangeFailed(s, err)
	}
	_, err = k.Store.PollSignIn(ctx, mark, binder, k.now().Add(every), now.Add(time.Second))
	if err != nil && !errors.Is(err, store.ErrWaiting) {
		return Done{}, false, fmt.Errorf("note when to ask again: %w", err)
	}
	return Done{}, false, nil
}

func (k *Keeper) openCredential(kept store.SignIn) (p pending, err error) {
	key, err := k.Key()
	if err != nil {
		return p, fmt.Errorf("load the key that seals credentials: %w", err)
	}
	text, err := key.Open(signInPlace(kept.Mark), kept.Sealed)
	if err != nil {
		return p, err
	}
	if json.Unmarshal(text, &p) != nil {
		return p, credential.ErrDamaged // not of the decoder's making: its text would show what it met
	}
	return p, nil
}

// storeTokens stores the tokens of a sign-in before they can be used. scope is what the owner allowed, for tokens
// that do not report it.
func (k *Keeper) storeTokens(
	ctx context.Context,
	s SignInSource,
	t *oauth2.Token,
	p pending,
	scope string,
) (Done, error) {
	key, err := k.Key()
	if err != nil {
		return Done{}, fmt.Errorf("load the key that seals credentials: %w", err)
	}
	now := k.now()
	made := mergeTokens(t, s.Manifest.OAuth(), credential.Tokens{Scope: scope})
	err = k.Store.PutCredential(context.WithoutCancel(ctx),
		store.Credential{ConnectionID: s.ConnectionID, Kind: string(manifest.CredentialAccessToken),
			Sealed: made.SealFor(key, s.ConnectionID), Fingerprint: made.Fingerprint(key), Status: store.CredentialActive,
			CapturedAt: now, Refresh: refreshStatus(made, now)})
	if err != nil {
		return Done{}, fmt.Errorf("store the sign-in: %w", err)
	}
	return Done{ConnectionID: s.ConnectionID, Missing: missingScopes(s.Manifest.OAuth(), p.Scopes, made.Scope)}, nil
}

// exchangeFailed returns the error of a failed exchange in words for the owner.
func (k *Keeper) exchangeFailed(s SignInSource, err error) error {
	var reported *answerError
	name := s.Manifest.DisplayName
	switch {
	case !errors.As(err, &reported):
		f := refusal(http.StatusBadGateway, CodeNoAnswer, name+" did not answer. Nothing is kept.", "Try again.")
		f.Err = err
		return f
	case reported.Code == "invalid_client" || reported.Code == "unauthorized_client":
		f := refusal(http.StatusBadGateway, CodeRefused, name+" does not know this server's app.",
			"Look at its number and secret, and at the return address there.")
		f.Err = err
		return f
	case reported.Code == "expired_token":
		return refusal(http.StatusGone, CodeNotBegun, "The code has run out.", "Show a new one.")
	default:
		f := refusal(http.StatusBadGateway, CodeRefused, name+" did not let this server in.",
			"Try again; if it stays so, look at the app's registration there.")
		f.Err = err
		return f
	}
}

func notBegun() error {
	return refusal(http.StatusGone, CodeNotBegun,
		"This answer came too late, was opened twice, or belongs to another sign-in; it was not used.", "Start again.")
}

func declined(s SignInSource) error {
	return refusal(http.StatusForbidden, CodeDeclined,
		"You declined at "+s.Manifest.DisplayName+", so nothing was connected and nothing is kept.",
		"Try again when you want to.")
}

func signInPlace(mark string) string { return "sign_in/" + mark }

// randomSecret returns a text that cannot be guessed.
func randomSecret() string { return rand.Text() + rand.Text() }

// markOf is what is kept of a secret.
func markOf(state string) string {
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:])
}
