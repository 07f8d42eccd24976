package archtest

import "testing"

func TestImportsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, imported, want string }{
		{"protocol", "pdpp/manifest", "imports manifest"},
		{"protocol", "github.com/santhosh-tekuri/jsonschema/v6", "library github.com/santhosh-tekuri/jsonschema/v6"},
		{"governor", "pdpp/protocol", "imports protocol"},
		{"governor", "github.com/go-json-experiment/json", "library github.com/go-json-experiment/json"},
		{"manifest", "pdpp/internal/judge/evidence", "imports internal/judge/evidence"},
		{"manifest", "github.com/spf13/cobra", "library github.com/spf13/cobra"},
		{"internal/judge/evidence", "pdpp/internal/judge/health", "imports internal/judge/health"},
		{"internal/judge/health", "pdpp/internal/keep/store", "imports internal/keep/store"},
		{"internal/judge/health", "github.com/jackc/pgx/v5", "library github.com/jackc/pgx/v5"},
		{"internal/judge/verdict", "pdpp/manifest", "imports manifest"},
		{"internal/judge/cadence", "pdpp/internal/judge/health", "imports internal/judge/health"},
		{"governor/governhttp", "pdpp/connectorkit", "imports connectorkit"},
		{"connectorkit", "pdpp/internal/collect/runner", "must never import internal/collect/runner"},
		{"connectorkit", "pdpp/connectorkit/browser", "must never import connectorkit/browser"},
		{"connectors", "pdpp/internal/keep/store", "imports internal/keep/store"},
		{"connectors/github", "pdpp/internal/keep/store", "must never import internal/keep/store"},
		{"connectors/github", "pdpp/connectors/gmail", "must never import connectors/gmail"},
		{"connectors/github", "pdpp/providersim", "imports providersim"},
		{"connectors/github", "pdpp/connectorkit/connectortest", "test support"},
		{"providersim", "pdpp/connectorkit", "imports connectorkit"},
		{"internal/collect/runner", "pdpp/internal/keep/store/sqlite", "must never import internal/keep/store/sqlite"},
		{"internal/ops/redact", "pdpp/internal/keep/credential", "imports internal/keep/credential"},
		{"internal/collect/runner", "pdpp/internal/judge/evidence", "imports internal/judge/evidence"},
		{"internal/collect/launch", "pdpp/internal/judge/verdict", "must never import internal/judge/verdict"},
		{"internal/collect/launch", "pdpp/internal/schedule/scheduler", "imports internal/schedule/scheduler"},
		{"internal/keep/store", "pdpp/internal/judge/health", "must never import internal/judge/health"},
		{"internal/keep/store", "pdpp/internal/keep/store/sqlite", "imports internal/keep/store/sqlite"},
		{"internal/keep/store/sqlstore", "pdpp/internal/keep/store/postgres", "imports internal/keep/store/postgres"},
		{"internal/keep/store/sqlite", "pdpp/internal/keep/store/postgres", "imports internal/keep/store/postgres"},
		{"internal/keep/store/sqlite", "pdpp/internal/keep/store/storetest", "test support"},
		{"internal/keep/store/postgres", "pdpp/internal/judge/verdict", "must never import internal/judge/verdict"},
		{"internal/schedule/scheduler", "pdpp/internal/owner/console", "must never import internal/owner/console"},
		{"internal/view", "pdpp/internal/keep/store", "must never import internal/keep/store"},
		{"internal/share/readapi/grantview", "pdpp/internal/judge/evidence", "must never import internal/judge/evidence"},
		{"internal/schedule/repair", "pdpp/internal/collect/runner", "must never import internal/collect/runner"},
		{"internal/schedule/notify", "pdpp/internal/judge/health", "must never import internal/judge/health"},
		{"internal/owner/console", "pdpp/internal/judge/evidence", "must never import internal/judge/evidence"},
		{"internal/device/collector", "pdpp/internal/web/server", "must never import internal/web/server"},
		{"cmd/pdpp", "pdpp/connectors/github", "must never import connectors/github"},
		{"cmd/pdpp", "pdpp/internal/keep/store/storetest", "test support"},
		{"cmd/pdpp-connectors", "pdpp/internal/collect/runner", "must never import internal/collect/runner"},
		{"cmd/pdpp-else", "pdpp/internal/collect/runner", "imports internal/collect/runner"},
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
		"connectorkit/connectortest": {"pdpp/internal/collect/runner", "pdpp/internal/keep/store/storetest"},
		"internal/collect/launch":    {"pdpp/internal/keep/credential", "pdpp/internal/keep/store"},
		"internal/keep/store/sqlite": {"modernc.org/sqlite", "pdpp/internal/keep/store", "pdpp/internal/keep/store/sqlstore"},
		"internal/lab/tools/bench":   {"pdpp/connectors/github", "pdpp/internal/keep/store/storetest"},
		"cmd/pdpp":                   {"github.com/spf13/cobra", "pdpp/internal/keep/store/sqlite"},
		"cmd/pdpp-connectors":        {"pdpp/connectors", "pdpp/connectorkit"},
	} {
		wantOffences(t, CheckImports([]Package{importing(t, from, imports...)}, Table))
	}
}

func TestImportsLeaveTestFilesFree(t *testing.T) {
	t.Parallel()
	p := pkg(t, "internal/judge/health", "// health_test.go\npackage health\nimport _ \"pdpp/internal/keep/store\"\n")
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
