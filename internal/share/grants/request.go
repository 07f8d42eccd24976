package grants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Want is a stream that an app asks for. An app knows sources, not the owner's
// connections: without a connection it asks for every one that has the stream.
type Want struct {
	Stream
	Connector string `json:"connector_id,omitempty"` // a connector's id or key; empty means any
	// Profile asks for the streams of a connector's profile instead of one stream.
	Profile string `json:"profile,omitempty"`
}

// Ask is what an app sends before the owner is asked.
type Ask struct {
	ClientID      string
	RedirectURI   string
	State         string
	CodeChallenge string // of PKCE, by S256
	Purpose       string
	Mode          store.GrantMode
	Wants         []Want     // empty lets the owner choose
	ExpiresAt     *time.Time // of the grant
	Audience      Audience
}

// Request is an app's wish as the owner decides on it.
type Request struct {
	ID          string
	ClientID    string
	ClientName  string
	RedirectURI string
	Purpose     string
	Mode        store.GrantMode
	// Scope is what the grant would cover; what else was asked for is in Missing, by name.
	Scope     GrantedStreams
	Missing   []string
	ExpiresAt *time.Time // of the grant, unless the owner chooses another end
	// OwnerChooses means that the app named no streams. Scope is then everything that the owner can choose from, and
	// nothing of it is granted unless the owner names it.
	OwnerChooses bool
}

// RequestLife is how long a request waits for the owner.
const RequestLife = 10 * time.Minute

const maxState = 1024

var challengeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`) })

// Request stores what an app asks for. It does not report whether that exists: an app could find out what the owner
// has connected.
func (b *Service) Request(ctx context.Context, a Ask) (id string, err error) {
	now := b.now().UTC()
	c, err := b.Client(ctx, a.ClientID)
	if err != nil {
		return "", err
	}
	if err := CheckRedirect(c, a.RedirectURI); err != nil {
		return "", err
	}
	if !challengeForm().MatchString(a.CodeChallenge) {
		return "", invalid("code_challenge", "The challenge is not one of S256.",
			"Send the base64url of the SHA-256 of the verifier.")
	}
	if len(a.State) > maxState {
		return "", invalid("state", "The state is too long.", "Send a shorter one.")
	}
	r := store.GrantRequest{
		ID: newID(requestPrefix + string(a.Audience)), ClientID: c.ID, ClientName: c.Name,
		RedirectURI: a.RedirectURI, State: a.State,
		CodeChallenge: a.CodeChallenge, CreatedAt: now, ExpiresAt: now.Add(RequestLife),
	}
	if r.Purpose, err = shown("purpose", a.Purpose, maxPurpose, len(a.Wants) > 0); err != nil {
		return "", err
	}
	if r.Mode, err = modeOf(a.Mode); err != nil {
		return "", err
	}
	if r.GrantExpires, err = future(a.ExpiresAt, now); err != nil {
		return "", err
	}
	if a.Wants == nil {
		a.Wants = []Want{}
	}
	if err := plausible(a.Wants); err != nil {
		return "", err
	}
	if r.Scope, err = json.Marshal(a.Wants); err != nil {
		return "", fmt.Errorf("write request: %w", err)
	}
	if err := b.store.PutGrantRequest(ctx, r); err != nil {
		return "", fmt.Errorf("keep request: %w", err)
	}
	if err := b.clientUsed(ctx, c.ID, false, now); err != nil {
		return "", err
	}
	return r.ID, nil
}

// plausible checks what can be checked without looking at what is connected.
func plausible(wants []Want) error {
	if len(wants) > maxStreams {
		return Refused(CodeInvalidDetails, "streams", fmt.Sprintf("A request names at most %d streams.", maxStreams),
			"Name the streams that the app needs.")
	}
	for _, w := range wants {
		if w.Profile != "" && (len(w.Profile) > maxKey || w.Stream.Stream != "" || len(w.Fields)+len(w.Resources) > 0) {
			return Refused(CodeInvalidDetails, "streams", "A profile of the request says more than its name and its times.",
				"Name the streams instead.")
		}
		if w.Profile == "" && strings.TrimSpace(w.Stream.Stream) == "" || len(w.Stream.Stream) > maxKey ||
			len(w.Fields) > maxFields || len(w.Connector) > maxAddress || len(w.ConnectionID) > maxKey {
			return Refused(CodeInvalidDetails, "streams", "A stream of the request has no name, or says too much.",
				"Name each stream, and at most a few of its fields.")
		}
		if _, err := settleResources(w.Resources); err != nil {
			return err
		}
		if _, err := w.settleRange(); err != nil {
			return err
		}
	}
	return nil
}

// RequestByID returns what an app asks for, as far as it can be granted.
func (b *Service) RequestByID(ctx context.Context, id string) (Request, error) {
	kept, err := b.waiting(ctx, id)
	if err != nil {
		return Request{}, err
	}
	return b.resolve(ctx, kept)
}

// RequestClient names the app of a request that waits, without more.
func (b *Service) RequestClient(ctx context.Context, id string) (clientID string, err error) {
	kept, err := b.waiting(ctx, id)
	return kept.ClientID, err
}

func (b *Service) waiting(ctx context.Context, id string) (store.GrantRequest, error) {
	r, err := b.store.GrantRequest(ctx, id, b.now().UTC())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return r, Refused(CodeNotFound, "", "The request is not there, or has waited too long.", "Start again from the app.")
	case err != nil:
		return r, fmt.Errorf("find request: %w", err)
	case r.DecidedAt != nil:
		return r, errDecided()
	}
	return r, nil
}

func errDecided() error {
	return Refused(CodeAlreadyDecided, "", "The request was answered already.", "Start again from the app.")
}
