//pdpp:tier programs

package mail_test

import (
	"path/filepath"
	"testing"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim/files"
)

func env(dir string) map[string]string {
	return map[string]string{"MAIL_MAILDIR_DIR": filepath.Join(dir, "maildir"),
		"MAIL_MBOX_DIR": filepath.Join(dir, "mbox")}
}

// TestConformance runs every scenario for local files against the built connector host.
func TestConformance(t *testing.T) {
	connectortest.RunLocal(t, connectortest.LocalTarget{
		Connector: connectortest.BuiltInConnector(t, "mail"), Env: env,
		Make:   func(dir string, c files.Config) (files.World, error) { return files.NewMail(dir, c) },
		Listed: []string{"coverage_diagnostics"},
	})
}
