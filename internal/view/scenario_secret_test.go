package view_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/view"
)

// secret returns a value like those that sources leak. Secrets that look like a plain lower-case word are excluded,
// because they cannot be distinguished from codes.
func (m *maker) secret() string {
	const base62 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	text := func(n, of int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = base62[m.IntN(of)]
		}
		return string(b)
	}
	word := text(9, 26)
	switch m.IntN(9) {
	case 0:
		return "ghp_" + text(36, 62)
	case 1:
		return "sk-" + text(20, 26)
	case 2:
		return "Bearer " + text(30, 62)
	case 3:
		return fmt.Sprintf("%06d", m.IntN(1_000_000))
	case 4:
		return pick(m, "password:", "token:", "api_key:", "otp:") + word
	case 5:
		return "password=" + word
	case 6:
		return "https://" + word + ":pw@files.example/" + word
	case 7:
		return fmt.Sprintf("%08x-%04x-%04x-%012x", m.Uint32(), m.IntN(1<<16), m.IntN(1<<16), m.Int64N(1<<48))
	default:
		return text(40, 26)
	}
}

// TestNoSecretIsShown puts secrets into every free text of the evidence, including names of machines and connections,
// with and without a harmless code before them.
//
//pdpp:tier unraced
func TestNoSecretIsShown(t *testing.T) {
	forMany(t, 8_000, func(i uint64) (*evidence.Evidence, error) {
		m := newMaker(5, i)
		m.trouble = 0.5
		planted := map[string]string{}
		m.words = func(field string, usual ...string) string {
			if m.chance(0.3) {
				return pick(m, usual...)
			}
			s := m.secret()
			planted[s] = field
			return pick(m, "", "failure:", "error.", "upstream_") + s
		}
		e := m.evidence()
		c := view.Judge(e, judgedAt, true)
		shown, err := json.Marshal([]any{c.Health.Conditions, c.Health.ReasonCode, c.Health.DominantID,
			c.Health.SupportingIDs, c.Health.Backlog, c.Verdict})
		if err != nil {
			return e, err
		}
		for s, field := range planted {
			if strings.Contains(string(shown), s) {
				return e, fmt.Errorf("the %s %q is shown: %s", field, s, shown)
			}
		}
		return e, nil
	})
}
