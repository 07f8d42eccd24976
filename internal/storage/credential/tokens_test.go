package credential_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/credential"
)

// TestTokens checks that tokens open unchanged for their connection only, and never as variables of a connector.
func TestTokens(t *testing.T) {
	made := credential.Tokens{Access: credential.NewSecret("access-of-mara"),
		Refresh: credential.NewSecret("refresh-of-mara"), Lifetime: time.Hour, Scope: "read"}
	sealed := made.SealFor(testKey, "cin_1")
	got, err := credential.OpenTokens(testKey, "cin_1", sealed)
	if err != nil || got.Access.Reveal() != "access-of-mara" || got.Refresh.Reveal() != "refresh-of-mara" ||
		got.Lifetime != time.Hour || got.Scope != "read" {
		t.Fatalf("opened as %+v, %v", got, err)
	}
	if _, err := credential.OpenTokens(testKey, "cin_2", sealed); !errors.Is(err, credential.ErrDamaged) {
		t.Errorf("opens for another connection: %v", err)
	}
	if v, err := credential.OpenFor(testKey, "cin_1", sealed); !errors.Is(err, credential.ErrDamaged) || v != nil {
		t.Errorf("opens as variables: %v", err)
	}
	values := credential.Values{"A": credential.NewSecret("b")}.SealFor(testKey, "cin_1")
	if _, err := credential.OpenTokens(testKey, "cin_1", values); !errors.Is(err, credential.ErrDamaged) {
		t.Errorf("variables open as tokens: %v", err)
	}
	if text := fmt.Sprintf("%v %+v %s", made, made, made.Fingerprint(testKey)); strings.Contains(text, "mara") {
		t.Errorf("printed as %q", text)
	}
}
