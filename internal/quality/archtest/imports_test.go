package archtest

import "testing"

func TestImportsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, imported, want string }{
		{"protocol", "own/manifest", "imports manifest"},
		{"protocol", "github.com/santhosh-tekuri/jsonschema/v6", "library github.com/santhosh-tekuri/jsonschema/v6"},
		{"governor", "own/protocol", "imports protocol"},
		{"governor", "github.com/go-json-experiment/json", "library github.com/go-json-experiment/json"},
		{"manifest", "own/internal/judge/evidence", "imports internal/judge/evidence"},
		{"manifest", "github.com/spf13/cobra", "library github.com/spf13/cobra"},
		{"internal/judge/evidence", "own/internal/judge/health", "imports internal/judge/health"},
		{"internal/judge/health", "own/internal/storage/store", "imports internal/storage/store"},
		{"internal/judge/health", "github.com/jackc/pgx/v5", "library github.com/jackc/pgx/v5"},
		{"internal/judge/verdict", "own/manifest", "imports manifest"},
		{"internal/judge/cadence", "own/internal/judge/health", "imports internal/judge/health"},
		{"governor/governhttp", "own/connectorkit", "imports connectorkit"},
		{"connectorkit", "own/internal/collect/runner", "must never import internal/collect/runner"},
		{"connectorkit", "own/connectorkit/browser", "must never import connectorkit/browser"},
		{"connectors", "own/internal/storage/store", "imports internal/storage/store"},
		{"connectors/github", "own/internal/storage/store", "must never import internal/storage/store"},
		{"connectors/github", "own/connectors/gmail", "must never import connectors/gmail"},
		{"connectors/github", "own/providersim", "imports providersim"},
		{"connectors/github", "own/connectorkit/connectortest", "test support"},
		{"providersim", "own/connectorkit", "imports connectorkit"},
		{"internal/collect/runner", "own/internal/storage/store/sqlite", "must never import internal/storage/store/sqlite"},
		{"internal/ops/redact", "own/internal/storage/credential", "imports internal/storage/credential"},
		{"internal/collect/runner", "own/internal/judge/evidence", "imports internal/judge/evidence"},
		{"internal/collect/launch", "own/internal/judge/verdict", "must never import internal/judge/verdict"},
		{"internal/collect/launch", "own/internal/schedule/scheduler", "imports internal/schedule/scheduler"},
		{"internal/storage/store", "own/internal/judge/health", "must never import internal/judge/health"},
		{"internal/storage/store", "own/internal/storage/store/sqlite", "imports internal/storage/store/sqlite"},
		{"internal/storage/store/sqlstore", "own/internal/storage/store/postgres", "imports internal/storage/store/postgres"},
		{"internal/storage/store/sqlite", "own/internal/storage/store/postgres", "imports internal/storage/store/postgres"},
		{"internal/storage/store/sqlite", "own/internal/storage/store/storetest", "test support"},
		{"internal/storage/store/postgres", "own/internal/judge/verdict", "must never import internal/judge/verdict"},
		{"internal/schedule/scheduler", "own/internal/owner/console", "must never import internal/owner/console"},
		{"internal/view", "own/internal/storage/store", "must never import internal/storage/store"},
		{"internal/share/readapi/grantview", "own/internal/judge/evidence", "must never import internal/judge/evidence"},
		{"internal/schedule/repair", "own/internal/collect/runner", "must never import internal/collect/runner"},
		{"internal/schedule/notify", "own/internal/judge/health", "must never import internal/judge/health"},
		{"internal/owner/console", "own/internal/judge/evidence", "must never import internal/judge/evidence"},
		{"internal/device/collector", "own/internal/web/server", "must never import internal/web/server"},
		{"cmd/pdpp", "own/connectors/github", "must never import connectors/github"},
		{"cmd/pdpp", "own/internal/storage/store/storetest", "test support"},
		{"cmd/pdpp-connectors", "own/internal/collect/runner", "must never import internal/collect/runner"},
		{"cmd/pdpp-else", "own/internal/collect/runner", "imports internal/collect/runner"},
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
		"manifest":                   {"own/protocol", "github.com/santhosh-tekuri/jsonschema/v6"},
		"connectors":                 {"own/connectors/github", "own/connectorkit"},
		"connectors/github":          {"net/http", "own/connectorkit/browser", "own/governor"},
		"connectorkit/connectortest": {"own/internal/collect/runner", "own/internal/storage/store/storetest"},
		"internal/collect/launch":    {"own/internal/storage/credential", "own/internal/storage/store"},
		"internal/storage/store/sqlite": {"modernc.org/sqlite", "own/internal/storage/store",
			"own/internal/storage/store/sqlstore"},
		"internal/quality/tools/bench": {"own/connectors/github", "own/internal/storage/store/storetest"},
		"cmd/pdpp":                     {"github.com/spf13/cobra", "own/internal/storage/store/sqlite"},
		"cmd/pdpp-connectors":          {"own/connectors", "own/connectorkit"},
	} {
		wantOffences(t, CheckImports([]Package{importing(t, from, imports...)}, Table))
	}
}

func TestImportsLeaveTestFilesFree(t *testing.T) {
	t.Parallel()
	p := pkg(t, "internal/judge/health", "// health_test.go\npackage health\nimport _ \"own/internal/storage/store\"\n")
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
