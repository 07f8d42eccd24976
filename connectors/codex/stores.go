package codex

import (
	"context"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// Roots. All but the home are folders that the owner configured separately.
const (
	homeRootName  = "home"
	databaseRoot  = "databases"
	sessionRoot   = "sessions"
	indexRootName = "index"
	rulesRootName = "rules"
	promptsRoot   = "prompts"
	skillsRoot    = "skills"
)

// rolloutStores are the files of all roots. The first pattern that fits has a file.
func rolloutStores(keep localfile.TextLimits, index *threadIndex) []localfile.Store {
	listed := func(name, root, stream, reason string, patterns ...string) localfile.Store {
		return localfile.Store{Name: name, Root: root, Patterns: patterns, Streams: []string{stream}, Listed: stream,
			Reason: reason}
	}
	rollouts := func(name, root string, patterns ...string) localfile.Store {
		return localfile.Store{
			Name: name, Root: root, Patterns: patterns, Streams: []string{"messages", "sessions", "function_calls"},
			Reason: "threads and their messages",
			ID:     rolloutIDOf, Compressed: true, Lines: index.rolloutOpener(keep),
		}
	}
	threadIndex := func(name, root string, patterns ...string) localfile.Store {
		return localfile.Store{
			Name: name, Root: root, Patterns: patterns, Streams: []string{"sessions"}, Reason: "titles and settings of threads",
			Companions: localdb.Companions,
			Open: func(_ context.Context, f *localfile.File, _ *os.File, state jsontext.Value) error {
				return index.reportIndexedOnly(f, state)
			},
		}
	}
	document := func(name, root, stream string, patterns ...string) localfile.Store {
		return localfile.Store{Name: name, Root: root, Patterns: patterns, Streams: []string{stream}, Reason: "authored " +
			stream, Whole: readDocuments(stream, keep)}
	}
	rules := func(name, root string, patterns ...string) localfile.Store {
		return localfile.Store{Name: name, Root: root, Patterns: patterns, Streams: []string{"rules"},
			Reason: "decisions about commands", Whole: readCommandRules}
	}
	databases := []string{"*.sqlite", "*.sqlite-wal", "*.sqlite-shm", "*.sqlite-journal", "*.db", "*.db-wal", "*.db-shm"}
	return []localfile.Store{
		{Name: "credentials", Root: homeRootName, Patterns: []string{"auth.json", ".credentials*", "**/*.pem", "**/*.key"},
			Reason: "holds credentials and is never opened"},
		rollouts("rollouts", homeRootName, "sessions/**/rollout-*.jsonl", "sessions/**/rollout-*.jsonl.zst"),
		rollouts("archived_rollouts", homeRootName, "archived_sessions/**/rollout-*.jsonl",
			"archived_sessions/**/rollout-*.jsonl.zst"),
		rollouts("other_rollouts", sessionRoot, "**/rollout-*.jsonl", "**/rollout-*.jsonl.zst"),
		threadIndex("thread_index", homeRootName, "state_*.sqlite", "state.sqlite"),
		threadIndex("other_thread_index", databaseRoot, "state_*.sqlite", "state.sqlite"),
		threadIndex("named_thread_index", indexRootName, "*"),
		{Name: "history", Root: homeRootName, Patterns: []string{"history.jsonl"},
			Streams: []string{"prompt_history", "history"},
			Listed:  "history",
			Reason:  "what was typed", Lines: promptHistory(keep)},
		listed("session_index", homeRootName, "session_index", "titles, which the sessions have", "session_index.jsonl"),
		rules("rules", homeRootName, "rules/*.rules"), rules("other_rules", rulesRootName, "*.rules"),
		document("prompts", homeRootName, "prompts", "prompts/*.md"),
		document("other_prompts", promptsRoot, "prompts", "*.md"),
		document("skills", homeRootName, "skills", "skills/*/SKILL.md"),
		document("other_skills", skillsRoot, "skills", "*/SKILL.md"),
		listed("shell_snapshots", homeRootName, "shell_snapshots", "may hold what a shell exported", "shell-snapshots/**",
			"shell_snapshots/**"),
		listed("configuration", homeRootName, "config_inventory", "settings are listed, not read",
			"*.toml", "*.md", "config*.json", "rules/**", "prompts/**", "skills/**", "agents/**", "plugins/**", "hooks/**",
			"hooks.json", "version.json", "installation_id", "themes/**"),
		listed("caches", homeRootName, "cache_inventory", "rebuilt by the program", append([]string{
			"cache/**", "log/**", "logs/**", "memories/**", "memories_*/**", "tmp/**", ".tmp/**", "ambient-suggestions/**",
			"models_cache.json", "internal_storage.json",
			"update-check.json", ".*", "sqlite/**", "worktrees/**", "vendor_imports/**", "sessions/**", "archived_sessions/**",
			"packages/**", "process_manager/**",
		}, databases...)...),
		listed("other_databases", databaseRoot, "cache_inventory", "rebuilt by the program", databases...),
	}
}

// rolloutName is the name of a rollout: its local time, its thread and, when the thread was
// taken back, a second id.
var rolloutName = regexp.MustCompile(`^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+?)\.jsonl(?:\.zst)?$`)

// rolloutIDOf identifies a rollout wherever it lies and in whatever form.
func rolloutIDOf(rel string) string {
	if m := rolloutName.FindStringSubmatch(path.Base(rel)); m != nil {
		return m[1]
	}
	return ""
}

// threadIDOf is the thread that a rollout belongs to.
func threadIDOf(rollout string) string {
	thread, _, _ := strings.Cut(rollout, "_")
	return thread
}

func emitUpsert(f *localfile.File, stream string, rec any) { f.Emit(stream, connectorkit.Upsert(rec)) }
