package archtest

import "testing"

func TestImportsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, imported, want string }{
		{"protocol", "pdpp/manifest", "imports manifest"},
		{"protocol", "github.com/santhosh-tekuri/jsonschema/v6", "library github.com/santhosh-tekuri/jsonschema/v6"},
		{"governor", "pdpp/protocol", "imports protocol"},
		{"governor", "github.com/go-json-experiment/json", "library github.com/go-json-experiment/json"},
		{"manifest", "pdpp/internal/evidence", "imports internal/evidence"},
		{"manifest", "github.com/spf13/cobra", "library github.com/spf13/cobra"},
		{"internal/evidence", "pdpp/internal/health", "imports internal/health"},
		{"internal/health", "pdpp/internal/store", "imports internal/store"},
		{"internal/health", "github.com/jackc/pgx/v5", "library github.com/jackc/pgx/v5"},
		{"internal/verdict", "pdpp/manifest", "imports manifest"},
		{"internal/cadence", "pdpp/internal/health", "imports internal/health"},
		{"connectorkit/governhttp", "pdpp/connectorkit", "imports connectorkit"},
		{"connectorkit", "pdpp/internal/runner", "must never import internal/runner"},
		{"connectorkit", "pdpp/connectorkit/browser", "must never import connectorkit/browser"},
		{"connectorkit/browser", "pdpp/internal/store", "must never import internal/store"},
		{"connectors", "pdpp/internal/store", "imports internal/store"},
		{"connectors/github", "pdpp/internal/store", "must never import internal/store"},
		{"connectors/github", "pdpp/connectors/gmail", "must never import connectors/gmail"},
		{"connectors/github", "pdpp/providersim", "imports providersim"},
		{"connectors/github", "pdpp/connectorkit/connectortest", "test support"},
		{"providersim", "pdpp/connectorkit", "imports connectorkit"},
		{"internal/runner", "pdpp/internal/store/sqlite", "must never import internal/store/sqlite"},
		{"internal/redact", "pdpp/internal/credential", "imports internal/credential"},
		{"internal/runner", "pdpp/internal/evidence", "imports internal/evidence"},
		{"internal/launch", "pdpp/internal/verdict", "must never import internal/verdict"},
		{"internal/launch", "pdpp/internal/scheduler", "imports internal/scheduler"},
		{"internal/store", "pdpp/internal/health", "must never import internal/health"},
		{"internal/store", "pdpp/internal/store/sqlite", "imports internal/store/sqlite"},
		{"internal/store/sqlstore", "pdpp/internal/store/postgres", "imports internal/store/postgres"},
		{"internal/store/sqlite", "pdpp/internal/store/postgres", "imports internal/store/postgres"},
		{"internal/store/sqlite", "pdpp/internal/store/storetest", "test support"},
		{"internal/store/postgres", "pdpp/internal/verdict", "must never import internal/verdict"},
		{"internal/scheduler", "pdpp/internal/console", "must never import internal/console"},
		{"internal/ownerview", "pdpp/internal/store", "must never import internal/store"},
		{"internal/grantview", "pdpp/internal/evidence", "must never import internal/evidence"},
		{"internal/repair", "pdpp/internal/runner", "must never import internal/runner"},
		{"internal/notify", "pdpp/internal/health", "must never import internal/health"},
		{"internal/console", "pdpp/internal/evidence", "must never import internal/evidence"},
		{"internal/collector", "pdpp/internal/server", "must never import internal/server"},
		{"cmd/pdpp", "pdpp/connectors/github", "must never import connectors/github"},
		{"cmd/pdpp", "pdpp/internal/store/storetest", "test support"},
		{"cmd/pdpp-connectors", "pdpp/internal/runner", "must never import internal/runner"},
		{"cmd/pdpp-else", "pdpp/internal/runner", "imports internal/runner"},
		{"internal/newroom", "fmt", "is in no room"},
	} {
		found := CheckImports([]Package{importing(t, c.from, "fmt", c.imported)}, Table)
		wantOffences(t, found, c.want)
	}
}

func TestImportsAllowed(t *testing.T) {
	t.Parallel()
	for from, imports := range map[string][]string{
		"protocol":                   {"encoding/json", "github.com/go-json-experiment/json/jsontext"},
		"manifest":                   {"pdpp/protocol", "github.com/santhosh-tekuri/jsonschema/v6"},
		"connectors":                 {"pdpp/connectors/github", "pdpp/connectorkit"},
		"connectors/github":          {"net/http", "pdpp/connectorkit/browser", "pdpp/governor"},
		"connectorkit/connectortest": {"pdpp/internal/runner", "pdpp/internal/store/storetest"},
		"internal/launch":            {"pdpp/internal/credential", "pdpp/internal/store"},
		"internal/store/sqlite":      {"modernc.org/sqlite", "pdpp/internal/store", "pdpp/internal/store/sqlstore"},
		"internal/tools/bench":       {"pdpp/connectors/github", "pdpp/internal/store/storetest"},
		"cmd/pdpp":                   {"github.com/spf13/cobra", "pdpp/internal/store/sqlite"},
		"cmd/pdpp-connectors":        {"pdpp/connectors", "pdpp/connectorkit"},
	} {
		wantOffences(t, CheckImports([]Package{importing(t, from, imports...)}, Table))
	}
}

func TestImportsLeaveTestFilesFree(t *testing.T) {
	t.Parallel()
	p := pkg(t, "internal/health", "// health_test.go\npackage health\nimport _ \"pdpp/internal/store\"\n")
	wantOffences(t, CheckImports([]Package{p}, Table))
}

// TestTableIsSound keeps the table itself readable: one row per room, a reason
// with each, and nothing both allowed and forbidden by name.
func TestTableIsSound(t *testing.T) {
	t.Parallel()
	rooms := map[string]bool{}
	for _, r := range Table {
		if rooms[r.Room] {
			t.Errorf("%s has two rows", r.Room)
		}
		rooms[r.Room] = true
		if r.Reason == "" {
			t.Errorf("%s gives no reason", r.Room)
		}
		for _, may := range r.May {
			if matchesAny(r.Never, may) {
				t.Errorf("%s both may and must never import %s", r.Room, may)
			}
		}
	}
}
