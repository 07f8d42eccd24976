package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	recoveryCodes  = 10
	recoveryGroups = 4 // of four letters: 80 bits
)

// MakeRecoveryCodes creates codes that each sign in once, and returns them once. Only their digests are stored. Older
// codes become invalid.
func (d *Auth) MakeRecoveryCodes(ctx context.Context) ([]string, error) {
	codes, hashes := make([]string, recoveryCodes), make([][]byte, recoveryCodes)
	for i := range codes {
		codes[i] = groupLetters(randomText(recoveryGroups*groupSize*5/8), recoveryGroups)
		hashes[i] = secretDigest(plainCode(codes[i]))
	}
	if err := d.store.PutRecoveryCodes(ctx, hashes, d.now()); err != nil {
		return nil, fmt.Errorf("keep the codes: %w", err)
	}
	return codes, nil
}

// RecoveryCodes returns how many were created last, and how many are left.
func (d *Auth) RecoveryCodes(ctx context.Context) (store.RecoveryCodes, error) {
	codes, err := d.store.RecoveryCodes(ctx)
	if err != nil {
		return codes, fmt.Errorf("count the codes: %w", err)
	}
	return codes, nil
}

// plainCode is a code as it was made, however it was typed.
func plainCode(typed string) string {
	alike := strings.NewReplacer("-", "", " ", "", "o", "0", "i", "1", "l", "1")
	return alike.Replace(strings.ToLower(typed))
}

// Recover opens a session for a valid code and uses it up. Guesses are throttled like passwords.
func (d *Auth) Recover(w http.ResponseWriter, r *http.Request, code string) error {
	err := d.recover(w, r, code)
	d.record(signInContext(r, err), audit.Entry{Kind: audit.SignIn, Object: string(ByRecoveryCode)}, err)
	return err
}

func (d *Auth) recover(w http.ResponseWriter, r *http.Request, code string) error {
	key, known, err := d.attemptKey(r)
	if err != nil {
		return err
	}
	left, wait := d.tries.Admit(key, known, d.now())
	if wait > 0 {
		return tooManyTries(wait)
	}
	hash, err := d.storedHash(r.Context())
	if err == nil {
		err = d.store.UseRecoveryCode(r.Context(), secretDigest(plainCode(code)), d.now())
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		refusal := wrongPassword(left)
		refusal.Code, refusal.Param = CodeWrongCode, "code"
		refusal.Message = strings.Replace(refusal.Message, "That password is not right.",
			"That code is not right, or was used before.", 1)
		return refusal
	case err != nil:
		d.tries.Unused(key)
		return fmt.Errorf("spend the code: %w", err)
	}
	d.tries.Succeeded(key)
	return d.openSession(w, r, hash, ByRecoveryCode)
}
