package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/filelock"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"

	"filippo.io/age"
)

// Options are what to write and where.
type Options struct {
	Home    string
	File    string // the archive to write
	Replace bool   // replace an older archive of that name
	Seal    Seal
	// WithoutImports leaves out imported files.
	WithoutImports bool
	Program        string // version of this program
	Now            time.Time
	Observe        Observer
}

// Written describes an archive that was written and read back.
type Written struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Sealed bool   `json:"sealed"`
	Header
}

// Write creates an archive of a home, even while a server uses it. The archive appears under its name, readable only
// by its owner, after it was read back completely.
func Write(ctx context.Context, o Options) (done Written, err error) {
	seal, err := o.Seal.prepare()
	if err != nil {
		return done, err
	}
	if err := o.checkOptions(); err != nil {
		return done, err
	}
	release, err := lockHome(o.Home)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	copied, header, err := o.copyAndCheck(ctx)
	if copied != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(copied))) }()
	}
	if err != nil {
		return done, err
	}
	size, err := o.writeAndVerify(ctx, seal, copied, header)
	if err != nil {
		return done, err
	}
	return Written{File: o.File, Bytes: size, Sealed: !o.Seal.Plain, Header: header}, nil
}

func (o Options) checkOptions() error {
	if _, err := os.Stat(filepath.Join(o.Home, databaseFile)); err != nil {
		return &usererr.Error{Code: CodeNoData, Message: "there is no database in " + o.Home,
			Next: "Name another folder with --home.", Err: err}
	}
	info, err := os.Lstat(o.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fileError(o.File, err)
	case !info.Mode().IsRegular():
		return &usererr.Error{Code: CodeExists, Message: o.File + " is not an ordinary file", Next: "Choose another name."}
	case !o.Replace:
		return &usererr.Error{Code: CodeExists, Message: o.File + " exists already",
			Next: "Choose another name, or replace it with --force."}
	}
	return nil
}

func fileError(path string, err error) *usererr.Error {
	return &usererr.Error{Code: CodePlace, Message: "cannot write to " + path + ": " + systemCause(err),
		Next: "Check the folder, its permissions and the free space.", Err: err}
}

// systemCause returns the system's error without the path.
func systemCause(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return "it cannot be used"
}

// lockHome allows one backup of a home at a time, and removes what an interrupted one left.
func lockHome(home string) (release func() error, err error) {
	f, err := os.OpenFile(filepath.Join(home, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fileError(home, err)
	}
	if locked, err := filelock.TryLock(f); !locked {
		_ = f.Close()
		return nil, &usererr.Error{Code: CodeBusy, Message: "another backup of " + home + " is being made",
			Next: "Wait until it has ended.", Err: err}
	}
	left, err := filepath.Glob(filepath.Join(home, workFolder))
	for _, path := range left {
		if info, statErr := os.Lstat(path); statErr == nil && info.IsDir() {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// copyAndCheck creates a checked copy of the database in a folder within the home: unsealed data never leaves it.
func (o Options) copyAndCheck(ctx context.Context) (path string, h Header, err error) {
	dir, err := os.MkdirTemp(o.Home, workFolder)
	if err != nil {
		return "", h, fileError(o.Home, err)
	}
	path = filepath.Join(dir, databaseFile)
	o.Observe.report(StepCopy, 0, fileSize(filepath.Join(o.Home, databaseFile)))
	if err := copyDatabase(ctx, filepath.Join(o.Home, databaseFile), path); err != nil {
		return path, h, err
	}
	o.Observe.report(StepCheck, 0, fileSize(path))
	h = Header{Format: formatWithoutBlobs, Program: o.Program, CreatedAt: o.Now.UTC(), Database: fileSize(path)}
	if h.Schema, h.Counts, err = inspectDatabase(ctx, path); err == nil {
		h.Streams, err = sumStreams(ctx, path)
	}
	return path, h, err
}

// writeAndVerify writes the archive, reads it back, and then renames it.
func (o Options) writeAndVerify(ctx context.Context, seal sealMethod, database string, h Header) (n int64, err error) {
	temp, err := os.CreateTemp(filepath.Dir(o.File), archiveTempName) // mode 0600
	if err != nil {
		return 0, fileError(o.File, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	tell := func(step StepName) func(int64) {
		return func(done int64) { o.Observe.report(step, done, h.Database) }
	}
	if err := writeArchive(ctx, temp, seal, archiveSource{o.Home, database, !o.WithoutImports}, h,
		tell(StepWrite)); err != nil {
		return 0, errors.Join(o.writeError(err), temp.Close())
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return 0, fileError(o.File, err)
	}
	if err := verifyArchive(ctx, temp.Name(), seal, tell(StepVerify)); err != nil {
		return 0, err
	}
	n = fileSize(temp.Name())
	o.Observe.report(StepPlace, n, n)
	if err := os.Rename(temp.Name(), o.File); err != nil {
		return 0, fileError(o.File, err)
	}
	return n, syncFolder(filepath.Dir(o.File))
}

// writeError distinguishes a full disk from an unreadable file of the home.
func (o Options) writeError(err error) error {
	if outOfRoom(err) || errors.Is(err, syscall.EIO) {
		return fileError(o.File, err)
	}
	return err
}

func verifyArchive(ctx context.Context, path string, seal sealMethod, tell func(int64)) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read the archive back: %w", err)
	}
	defer f.Close()
	var identities []age.Identity
	if seal.reopen != nil {
		identities = seal.reopen()
	}
	if _, err := readArchive(ctx, f, seal.reopen == nil, identities, discardReceiver{}, tell); err != nil {
		return fmt.Errorf("read the archive back: %w", err)
	}
	return nil
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// syncFolder makes a new name in the folder durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
