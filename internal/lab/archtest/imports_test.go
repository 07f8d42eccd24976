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
		{"internal/judge/health", "own/internal/keep/store", "imports internal/keep/store"},
		{"internal/judge/health", "github.com/jackc/pgx/v5", "library github.com/jackc/pgx/v5"},
		{"internal/judge/verdict", "own/manifest", "imports manifest"},
		{"internal/judge/cadence", "own/internal/judge/health", "imports internal/judge/health"},
		{"governor/governhttp", "own/connectorkit", "imports connectorkit"},
		{"connectorkit", "own/internal/collect/runner", "must never import internal/collect/runner"},
		{"connectorkit", "own/connectorkit/browser", "must never import connectorkit/browser"},
		{"connectors", "own/internal/keep/store", "imports internal/keep/store"},
		{"connectors/github", "own/internal/keep/store", "must never import internal/keep/store"},
		{"connectors/github", "own/connectors/gmail", "must never import connectors/gmail"},
		{"connectors/github", "own/providersim", "imports providersim"},
		{"connectors/github", "own/connectorkit/connectortest", "test support"},
		{"providersim", "own/connectorkit", "imports connectorkit"},
		{"internal/collect/runner", "own/internal/keep/store/sqlite", "must never import internal/keep/store/sqlite"},
		{"internal/ops/redact", "own/internal/keep/credential", "imports internal/keep/credential"},
		{"internal/collect/runner", "own/internal/judge/evidence", "imports internal/judge/evidence"},
		{"internal/collect/launch", "own/internal/judge/verdict", "must never import internal/judge/verdict"},
		{"internal/collect/launch", "own/internal/schedule/scheduler", "imports internal/schedule/scheduler"},
		{"internal/keep/store", "own/internal/judge/health", "must never import internal/judge/health"},
		{"internal/keep/store", "own/internal/keep/store/sqlite", "imports internal/keep/store/sqlite"},
		{"internal/keep/store/sqlstore", "own/internal/keep/store/postgres", "imports internal/keep/store/postgres"},
		{"internal/keep/store/sqlite", "own/internal/keep/store/postgres", "imports internal/keep/store/postgres"},
		{"internal/keep/store/sqlite", "own/internal/keep/store/storetest", "test support"},
		{"internal/keep/store/postgres", "own/internal/judge/verdict", "must never import internal/judge/verdict"},
		{"internal/schedule/scheduler", "own/internal/owner/console", "must never import internal/owner/console"},
		{"internal/view", "own/internal/keep/store", "must never import internal/keep/store"},
		{"internal/share/readapi/grantview", "own/internal/judge/evidence", "must never import internal/judge/evidence"},
		{"internal/schedule/repair", "own/internal/collect/runner", "must never import internal/collect/runner"},
		{"internal/schedule/notify", "own/internal/judge/health", "must never import internal/judge/health"},
		{"internal/owner/console", "own/internal/judge/evidence", "must never import internal/judge/evidence"},
		{"internal/device/collector", "own/internal/web/server", "must never import internal/web/server"},
		{"cmd/pdpp", "own/connectors/github", "must never import connectors/github"},
		{"cmd/pdpp", "own/internal/keep/store/storetest", "test support"},
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
		"connectorkit/connectortest": {"own/internal/collect/runner", "own/internal/keep/store/storetest"},
		"internal/collect/launch":    {"own/internal/keep/credential", "own/internal/keep/store"},
		"internal/keep/store/sqlite": {"modernc.org/sqlite", "own/internal/keep/store", "own/internal/keep/store/sqlstore"},
		"internal/lab/tools/bench":   {"own/connectors/github", "own/internal/keep/store/storetest"},
		"cmd/pdpp":                   {"github.com/spf13/cobra", "own/internal/keep/store/sqlite"},
		"cmd/pdpp-connectors":        {"own/connectors", "own/connectorkit"},
	} {
		wantOffences(t, CheckImports([]Package{importing(t, from, imports...)}, Table))
	}
}

func TestImportsLeaveTestFilesFree(t *testing.T) {
	t.Parallel()
	p := pkg(t, "internal/judge/health", "// health_test.go\npackage health\nimport _ \"own/internal/keep/store\"\n")
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
