package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/logging"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// speakingStore logs what a run asks of the store, where the runner and the launcher call
// it: as far below a run as this program goes.
type speakingStore struct {
	store.Store
	log *slog.Logger
}

func (s speakingStore) CommitSlice(ctx context.Context, l store.Lease, part slice.Slice,
	now time.Time) (store.Committed, error) {
	s.log.InfoContext(ctx, "a slice is committed")
	return s.Store.CommitSlice(ctx, l, part, now)
}

func (s speakingStore) Cursors(ctx context.Context, connectionID, stream string) ([]store.Cursor, error) {
	s.log.InfoContext(ctx, "bookmarks are read")
	return s.Store.Cursors(ctx, connectionID, stream)
}

func (s speakingStore) FinishRun(ctx context.Context, l store.Lease, o store.RunOutcome, now time.Time) error {
	s.log.InfoContext(ctx, "the outcome is recorded")
	return s.Store.FinishRun(ctx, l, o, now)
}

type sharedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sharedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *sharedBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// Every log line below a run (scheduler, launcher, runner, store) contains the run and its connection once.
func TestEveryLineOfARunNamesIt(t *testing.T) {
	var output sharedBuffer
	onBoth(t, func(g *ground) {
		output.mu.Lock()
		output.b.Reset()
		output.mu.Unlock()
		log, err := logging.New(&output, logging.JSON, slog.LevelInfo)
		g.must(err)
		g.config.Log, g.config.Store = log, speakingStore{g.st, log}
		g.install("acme", `{"protocol_version":"0.1.0","connector_id":"acme","display_name":"Acme","version":"1.0.0",`+
			`"streams":[{"name":"notes","semantics":"append_only","schema":{"type":"object",`+
			`"properties":{"id":{"type":"string"}}},"primary_key":["id"]}]}`,
			"#!/bin/sh\nread start\necho "+
				"'{\"type\":\"RECORD\",\"stream\":\"notes\",\"key\":\"1\",\"data\":{\"id\":\"1\"},"+
				"\"emitted_at\":\"2026-03-01T00:00:00Z\"}'\necho '{\"type\":\"DONE\",\"status\":\"succeeded\","+
				"\"records_emitted\":1}'\n")
		g.connect("con_log", "acme")
		_, err = g.st.RequestRun(t.Context(), store.RunRequest{ConnectionID: "con_log", Trigger: store.TriggerManual,
			RequestedAt: time.Now()})
		g.must(err)
	}, func(t *testing.T, g *ground) {
		g.until("the run is over", func() bool { return strings.Contains(output.String(), "run ended") })
		named := map[string]bool{}
		for line := range strings.Lines(output.String()) {
			var l struct {
				Message    string `json:"msg"`
				Run        string `json:"run_id"`
				Connection string `json:"connection_id"`
				Status     string `json:"status"`
			}
			g.must(json.Unmarshal([]byte(line), &l))
			switch l.Message {
			case "run started", "a slice is committed", "bookmarks are read", "the outcome is recorded", "run ended":
				named[l.Message] = true
				if !strings.HasPrefix(l.Run, "run_") || l.Connection != "con_log" || strings.Count(line, `"run_id"`) != 1 ||
					strings.Count(line, `"connection_id"`) != 1 {
					t.Errorf("the line does not name its run and connection, once: %s", line)
				}
				if l.Message == "run ended" && l.Status != "succeeded" {
					t.Errorf("the run is %s", line)
				}
			}
		}
		if len(named) != 5 {
			t.Errorf("of five kinds of lines there were %v:\n%s", named, output.String())
		}
	})
}
