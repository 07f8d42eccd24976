package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite/sqlitetest"
)

// TestRunRefuses holds that what the owner has revoked does not collect again by accident, and that a device's source
// is not collected from the server's own files. A full refresh would take what is not among them for deleted.
func TestRunRefuses(t *testing.T) {
	for words, conn := range map[string]store.Connection{
		"connection cin_pear_1 was revoked":        {Status: store.ConnectionRevoked, SourceKind: store.SourceAccount},
		"One of your devices collects cin_pear_1.": {Status: store.ConnectionActive, SourceKind: store.SourceLocalDevice},
	} {
		home := t.TempDir()
		st, err := sqlite.Open(t.Context(), sqlitetest.NewDatabase(t, filepath.Join(home, "pdpp.db")), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		env, out, errOut := testEnvironment(t, nil, "run", "cin_pear_1", "--full-refresh", "--home", home)
		conn.ID, conn.ConnectorID, conn.DisplayName = "cin_pear_1", "pear", "Pear"
		conn.CreatedAt, conn.UpdatedAt = env.Now(), env.Now()
		if err := st.CreateConnection(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if code := Main(env); code == failure.ExitOK || out.Len() > 0 || !strings.Contains(errOut.String(), words) {
			t.Errorf("%s: code %d, out %q, err %q", words, code, out, errOut)
		}
	}
}
