// Package claudecode collects what Claude Code keeps in its folder: transcripts of
// sessions and of their sub-agents, what was typed, tasks, notes, skills and commands, and
// lists of the rest. The reader of local files is connectorkit/localfile.
//
//	stores.go      which files there are, and what is done with them
//	transcript.go  a line of a transcript to a message, an attachment, a part of a session
//	content.go     what a message says
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
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, open) }

const (
	homeRoot     = "home"
	projectsRoot = "projects"
)

func open(_ context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	home, projects := roots(s.Env)
	s.Mask(s.Env("PDPP_CLAUDE_CODE_REDACT"))
	keep := localfile.LimitsOf(s.Env("PDPP_CLAUDE_CODE_TEXT"))
	source := localfile.Source{
		Streams: []string{
			"sessions", "messages", "attachments", "prompt_history", "tasks", "skills", "memory_notes", "slash_commands",
			"file_history", "cache_inventory", "backup_inventory", "config_inventory",
		},
		Roots:    []localfile.Root{{Name: homeRoot, Path: home}, {Name: projectsRoot, Path: projects}},
		Stores:   stores(keep),
		LastWins: true, // a resumed session repeats the lines of the one before
		Exclude:  chosen(s.Env("CLAUDE_CODE_PROJECT_INCLUDE"), s.Env("CLAUDE_CODE_PROJECT_EXCLUDE")),
	}
	return []connectorkit.Collector{source.Collector()}, nil
}

// roots finds Claude Code's folder and that of its transcripts. The latter may be named by
// itself; named as it would be anyway, it follows the folder.
func roots(env func(string) string) (home, projects string) {
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

// chosen leaves out the projects that the owner does not want, by the names of their
// folders or by the paths that these stand for.
func chosen(include, exclude string) func(root, rel string) bool {
	in, out := names(include), names(exclude)
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

func names(list string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Split(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			set[encoded(name)] = true
		}
	}
	return set
}

// encoded is how Claude Code names the folder of a project.
func encoded(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, path)
}
