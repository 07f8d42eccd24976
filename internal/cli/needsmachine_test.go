package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// With a saved login, a command about this machine prints a note to standard error. Standard output stays unchanged for
// scripts.
func TestKeptLoginIsNotedBesideTheAnswer(t *testing.T) {
	s := newStatusShop(t)
	s.must(os.WriteFile(filepath.Join(s.home, "remote.json"),
		[]byte(`{"url":"https://kept.example","token":"pdpp_ot_kept"}`), 0o600))
	for _, form := range [][]string{nil, {"--json"}} {
		env, out, errOut := testEnvironment(t, map[string]string{"HOME": t.TempDir(), "PDPP_HOME": s.home},
			append([]string{"support", "cin_well"}, form...)...)
		if code := Main(env); code != failure.ExitOK || !strings.HasPrefix(out.String(), "{") ||
			strings.Contains(out.String(), "kept.example") {
			t.Errorf("%v: exit %d\n%s%s", form, code, out, errOut)
		}
		if want := "note: this is about " + s.home +
			" on this machine, not about https://kept.example\n"; errOut.String() != want {
			t.Errorf("%v: noted %q, want %q", form, errOut, want)
		}
	}
}
