package notes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
)

// TestForgottenNotes deletes notes while no bookmark remembers them. With the owner's wish they are deleted here too,
// without it they stay.
func TestForgottenNotes(t *testing.T) {
	for _, wish := range []string{"on", ""} {
		t.Run("delete "+wish, func(t *testing.T) {
			t.Parallel()
			connectortest.RunForgotten(t, func(t *testing.T) connectortest.ForgetfulSource {
				dir := t.TempDir()
				for i := range 9 {
					if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", i)), fmt.Appendf(nil, "# Note %d\n", i),
						0o600); err != nil {
						t.Fatal(err)
					}
				}
				deleted := 0
				sim := &connectortest.Sim{Env: map[string]string{"NOTES_DIR": dir, "PDPP_NOTES_DELETE": wish}}
				return connectortest.ForgetfulSource{
					Target: connectortest.Target{Connector: connectortest.BuiltInConnector(t, "notes"),
						Start: func(*testing.T) *connectortest.Sim { return sim }},
					Stream: "notes", Away: "notes/8.md",
					Delete: func(t *testing.T) {
						if err := os.Remove(filepath.Join(dir, fmt.Sprintf("%d.md", deleted))); err != nil {
							t.Fatal(err)
						}
						deleted++
					},
					There: func(*testing.T) (keys []string) {
						first := 0
						if wish == "on" {
							first = deleted
						}
						for i := first; i < 9; i++ {
							keys = append(keys, fmt.Sprintf("notes/%d.md", i))
						}
						return keys
					},
				}
			})
		})
	}
}
