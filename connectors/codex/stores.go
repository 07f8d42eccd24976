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

// Roots. All but the home are places that the owner named by themselves.
const (
	homeRoot     = "home"
	databaseRoot = "databases"
	sessionRoot  = "sessions"
	indexRoot    = "index"
	rulesRoot    = "rules"
	promptsRoot  = "prompts"
	skillsRoot   = "skills"
)

// stores are the files of all roots. The first pattern that fits has a file.
func stores(keep localfile.Limits, index *threads) []localfile.Store {
	listed := func(name, root, stream, reason string, patterns ...string) localfile.Store {
		return localfile.Store{Name: name, Root: root, Patterns: patterns, Streams: []string{stream}, Listed: stream, Reason: reason}
	}
	rollouts := func(name, root string, patterns ...string) localfile.Store {
		return localfile.Store{
			Name: name, Root: root, Patterns: patterns, Streams: []string{"messages", "sessions", "function_calls"}, Reason: "threads and their messages",
			ID: rolloutID, Compressed: true, Lines: index.rollouts(keep),
		}
	}
	threadIndex := func(name, root string, patterns ...string) localfile.Store {
		return localfile.Store{
			Name: name, Root: root, Patterns: patterns, Streams: []string{"sessions"}, Reason: "titles and settings of threads", Companions: localdb.Companions,
			Open: func(_ context.Context, f *localfile.File, _ *os.File, state jsontext.Value) error {
				return index.told(f, state)
			},
		}
	}
	document := func(name, root, stream string, patterns ...string) localfile.Store {
		return localfile.Store{Name: name, Root: root, Patterns: patterns, Streams: []string{stream}, Reason: "authored " + stream, Whole: documents(stream, keep)}
	}
	rules := func(name, root string, patterns ...string) localfile.Store {
		return localfile.Store{Name: name, Root: root, Patterns: patterns, Streams: []string{"rules"}, Reason: "decisions about commands", Whole: ruleLines}
	}
	databases := []string{"*.sqlite", "*.sqlite-wal", "*.sqlite-shm", "*.sqlite-journal", "*.db", "*.db-wal", "*.db-shm"}
	return []localfile.Store{
		{Name: "credentials", Root: homeRoot, Patterns: []string{"auth.json", ".credentials*", "**/*.pem", "**/*.key"}, Reason: "holds credentials and is never opened"},
		rollouts("rollouts", homeRoot, "sessions/**/rollout-*.jsonl", "sessions/**/rollout-*.jsonl.zst"),
		rollouts("archived_rollouts", homeRoot, "archived_sessions/**/rollout-*.jsonl", "archived_sessions/**/rollout-*.jsonl.zst"),
		rollouts("other_rollouts", sessionRoot, "**/rollout-*.jsonl", "**/rollout-*.jsonl.zst"),
		threadIndex("thread_index", homeRoot, "state_*.sqlite", "state.sqlite"),
		threadIndex("other_thread_index", databaseRoot, "state_*.sqlite", "state.sqlite"),
		threadIndex("named_thread_index", indexRoot, "*"),
		{Name: "history", Root: homeRoot, Patterns: []string{"history.jsonl"}, Streams: []string{"prompt_history", "history"}, Listed: "history",
			Reason: "what was typed", Lines: promptHistory(keep)},
		listed("session_index", homeRoot, "session_index", "titles, which the sessions have", "session_index.jsonl"),
		rules("rules", homeRoot, "rules/*.rules"), rules("other_rules", rulesRoot, "*.rules"),
		document("prompts", homeRoot, "prompts", "prompts/*.md"), document("other_prompts", promptsRoot, "prompts", "*.md"),
		document("skills", homeRoot, "skills", "skills/*/SKILL.md"), document("other_skills", skillsRoot, "skills", "*/SKILL.md"),
		listed("shell_snapshots", homeRoot, "shell_snapshots", "may hold what a shell exported", "shell-snapshots/**", "shell_snapshots/**"),
		listed("configuration", homeRoot, "config_inventory", "settings are listed, not read",
			"*.toml", "*.md", "config*.json", "rules/**", "prompts/**", "skills/**", "agents/**", "plugins/**", "hooks/**", "hooks.json", "version.json", "installation_id", "themes/**"),
		listed("caches", homeRoot, "cache_inventory", "made anew by the program", append([]string{
			"cache/**", "log/**", "logs/**", "memories/**", "memories_*/**", "tmp/**", ".tmp/**", "ambient-suggestions/**", "models_cache.json", "internal_storage.json",
			"update-check.json", ".*", "sqlite/**", "worktrees/**", "vendor_imports/**", "sessions/**", "archived_sessions/**", "packages/**", "process_manager/**",
		}, databases...)...),
		listed("other_databases", databaseRoot, "cache_inventory", "made anew by the program", databases...),
	}
}

// rolloutName is the name of a rollout: its local time, its thread and, when the thread was
// taken back, a second id.
var rolloutName = regexp.MustCompile(`^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.+?)\.jsonl(?:\.zst)?$`)

// rolloutID identifies a rollout wherever it lies and in whatever form.
func rolloutID(rel string) string {
	if m := rolloutName.FindStringSubmatch(path.Base(rel)); m != nil {
		return m[1]
	}
	return ""
}

// threadOf is the thread that a rollout belongs to.
func threadOf(rollout string) string {
	thread, _, _ := strings.Cut(rollout, "_")
	return thread
}

func upsert(f *localfile.File, stream string, rec any) { f.Emit(stream, connectorkit.Upsert(rec)) }
