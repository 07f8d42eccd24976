package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who is signed in elsewhere and asks about this machine is told so, a script too: what it
// reads stays as it is.
func TestKeptLoginIsNotedBesideTheAnswer(t *testing.T) {
	s := newStatusShop(t)
	s.must(os.WriteFile(filepath.Join(s.home, remoteFile), []byte(`{"url":"https://kept.example","token":"pdpp_ot_kept"}`), 0o600))
	for _, form := range [][]string{nil, {"--json"}} {
		env, out, errOut := testEnv(t, map[string]string{"HOME": t.TempDir(), "PDPP_HOME": s.home}, append([]string{"support", "cin_well"}, form...)...)
		if code := Main(env); code != ExitOK || !strings.HasPrefix(out.String(), "{") || strings.Contains(out.String(), "kept.example") {
			t.Errorf("%v: exit %d\n%s%s", form, code, out, errOut)
		}
		if want := "note: this is about " + s.home + " on this machine, not about https://kept.example\n"; errOut.String() != want {
			t.Errorf("%v: noted %q, want %q", form, errOut, want)
		}
	}
}
