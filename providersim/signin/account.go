package signin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// Account is one person who can sign in.
type Account struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Email    string `json:"email"`
	Password string `json:"password"`
	Locked   bool   `json:"locked"`
}

// Step is the second step after the password.
type Step string

const (
	None  Step = "none"
	TOTP  Step = "totp"  // a code of six digits that changes every half minute
	Email Step = "email" // a code that was sent
	Push  Step = "push"  // an approval on a phone, sent through the control port
)

var secondSteps = []Step{None, TOTP, Email, Push}

// maxWrongAttempts is how many wrong passwords or codes lock an account.
const maxWrongAttempts = 5

// derivedText derives an unguessable text.
func derivedText(key, purpose string, n int) string {
	m := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(m, "%s %d", purpose, n)
	return hex.EncodeToString(m.Sum(nil)[:20])
}

// totpCode is the code of an account at a moment.
func totpCode(key, account string, at time.Time) string {
	m := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(m, "totp %s %d", account, at.Unix()/30)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(m.Sum(nil))%1_000_000)
}
