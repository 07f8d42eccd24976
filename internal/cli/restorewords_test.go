package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// A backup that is sealed for a recipient has no sender: restoring one names that.
func TestRestoreNamesBackupsWithoutSender(t *testing.T) {
	dir := t.TempDir()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key.txt"), []byte(identity.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	vars := map[string]string{"PDPP_HOME": at("home")}
	pdpp := func(args ...string) string {
		t.Helper()
		env, out, errOut := testEnvironment(t, vars, args...)
		env.Stdin = strings.NewReader("a heron in the shallows\n")
		if code := Main(env); code != failure.ExitOK {
			t.Fatalf("%v: %d %s", args, code, errOut)
		}
		return out.String()
	}
	pdpp("password", "--stdin")
	pdpp("backup", at("sealed"), "--recipient", identity.Recipient().String())
	pdpp("backup", at("plain"), "--plain")
	const words = "Anybody who knows the recipient could have made this file. Set a new password"
	if message := pdpp("restore", at("sealed"), "--identity", at("key.txt"), "--to", at("one")); !strings.Contains(message,
		words) {
		t.Errorf("of a recipient's: %s", message)
	}
	if text := pdpp("restore", at("plain"), "--plain", "--to", at("two")); strings.Contains(text, words) {
		t.Errorf("without a seal: %s", text)
	}
}
