// Package claudecode collects what Claude Code keeps in its folder: transcripts of
// sessions and of their sub-agents, what was typed, tasks, notes, skills and commands, and
// lists of the rest. The reader of local files is connectorkit/localfile.
//
//	stores.go      which files there are, and what is done with them
//	transcript.go  a line of a transcript to a message, an attachment, a part of a session
//	content.go     the content of a message
//	documents.go   everything that is no transcript
package claudecode

import (
	"context"
	_ "embed"
	"path/filepath"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Claude Code connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

const (
	homeRootName = "home"
	projectsRoot = "projects"
)

func newCollectors(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	home, projects := findRoots(s.Env)
	s.MaskSecrets(s.Env("PDPP_CLAUDE_CODE_REDACT"))
	keep := localfile.ParseLimits(s.Env("PDPP_CLAUDE_CODE_TEXT"))
	source := localfile.Source{
		Streams: []string{
			"sessions", "messages", "attachments", "prompt_history", "tasks", "skills", "memory_notes", "slash_commands",
			"file_history", "cache_inventory", "backup_inventory", "config_inventory",
		},
		Roots:    []localfile.Root{{Name: homeRootName, Path: home}, {Name: projectsRoot, Path: projects}},
		Stores:   transcriptStores(keep),
		LastWins: true, // a resumed session repeats the lines of the one before
		Exclude:  projectFilter(s.Env("CLAUDE_CODE_PROJECT_INCLUDE"), s.Env("CLAUDE_CODE_PROJECT_EXCLUDE")),
	}
	return []connectorkit.Collector{source.Collector()}, nil
}

// findRoots returns Claude Code's folder and the folder of its transcripts. The second may be configured separately;
// if it has the default location it follows the first.
func findRoots(env func(string) string) (home, projects string) {
	given := env("CLAUDE_CONFIG_DIR")
	home, projects = given, env("CLAUDE_CODE_PROJECTS_DIR")
	if other := env("CLAUDE_CODE_HOME"); other != "" {
		home = other
	}
	if home != "" && (projects == "" || given != "" && projects == filepath.Join(given, "projects")) {
		projects = filepath.Join(home, "projects")
	}
	return home, projects
}

// projectFilter returns a filter that excludes the projects that the owner does not want, by folder name or by the
// path that the name encodes.
func projectFilter(include, exclude string) func(root, rel string) bool {
	in, out := nameSet(include), nameSet(exclude)
	if len(in) == 0 && len(out) == 0 {
		return nil
	}
	return func(root, rel string) bool {
		if root != projectsRoot {
			return false
		}
		project, _, _ := strings.Cut(rel, "/")
		return out[project] || len(in) > 0 && !in[project]
	}
}

func nameSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Split(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			set[projectFolderName(name)] = true
		}
	}
	return set
}

// projectFolderName is how Claude Code names the folder of a project.
func projectFolderName(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, path)
}
