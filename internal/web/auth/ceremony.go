package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A passkey answers a challenge. What was asked is not kept here but goes to the browser
// and comes back with the answer, under a seal: a visitor who begins and never answers
// leaves nothing behind.

// purpose is what a passkey is asked for.
type purpose string

const (
	toAdd     purpose = "add"
	toSignIn  purpose = "sign_in"
	toConfirm purpose = "confirm"
)

// ceremonyTime is how long an answer may take.
const ceremonyTime = 5 * time.Minute

// ceremony is a challenge that waits for its answer.
type ceremony struct {
	For     purpose
	By      string // the session that began it; empty for a visitor
	Asked   webauthn.SessionData
	Expires time.Time
}

const settingCeremonyKey = "owner_ceremony_key"

func (d *Auth) ceremonyKey(ctx context.Context) ([]byte, error) {
	key, err := d.settingOnce(ctx, settingCeremonyKey, func() []byte {
		made := make([]byte, 32)
		_, _ = rand.Read(made) // never fails
		return made
	})
	if err != nil {
		return nil, fmt.Errorf("read the key of challenges: %w", err)
	}
	return key, nil
}

// settingOnce reads a setting, and writes it only where there is none: strangers cause no writes.
func (d *Auth) settingOnce(ctx context.Context, name string, make func() []byte) ([]byte, error) {
	value, err := d.store.Setting(ctx, name)
	if errors.Is(err, store.ErrNotFound) || err == nil && len(value) == 0 {
		return d.store.InitSetting(ctx, name, make(), d.now())
	}
	return value, err
}

func computeMAC(key, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(body)
	return h.Sum(nil)
}

// seal encodes a ceremony so that the browser cannot change it.
func (d *Auth) seal(ctx context.Context, c ceremony) (string, error) {
	key, err := d.ceremonyKey(ctx)
	if err != nil {
		return "", err
	}
	c.Expires = d.now().Add(ceremonyTime)
	body, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("seal the challenge: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(computeMAC(key, body)),
		nil
}

// unseal decodes the output of seal. It returns false if the text is not ours, expired or was begun for another
// purpose. The caller that accepts the answer spends its challenge.
func (d *Auth) unseal(ctx context.Context, text string, want purpose, by string) (c ceremony, ok bool, err error) {
	key, err := d.ceremonyKey(ctx)
	if err != nil {
		return c, false, err
	}
	first, second, _ := strings.Cut(text, ".")
	body, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		return c, false, nil
	}
	sum, err := base64.RawURLEncoding.DecodeString(second)
	if err != nil || !hmac.Equal(sum, computeMAC(key, body)) || json.Unmarshal(body, &c) != nil {
		return c, false, nil
	}
	if c.For != want || c.By != by || !d.now().Before(c.Expires) {
		return c, false, nil
	}
	return c, true, nil
}

// spentChallenges remembers the challenges that were answered rightly, for as long as they could
// be answered again. Nothing that a stranger sends gets here.
type spentChallenges struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// mostSpent limits the memory; further callers wait until older challenges expire.
const mostSpent = 4096

func (s *spentChallenges) spend(challenge string, until, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, end := range s.until {
		if !now.Before(end) {
			delete(s.until, c)
		}
	}
	if _, before := s.until[challenge]; before || len(s.until) >= mostSpent {
		return false
	}
	if s.until == nil {
		s.until = map[string]time.Time{}
	}
	s.until[challenge] = until
	return true
}
