package codex

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
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

// threads is what Codex's own index says. It is made anew by Codex at will: rows may be
// missing, and paths in it may be old.
type threads struct {
	rows  map[string]*session
	at    map[string]time.Time // of a row's last change
	names map[string]string    // given in session_index.jsonl, the last one
	err   error
}

// readThreads reads the newest index there is.
func readThreads(ctx context.Context, home, databases, named string) *threads {
	x := &threads{rows: map[string]*session{}, at: map[string]time.Time{}, names: map[string]string{}}
	path := named
	for _, dir := range []string{databases, home} {
		if path == "" && dir != "" {
			path = newestIndex(dir)
		}
	}
	if path != "" {
		x.err = localdb.Read(ctx, path, x.readRows)
	}
	if home != "" {
		x.readNames(filepath.Join(home, "session_index.jsonl"))
	}
	return x
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

func (x *threads) readRows(ctx context.Context, db *sql.DB) error {
	columns, err := localdb.Columns(ctx, db, "threads")
	if err != nil {
		return err
	}
	if !columns["id"] {
		return errNoThreads
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
		"created_at", "updated_at", "cwd", "title", "sandbox_policy", "approval_mode", "tokens_used", "first_user_message", "archived",
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
		var s session
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
			&s.CWD, &s.Title, &s.SandboxPolicy, &s.ApprovalMode, &s.FirstMessage, &s.GitCommit, &s.GitBranch, &s.RepositoryURL, &s.CLIVersion, &s.ModelProvider, &s.Model,
		} {
			*to = localfile.Short(texts[i].String, 2000)
		}
		s.Title = localfile.Short(s.Title, 500)
		if tokens.Valid {
			s.Tokens = &tokens.Int64
		}
		if archived.Valid {
			s.Archived = &archived.Bool
		}
		s.StartedAt, s.LastEventAt = localfile.Time(fmt.Sprint(created.Int64)), localfile.Time(fmt.Sprint(updated.Int64))
		x.rows[s.ID], x.at[s.ID] = &s, time.Unix(updated.Int64, 0)
	}
	return rows.Err()
}

// readNames reads the names that threads were given; without the file there are none.
func (x *threads) readNames(path string) {
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
		x.names[l.ID] = localfile.Short(l.Name, 500)
		if at, err := time.Parse(time.RFC3339Nano, l.Updated); err == nil && at.After(x.at[l.ID]) {
			x.at[l.ID] = at
		}
	}
}

// slack is how late a row may be written after the time that it bears.
const slack = 10 * time.Minute

// changed reports whether the index says something new about a rollout's thread.
func (x *threads) changed(rollout string, since time.Time) bool {
	at, known := x.at[threadOf(rollout)]
	return known && at.After(since.Add(-slack))
}

// complete adds to a session what only the index knows.
func (x *threads) complete(s *session) {
	if name := x.names[s.ID]; name != "" {
		s.Title = name
	}
	row := x.rows[s.ID]
	if row == nil {
		return
	}
	for to, value := range map[*string]string{
		&s.CWD: row.CWD, &s.Title: row.Title, &s.SandboxPolicy: row.SandboxPolicy, &s.ApprovalMode: row.ApprovalMode, &s.FirstMessage: row.FirstMessage,
		&s.GitCommit: row.GitCommit, &s.GitBranch: row.GitBranch, &s.RepositoryURL: row.RepositoryURL, &s.CLIVersion: row.CLIVersion,
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

// told accounts for the index itself. Threads of which it alone knows are told once: their
// rollouts may have been collected before they were removed.
func (x *threads) told(f *localfile.File, state jsontext.Value) error {
	if x.err != nil {
		return x.err
	}
	f.SetState(true)
	if state != nil || filepath.Base(f.Path) != filepath.Base(newestIndex(filepath.Dir(f.Path))) {
		return nil
	}
	present := map[string]bool{}
	for _, id := range f.IDs() {
		present[threadOf(id)] = true
	}
	for id, row := range x.rows {
		if !present[id] {
			upsert(f, "sessions", row)
		}
	}
	return nil
}
