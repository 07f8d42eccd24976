//pdpp:tier programs

package codex_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/protocol"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestConformance runs every scenario for local files against the built connector host.
func TestConformance(t *testing.T) { connectortest.RunLocal(t, target(t)) }

func target(t *testing.T) connectortest.LocalTarget {
	t.Helper()
	return connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "codex"), Make: files.Codex,
		Env:      func(dir string) map[string]string { return map[string]string{"CODEX_HOME": dir} },
		Declared: []protocol.Reason{"line_too_long", "malformed_line"},
		Listed: []string{"sessions", "file_history", "history", "session_index", "shell_snapshots", "cache_inventory",
			"backup_inventory", "config_inventory", "coverage_diagnostics"},
	}
}
