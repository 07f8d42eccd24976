package auth

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"

	"github.com/alexedwards/argon2id"
)

// HashCost is what a guess at a password costs.
type HashCost struct {
	MemoryKiB, Passes uint32
}

// usualCost is the smallest setting that OWASP lists for argon2id: a small server that
// idles in 32 MiB can pay it, one at a time.
var usualCost = HashCost{MemoryKiB: 19 * 1024, Passes: 2}

func (c HashCost) params() *argon2id.Params {
	return &argon2id.Params{Memory: c.MemoryKiB, Iterations: c.Passes, Parallelism: 1, SaltLength: 16, KeyLength: 32}
}

const (
	maxHashing = 1
	maxWaiting = 16
)

// acquireHashing waits for the right to hash. Callers beyond the first few are refused, so
// that a crowd of strangers costs neither memory nor time.
func (d *Auth) acquireHashing(ctx context.Context) (release func(), err error) {
	select {
	case d.waiting <- struct{}{}:
	default:
		return nil, &usererr.Error{
			Status: http.StatusTooManyRequests, Code: CodeTooManyTries, RetryAfter: time.Second,
			Message: "Too many people are signing in at this moment.", Next: "Try again in a second.",
		}
	}
	defer func() { <-d.waiting }()
	select {
	case d.hashing <- struct{}{}:
		return func() { <-d.hashing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d *Auth) hashPassword(ctx context.Context, password string) (string, error) {
	release, err := d.acquireHashing(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	hash, err := argon2id.CreateHash(password, d.cost.params())
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return hash, nil
}

// passwordMatches compares in a time that does not depend on how much of the password is right.
func (d *Auth) passwordMatches(ctx context.Context, password, hash string) (bool, error) {
	if len(password) > maxPassword {
		return false, nil
	}
	release, err := d.acquireHashing(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	ok, err := argon2id.ComparePasswordAndHash(password, hash)
	if err != nil {
		return false, fmt.Errorf("compare the password: %w", err)
	}
	return ok, nil
}

// passwordMark identifies a stored password without revealing it. A session contains the mark of the password that
// opened it.
func passwordMark(hash string) string { return hex.EncodeToString(secretDigest(hash)[:16]) }
