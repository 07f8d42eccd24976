// Package codex collects what Codex keeps in its folder: rollouts of threads, plain and
// compressed, live and archived; what was typed; rules, prompts and skills; and lists of the
// rest. The reader of local files is connectorkit/localfile.
//
//	stores.go     which files there are, and what is done with them
//	rollout.go    a line of a rollout to a message, a call of a tool, a part of a session
//	calls.go      calls of tools and their outputs, which come later
//	threads.go    Codex's own index of threads
//	documents.go  everything that is no rollout
package codex

import (
	"context"
	_ "embed"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Codex connector.
func Connector() connectorkit.Connector { return connectorkit.MustNew(manifestJSON, newCollectors) }

func newCollectors(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	home, databases := s.Env("CODEX_HOME"), s.Env("CODEX_SQLITE_HOME")
	s.MaskSecrets(s.Env("PDPP_CODEX_REDACT"))
	keep := localfile.ParseLimits(s.Env("PDPP_CODEX_TEXT"))
	index := &threadIndex{schema: s.Sample("thread_index", "sessions"), compare: s.CompareCount}
	index.readThreads(ctx, home, databases, s.Env("CODEX_STATE_DB"))
	if index.err != nil {
		s.Log.Warn("the index of threads could not be read: sessions are built from rollouts only")
	}
	source := localfile.Source{
		Streams: []string{
			"sessions", "messages", "function_calls", "prompt_history", "rules", "prompts", "skills",
			"history", "session_index", "shell_snapshots", "config_inventory", "cache_inventory",
		},
		Roots: []localfile.Root{
			{Name: homeRootName, Path: home}, {Name: databaseRoot, Path: databases},
			{Name: sessionRoot, Path: s.Env("CODEX_SESSIONS_DIR")},
			{Name: indexRootName, Path: s.Env("CODEX_STATE_DB")}, {Name: rulesRootName, Path: s.Env("CODEX_RULES_DIR")},
			{Name: promptsRoot, Path: s.Env("CODEX_PROMPTS_DIR")}, {Name: skillsRoot, Path: s.Env("CODEX_SKILLS_DIR")},
		},
		Stores:   rolloutStores(keep, index),
		LastWins: true, // a thread that was taken back has another rollout
		Again:    index.indexChangedSince,
		Settings: "2", // messages between agents are read since then
	}
	return []connectorkit.Collector{source.Collector()}, nil
}
