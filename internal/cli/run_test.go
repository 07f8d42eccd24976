package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/sqlite"
	"pdpp/internal/keep/store/sqlite/sqlitetest"
)

// A connection that the owner has revoked does not collect again by accident.
func TestRunRefusesRevokedConnection(t *testing.T) {
	home := t.TempDir()
	st, err := sqlite.Open(t.Context(), sqlitetest.Fresh(t, filepath.Join(home, databaseFile)), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	env, out, errOut := testEnv(t, nil, "run", "cin_pear_1", "--home", home)
	err = st.CreateConnection(t.Context(), store.Connection{
		ID: "cin_pear_1", ConnectorID: "pear", DisplayName: "Pear", Status: store.ConnectionRevoked,
		SourceKind: store.SourceAccount, CreatedAt: env.Now(), UpdatedAt: env.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if code := Main(env); code != ExitFailed || out.Len() > 0 || !strings.Contains(errOut.String(), "connection cin_pear_1 was revoked") {
		t.Errorf("code %d, out %q, err %q", code, out, errOut)
	}
}
