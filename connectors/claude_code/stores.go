package claudecode

import (
	"path"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// transcriptStores are the files of both roots. The first pattern that fits has a file.
func transcriptStores(keep localfile.TextLimits) []localfile.Store {
	listed := func(name, root, stream, reason string, patterns ...string) localfile.Store {
		return localfile.Store{Name: name, Root: root, Patterns: patterns, Streams: []string{stream}, Listed: stream,
			Reason: reason}
	}
	return []localfile.Store{
		{Name: "credentials", Root: homeRootName, Reason: "holds credentials and is never opened",
			Patterns: []string{".credentials.json", "auth.json", "**/.credentials*", "**/*.pem", "**/*.key", ".claude.json*"}},
		listed("agent_metadata", projectsRoot, "cache_inventory", "repeats the content of the transcripts",
			"*/*/subagents/**/*.meta.json", "*/*/subagents/**/journal.jsonl", "*/sessions-index.json", "*/*/*.meta.json"),
		{Name: "transcripts", Root: projectsRoot, Patterns: []string{"*/*.jsonl"},
			Streams: []string{"messages", "sessions", "attachments"},
			Reason:  "sessions and their messages", ID: func(rel string) string { return path.Base(rel) },
			Lines: transcripts(keep)},
		{Name: "subagents", Root: projectsRoot, Patterns: []string{"*/*/subagents/**/*.jsonl"},
			Streams: []string{"messages", "attachments"},
			Reason:  "messages of sub-agents",
			ID:      func(rel string) string { return strings.Join(strings.Split(rel, "/")[1:], "/") },
			Lines:   transcripts(keep)},
		{Name: "tool_results", Root: projectsRoot, Patterns: []string{"*/*/tool-results/**"},
			Streams: []string{"attachments"},
			Reason:  "large outputs of tools", Limit: int64(keep.Output), Whole: toolResult},
		{Name: "memory_notes", Root: projectsRoot, Patterns: []string{"*/memory/**/*.md"}, Streams: []string{"memory_notes"},
			Reason: "notes of a project", Whole: memoryNote(keep)},
		{Name: "prompt_history", Root: homeRootName, Patterns: []string{"history.jsonl"}, Streams: []string{"prompt_history"},
			Reason: "what was typed", Lines: promptHistory(keep)},
		{Name: "todos", Root: homeRootName, Patterns: []string{"todos/*.json"}, Streams: []string{"tasks"},
			Reason: "tasks of older builds", Whole: readTodoList},
		{Name: "tasks", Root: homeRootName, Patterns: []string{"tasks/*/*.json"}, Streams: []string{"tasks"}, Reason: "tasks",
			Whole: readTaskFile},
		{Name: "skills", Root: homeRootName, Patterns: []string{"skills/*/SKILL.md"}, Streams: []string{"skills"},
			Reason: "authored skills", Whole: readSkill(keep)},
		{Name: "slash_commands", Root: homeRootName, Patterns: []string{"commands/**/*.md"},
			Streams: []string{"slash_commands"},
			Reason:  "authored commands", Whole: slashCommand(keep)},
		listed("file_history", homeRootName, "file_history", "earlier states of the owner's own files", "file-history/**"),
		listed("backups", homeRootName, "backup_inventory", "copies of what is collected", "backups/**", "*.backup*",
			"*.bak"),
		listed("configuration", homeRootName, "config_inventory", "settings are listed, not read",
			"settings*.json", "*.toml", "*.md", "keybindings.json", "statusline*", "agents/**", "hooks/**", "output-styles/**",
			"plugins/**", "skills/**",
			"commands/**", "rules/**", "themes/**", "workflows/**", "scheduled_tasks.json", "remote-settings.json",
			".gitignore"),
		listed("caches", homeRootName, "cache_inventory", "rebuilt by the program",
			"cache/**", "statsig/**", "shell-snapshots/**", "session-env/**", "paste-cache/**", "image-cache/**", "debug/**",
			"logs/**", "telemetry/**", "ide/**",
			"downloads/**", "chrome/**", "local/**", "plans/**", "teams/**", "sessions/**", "usage-data/**", "stats-cache.json",
			"tasks/*/.*", "jobs/**",
			"policy-limits.json", "mcp-needs-auth-cache.json", "security_warnings_state_*", ".last-*", ".update.lock",
			"projects/**"),
		listed("project_files", projectsRoot, "cache_inventory", "kept beside transcripts by the program", "*/*/*.json",
			"*/*.json", "*/memory/**", "*/*/session-memory/**"),
	}
}
