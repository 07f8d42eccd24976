package maintenance

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/storage/backup"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/postgres"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
	"github.com/pdpp-go/pdpp/internal/storage/transfer"
)

const moveHelp = `Copies everything from the embedded database of the home into an empty PostgreSQL, or from
a PostgreSQL into the home, and compares every table and every stream by count and hash.
The destination gets everything or nothing, and the source stays as it is. Stop every
server first.

Files of records come along if they are kept elsewhere afterwards (PDPP_BLOBS_URL). The key,
imported files and connectors stay in the home, which a server needs in both cases. The
text of records becomes searchable again while pdpp serve runs.`

const moveExamples = `  pdpp move --to postgres://pdpp@db.internal/pdpp
  pdpp move --to home --database-url postgres://pdpp@db.internal/pdpp`

// toHome is the destination that means the embedded database of the home.
const toHome = "home"

// NewMoveCommand returns the command pdpp move.
func NewMoveCommand(inv *command.Invocation) *cobra.Command {
	to := ""
	cmd := &cobra.Command{
		Use: "move --to URL", Short: "Move the data between this home and a PostgreSQL", Long: moveHelp,
		Example: moveExamples, Args: arguments.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return moveData(cmd.Context(), inv, to) },
	}
	cmd.Flags().StringVar(&to, "to", "", "postgres://..., or home for the embedded database")
	return cmd
}

// movePlan is from where to where the data moves.
type movePlan struct {
	home, from, to string // URLs; empty: the embedded database of home
	created        bool   // the file of the destination did not exist
}

func newMovePlan(inv *command.Invocation, to string) (p movePlan, err error) {
	if err := inv.RefuseServer(); err != nil {
		return p, err
	}
	if p.from, err = inv.PostgresURL(); err != nil {
		return p, err
	}
	if p.home, err = inv.HomeFolder(); err != nil {
		return p, err
	}
	isServer := strings.HasPrefix(to, "postgres://") || strings.HasPrefix(to, "postgresql://")
	switch {
	case !isServer && to != toHome:
		return p, failure.UsageError("--to names no database", "Use --to postgres://..., or --to home.")
	case isServer == (p.from != ""):
		return p, failure.UsageError("the data is in such a database already",
			"Move between the home and a PostgreSQL; the source is what PDPP_DATABASE_URL or --database-url names.")
	case isServer:
		p.to = to
	}
	if p.to == "" {
		_, err := os.Lstat(filepath.Join(p.home, command.DatabaseFile))
		p.created = errors.Is(err, fs.ErrNotExist)
	}
	return p, nil
}

func moveData(ctx context.Context, inv *command.Invocation, to string) (err error) {
	p, err := newMovePlan(inv, to)
	if err != nil {
		return err
	}
	source, err := inv.OpenStore(ctx, command.MustExist)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := requireIdle(ctx, inv, source); err != nil {
		return err
	}
	destination, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, destination.Close())
		if err != nil && p.created {
			err = errors.Join(err, p.removeFile())
		}
	}()
	files, err := p.copyFiles(ctx, inv)
	if err != nil {
		return err
	}
	show := newMoveDisplay(inv)
	parts, err := transfer.Copy(ctx, transfer.Database{Store: source, Postgres: p.from != ""},
		transfer.Database{Store: destination, Postgres: p.to != ""}, show.observe)
	show.end()
	if err != nil {
		return err
	}
	var records, streams int64
	for _, part := range parts {
		if part.Table == "records" {
			records, streams = records+part.Rows, streams+1
		}
	}
	next := "unset " + command.EnvDatabase + ", and start pdpp serve"
	if p.to != "" {
		next = "set " + command.EnvDatabase + " to that address, keep PDPP_HOME, and start pdpp serve. Never start a " +
			"server without it again: the old database stays in " + p.home
	}
	return inv.PrintResult(map[string]any{"compared": parts, "files_of_records": files},
		"Moved %s in %s, and %s of records. Every table and stream is equal by count and hash.\nNext: %s.\n",
		text.Count(records, "record", "records"), text.Count(streams, "stream", "streams"),
		text.Count(files, "file", "files"), next)
}

// open opens the destination, and creates it if it is a file.
func (p movePlan) open(ctx context.Context) (store.Store, error) {
	if p.to != "" {
		st, err := postgres.Open(ctx, p.to, postgres.Options{})
		return st, failure.StorageError(ctx, err, "the database server")
	}
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(p.home, command.DatabaseFile)
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	return st, failure.StorageError(ctx, err, path)
}

// removeFile removes the database that this command has created.
func (p movePlan) removeFile() (err error) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if removed := os.Remove(filepath.Join(p.home, command.DatabaseFile+suffix)); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// requireIdle rejects a database that a server uses.
func requireIdle(ctx context.Context, inv *command.Invocation, st store.Store) error {
	o, err := inv.LocalOwner(st)
	if err != nil {
		return err
	}
	if alive, err := command.AnyWorkerAlive(ctx, o); err != nil || !alive {
		return err
	}
	return &failure.Error{Code: backup.CodeHomeInUse, Message: "a server is using the data",
		Next: "Stop every pdpp serve, wait a minute, and repeat the command. Nothing was changed."}
}

// copyFiles copies the files of records to where the destination keeps them.
func (p movePlan) copyFiles(ctx context.Context, inv *command.Invocation) (n int64, err error) {
	folder := blob.FolderStorage{Dir: filepath.Join(p.home, "blobs")}
	server := *inv
	if p.to != "" {
		server.DatabaseURL = p.to
	}
	blobs, err := server.Blobs()
	if err != nil {
		return 0, err
	}
	if blobs.Place == blob.Storage(folder) {
		return 0, nil
	}
	from, to := blobs.Place, blob.Storage(folder)
	if p.to != "" {
		from, to = to, from
	}
	err = from.List(ctx, time.Time{}, func(f blob.StoredFile) error {
		n++
		return copyFile(ctx, from, to, f.SHA256)
	})
	return n, err
}

func copyFile(ctx context.Context, from, to blob.Storage, hash string) error {
	if _, err := to.Stat(ctx, hash); !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	f, err := from.Open(ctx, hash)
	if err != nil {
		return err
	}
	defer f.Close()
	got, _, err := to.Put(ctx, f)
	if err == nil && got != hash {
		err = &failure.Error{Code: transfer.CodeDiffers, Exit: failure.ExitFailed, Message: "a file of records is damaged",
			Next: "pdpp doctor lists such files."}
	}
	return err
}

// moveDisplay shows the progress: one line on a terminal, and nothing elsewhere.
type moveDisplay struct {
	invocation *command.Invocation
	live       bool
}

func newMoveDisplay(inv *command.Invocation) *moveDisplay {
	_, live := output.TerminalFile(inv.ErrOut)
	return &moveDisplay{inv, live && !inv.JSON}
}

func (d *moveDisplay) observe(table string, rows int64) {
	if d.live {
		output.Printf(output.RawWriter(d.invocation.ErrOut), "\r\x1b[KCopying %s (%s)", strings.ReplaceAll(table, "_", " "),
			text.Number(rows))
	}
}

// end clears the line on the terminal.
func (d *moveDisplay) end() {
	if d.live {
		output.Printf(output.RawWriter(d.invocation.ErrOut), "\r\x1b[K")
	}
}
