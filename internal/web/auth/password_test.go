package auth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

func freshAuth(t *testing.T) (*auth.Auth, auth.Store) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(t.TempDir(), "pdpp.db")), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return auth.New(auth.Config{Store: st, Now: time.Now, HashCost: cheap}), st
}

// Each guess at a stored password costs 19 MiB and two passes.
func TestPasswordsRestExpensively(t *testing.T) {
	_, st := freshAuth(t)
	if _, err := auth.New(auth.Config{Store: st, Now: time.Now}).Setup(t.Context(), password); err != nil {
		t.Fatal(err)
	}
	hash, err := st.Setting(t.Context(), "owner_password_hash")
	if err != nil || !strings.HasPrefix(string(hash), "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("%s, %v", hash, err)
	}
}

func TestFirstStartShowsAPasswordOnce(t *testing.T) {
	guard, st := freshAuth(t)
	shown, err := guard.Setup(t.Context(), "")
	if err != nil || !regexp.MustCompile(`^([0-9a-hjkmnp-tv-z]{4}-){4}[0-9a-hjkmnp-tv-z]{4}$`).MatchString(shown) {
		t.Fatalf("%q, %v", shown, err)
	}
	if chosen, err := guard.Chosen(t.Context()); err != nil || chosen {
		t.Errorf("chosen %v, %v", chosen, err)
	}
	again, err := auth.New(auth.Config{Store: st, Now: time.Now}).Setup(t.Context(), "")
	if err != nil || again != "" {
		t.Errorf("the second start shows %q, %v", again, err)
	}
	if err := guard.SignIn(httptest.NewRecorder(), httptest.NewRequest("POST", "/login", nil), shown); err != nil {
		t.Errorf("what was shown is not the password: %v", err)
	}
	if err := guard.SetPassword(t.Context(), "another long one", false); err != nil {
		t.Error(err)
	}
	if chosen, err := guard.Chosen(t.Context()); err != nil || !chosen {
		t.Errorf("chosen %v, %v", chosen, err)
	}
}

// Of many processes that start at once one makes the password, and it is the one
// that counts.
func TestOnePasswordIsMade(t *testing.T) {
	_, st := freshAuth(t)
	var mu sync.Mutex
	var shown []string
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			word, err := auth.New(auth.Config{Store: st, Now: time.Now}).Setup(t.Context(), "")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if word != "" {
				shown = append(shown, word)
			}
		})
	}
	all.Wait()
	if len(shown) != 1 {
		t.Fatalf("shown: %d", len(shown))
	}
	if err := auth.New(auth.Config{Store: st, Now: time.Now}).SignIn(httptest.NewRecorder(),
		httptest.NewRequest("POST", "/login", nil), shown[0]); err != nil {
		t.Error(err)
	}
}

func TestGivenPassword(t *testing.T) {
	b := newBed(t)
	c := b.signedIn()
	if _, err := b.auth.Setup(t.Context(), password); err != nil || !b.inside(c) {
		t.Errorf("the same password ended the session: %v", err)
	}
	if _, err := b.auth.Setup(t.Context(), ""); err != nil || !b.inside(c) {
		t.Errorf("no password ended the session: %v", err)
	}
	var refusal *usererr.Error
	for word, code := range map[string]string{"seven77": auth.CodePasswordShort, "          ": auth.CodePasswordShort,
		string(make([]byte, 1025)): auth.CodePasswordLong} {
		if _, err := b.auth.Setup(t.Context(), word); !errors.As(err, &refusal) || refusal.Code != code ||
			refusal.Next == "" {
			t.Errorf("%q: %v", word[:7], err)
		}
	}
	if !b.inside(c) {
		t.Error("a refused password ended the session")
	}
	if _, err := b.auth.Setup(t.Context(), "eight888"); err != nil {
		t.Fatal(err)
	}
	if b.inside(c) {
		t.Error("another password did not end the session")
	}
	if a := b.signIn(browser(), password); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("the old password: %d", a.StatusCode)
	}
	if a := b.signIn(browser(), "eight888"); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the new password: %d", a.StatusCode)
	}
}

func TestChangeEndsOtherSessions(t *testing.T) {
	b := newBed(t)
	mine, other := b.signedIn(), b.signedIn()
	change := func(next string) answer {
		return b.request("POST", "/_ref/password").sending("next", next).by(mine)
	}
	if a := change("short"); a.StatusCode != http.StatusForbidden || !b.inside(other) {
		t.Fatalf("short: %d %s", a.StatusCode, a.body)
	}
	if a := change("a new password"); a.StatusCode != http.StatusOK {
		t.Fatalf("change: %d %s", a.StatusCode, a.body)
	}
	if !b.inside(mine) || b.inside(other) {
		t.Error("the wrong session ended")
	}
	b.later(6 * day)
	if !b.inside(mine) {
		t.Error("the session that changed it did not last")
	}
}

// A session belongs to the password that opened it, whether or not its row is gone.
func TestSessionOfAnOldPasswordIsRefused(t *testing.T) {
	b := newBed(t)
	c := b.signedIn()
	if err := b.auth.SetPassword(t.Context(), "a new password", false); err != nil {
		t.Fatal(err)
	}
	_ = b.signIn(c, "a new password")
	hash, err := b.st.Setting(t.Context(), "owner_password_hash")
	if err != nil || !b.inside(c) {
		t.Fatal("not signed in", err)
	}
	// Another process writes a password, and is killed before it ends the sessions.
	if err := b.st.PutSetting(t.Context(), "owner_password_hash", append(hash, 'A'), b.now()); err != nil {
		t.Fatal(err)
	}
	if b.inside(c) {
		t.Error("the session outlives its password")
	}
}
