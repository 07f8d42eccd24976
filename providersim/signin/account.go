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

// Step is what is asked for after the password.
type Step string

const (
	None  Step = "none"
	TOTP  Step = "totp"  // a code of six digits that changes every half minute
	Email Step = "email" // a code that was sent
	Push  Step = "push"  // an approval on a phone, given by the control port
)

var steps = []Step{None, TOTP, Email, Push}

// maxWrong is how many wrong passwords or codes lock an account.
const maxWrong = 5

// digest derives an unguessable text.
func digest(key, purpose string, n int) string {
	m := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(m, "%s %d", purpose, n)
	return hex.EncodeToString(m.Sum(nil)[:20])
}

// totp is the code of an account at a moment.
func totp(key, account string, at time.Time) string {
	m := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(m, "totp %s %d", account, at.Unix()/30)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(m.Sum(nil))%1_000_000)
}
