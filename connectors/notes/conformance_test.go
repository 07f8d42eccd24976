//pdpp:tier programs

package notes_test

import (
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/files"
)

// TestConformance runs every scenario for local files against the built connector host.
func TestConformance(t *testing.T) {
	connectortest.RunLocal(t, connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "notes"),
		Env:       func(dir string) map[string]string { return map[string]string{"NOTES_DIR": dir} },
		Make:      func(dir string, c files.Config) (files.World, error) { return files.NewNotes(dir, c) },
		Listed:    []string{"coverage_diagnostics"},
	})
}
