package codex

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/localdb"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// maxThreads bounds the rows that are read of the index, the newest ones.
const maxThreads = 20_000

// threadIndex is Codex's own index of threads. Codex rebuilds it at any time: rows may be missing and paths may be
// outdated.
type threadIndex struct {
	rows  map[string]*threadRecord
	at    map[string]time.Time // of a row's last change
	names map[string]string    // from session_index.jsonl, the last entry
	err   error

	schema  localdb.SchemaSample
	compare func(stream, route, member string, announced, counted int64)
}

// readThreads reads the newest index there is.
func (x *threadIndex) readThreads(ctx context.Context, home, databases, named string) {
	x.rows, x.at, x.names = map[string]*threadRecord{}, map[string]time.Time{}, map[string]string{}
	path := named
	for _, dir := range []string{databases, home} {
		if path == "" && dir != "" {
			path = newestIndex(dir)
		}
	}
	if path != "" {
		x.err = localdb.ReadDatabase(ctx, path, x.readIndexRows)
	}
	if home != "" {
		x.readThreadNames(filepath.Join(home, "session_index.jsonl"))
	}
}

// newestIndex is the database of the highest generation in a folder.
func newestIndex(dir string) string {
	list, err := filepath.Glob(filepath.Join(dir, "state*.sqlite"))
	if err != nil || len(list) == 0 {
		return ""
	}
	return slices.MaxFunc(list, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
}

var errNoThreads = errors.New("the index has no threads")

func (x *threadIndex) readIndexRows(ctx context.Context, db *sql.DB) error {
	columns, err := localdb.Columns(ctx, db, "threads")
	if err != nil {
		return err
	}
	if !columns["id"] {
		return errNoThreads
	}
	if err := localdb.CompareSchema(ctx, db, x.schema); err != nil {
		return err
	}
	column := func(name string) string {
		if columns[name] {
			return "\"" + name + "\""
		}
		return "NULL"
	}
	order := "id"
	if columns["updated_at"] {
		order = "updated_at"
	}
	text := "SELECT id"
	for _, name := range []string{
		"created_at", "updated_at", "cwd", "title", "sandbox_policy", "approval_mode", "tokens_used", "first_user_message",
		"archived",
		"git_sha", "git_branch", "git_origin_url", "cli_version", "model_provider", "model",
	} {
		text += ", " + column(name)
	}
	rows, err := db.QueryContext(ctx, fmt.Sprintf("%s FROM threads ORDER BY %s DESC LIMIT %d", text, order, maxThreads))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s threadRecord
		var created, updated, tokens sql.NullInt64
		var archived sql.NullBool
		var texts [11]sql.NullString
		into := []any{&s.ID, &created, &updated, &texts[0], &texts[1], &texts[2], &texts[3], &tokens, &texts[4], &archived}
		for i := 5; i < len(texts); i++ {
			into = append(into, &texts[i])
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, to := range []*string{
			&s.CWD, &s.Title, &s.SandboxPolicy, &s.ApprovalMode, &s.FirstMessage, &s.GitCommit, &s.GitBranch, &s.RepositoryURL,
			&s.CLIVersion, &s.ModelProvider, &s.Model,
		} {
			*to = localfile.ShortText(texts[i].String, 2000)
		}
		s.Title = localfile.ShortText(s.Title, 500)
		if tokens.Valid {
			s.Tokens = &tokens.Int64
		}
		if archived.Valid {
			s.Archived = &archived.Bool
		}
		s.StartedAt, s.LastEventAt = localfile.RecordTime(fmt.Sprint(created.Int64)),
			localfile.RecordTime(fmt.Sprint(updated.Int64))
		x.rows[s.ID], x.at[s.ID] = &s, time.Unix(updated.Int64, 0)
	}
	return rows.Err()
}

// readThreadNames reads the names of threads; a missing file means no names.
func (x *threadIndex) readThreadNames(path string) {
	h, err := os.Open(path)
	if err != nil {
		return
	}
	defer h.Close()
	lines := bufio.NewScanner(io.LimitReader(h, 64<<20))
	for lines.Scan() {
		var l struct {
			ID      string `json:"id"`
			Name    string `json:"thread_name"`
			Updated string `json:"updated_at"`
		}
		if json.Unmarshal(lines.Bytes(), &l, jsontext.AllowInvalidUTF8(true)) != nil || l.ID == "" {
			continue
		}
		x.names[l.ID] = localfile.ShortText(l.Name, 500)
		if at, err := time.Parse(time.RFC3339Nano, l.Updated); err == nil && at.After(x.at[l.ID]) {
			x.at[l.ID] = at
		}
	}
}

// indexWriteDelay is how late a row may be written after the time that it bears.
const indexWriteDelay = 10 * time.Minute

// indexChangedSince reports whether the index has a newer row for the thread of a rollout.
func (x *threadIndex) indexChangedSince(rollout string, since time.Time) bool {
	at, known := x.at[threadIDOf(rollout)]
	return known && at.After(since.Add(-indexWriteDelay))
}

// completeSession adds to a session the values that only the index has.
func (x *threadIndex) completeSession(s *threadRecord) {
	if name := x.names[s.ID]; name != "" {
		s.Title = name
	}
	row := x.rows[s.ID]
	if row == nil {
		return
	}
	for to, value := range map[*string]string{
		&s.CWD: row.CWD, &s.Title: row.Title, &s.SandboxPolicy: row.SandboxPolicy, &s.ApprovalMode: row.ApprovalMode,
		&s.FirstMessage: row.FirstMessage,
		&s.GitCommit:    row.GitCommit, &s.GitBranch: row.GitBranch, &s.RepositoryURL: row.RepositoryURL,
		&s.CLIVersion:    row.CLIVersion,
		&s.ModelProvider: row.ModelProvider, &s.Model: row.Model,
	} {
		if *to == "" {
			*to = value
		}
	}
	s.Tokens = row.Tokens
	if row.Archived != nil && *row.Archived {
		s.Archived = row.Archived
	}
}

// reportIndexedOnly reports the state of the index itself, and compares its threads with the rollouts. Threads without
// a rollout are emitted once, because their rollouts may have been collected before they were removed.
func (x *threadIndex) reportIndexedOnly(f *localfile.File, state jsontext.Value) error {
	if x.err != nil {
		return x.err
	}
	f.SetState(true)
	if filepath.Base(f.Path) != filepath.Base(newestIndex(filepath.Dir(f.Path))) {
		return nil
	}
	only := maps.Clone(x.rows)
	for _, id := range f.IDs() {
		delete(only, threadIDOf(id))
	}
	x.compare("sessions", "FILE thread_index", "threads", int64(len(x.rows)), int64(len(x.rows)-len(only)))
	if state != nil {
		return nil
	}
	for _, row := range only {
		emitUpsert(f, "sessions", row)
	}
	return nil
}
