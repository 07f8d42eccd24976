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

	"github.com/pdpp-go/pdpp/internal/ops/fault"

	"filippo.io/age"
)

// Options say what to write and where.
type Options struct {
	Home    string
	File    string // to be written
	Replace bool   // an older archive of that name
	Seal    Seal
	// WithoutImports leaves out the files that the owner imported.
	WithoutImports bool
	Program        string // version of this program
	Now            time.Time
	Observe        Observer
}

// Written tells of an archive that was written and read back.
type Written struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Sealed bool   `json:"sealed"`
	Header
}

// Write makes an archive of a home, also of one that a server is using. The archive
// appears under its name, readable by its owner alone, after it was read back whole.
func Write(ctx context.Context, o Options) (done Written, err error) {
	seal, err := o.Seal.prepare()
	if err != nil {
		return done, err
	}
	if err := o.check(); err != nil {
		return done, err
	}
	release, err := lock(o.Home)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, release()) }()
	copied, header, err := o.copy(ctx)
	if copied != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(copied))) }()
	}
	if err != nil {
		return done, err
	}
	size, err := o.archive(ctx, seal, copied, header)
	if err != nil {
		return done, err
	}
	return Written{File: o.File, Bytes: size, Sealed: !o.Seal.Plain, Header: header}, nil
}

func (o Options) check() error {
	if _, err := os.Stat(filepath.Join(o.Home, databaseFile)); err != nil {
		return &fault.Fault{Code: CodeNoData, Message: "there is no database in " + o.Home, Next: "Name another folder with --home.", Err: err}
	}
	info, err := os.Lstat(o.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fileError(o.File, err)
	case !info.Mode().IsRegular():
		return &fault.Fault{Code: CodeExists, Message: o.File + " is not an ordinary file", Next: "Choose another name."}
	case !o.Replace:
		return &fault.Fault{Code: CodeExists, Message: o.File + " exists already", Next: "Choose another name, or replace it with --force."}
	}
	return nil
}

func fileError(path string, err error) *fault.Fault {
	return &fault.Fault{Code: CodePlace, Message: "cannot write to " + path + ": " + cause(err), Next: "Check the folder, its permissions and the free space.", Err: err}
}

// cause says what the system says, without the way there.
func cause(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return "it cannot be used"
}

// lock lets one backup of a home be made at a time, and clears away what one that
// was killed left.
func lock(home string) (release func() error, err error) {
	f, err := os.OpenFile(filepath.Join(home, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fileError(home, err)
	}
	if err := lockWhole(f); err != nil {
		_ = f.Close()
		return nil, &fault.Fault{Code: CodeBusy, Message: "another backup of " + home + " is being made", Next: "Wait until it has ended.", Err: err}
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

// copy makes a checked copy of the database in a folder of its own within the home:
// what is not sealed never leaves it.
func (o Options) copy(ctx context.Context) (path string, h Header, err error) {
	dir, err := os.MkdirTemp(o.Home, workFolder)
	if err != nil {
		return "", h, fileError(o.Home, err)
	}
	path = filepath.Join(dir, databaseFile)
	o.Observe.tell(StepCopy, 0, size(filepath.Join(o.Home, databaseFile)))
	if err := copyDatabase(ctx, filepath.Join(o.Home, databaseFile), path); err != nil {
		return path, h, err
	}
	o.Observe.tell(StepCheck, 0, size(path))
	h = Header{Format: withoutBlobs, Program: o.Program, CreatedAt: o.Now.UTC(), Database: size(path)}
	h.Schema, h.Counts, err = inspect(ctx, path)
	return path, h, err
}

// archive writes and reads back, then gives the file its name.
func (o Options) archive(ctx context.Context, seal closing, database string, h Header) (n int64, err error) {
	temp, err := os.CreateTemp(filepath.Dir(o.File), archiveTemp) // mode 0600
	if err != nil {
		return 0, fileError(o.File, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	tell := func(step StepName) func(int64) {
		return func(done int64) { o.Observe.tell(step, done, h.Database) }
	}
	if err := writeArchive(ctx, temp, seal, source{o.Home, database, !o.WithoutImports}, h, tell(StepWrite)); err != nil {
		return 0, errors.Join(o.writing(err), temp.Close())
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return 0, fileError(o.File, err)
	}
	if err := verify(ctx, temp.Name(), seal, tell(StepVerify)); err != nil {
		return 0, err
	}
	n = size(temp.Name())
	o.Observe.tell(StepPlace, n, n)
	if err := os.Rename(temp.Name(), o.File); err != nil {
		return 0, fileError(o.File, err)
	}
	return n, syncFolder(filepath.Dir(o.File))
}

// writing tells a full disk from a file of the home that cannot be read.
func (o Options) writing(err error) error {
	if outOfRoom(err) || errors.Is(err, syscall.EIO) {
		return fileError(o.File, err)
	}
	return err
}

func verify(ctx context.Context, path string, seal closing, tell func(int64)) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read the archive back: %w", err)
	}
	defer f.Close()
	var identities []age.Identity
	if seal.reopen != nil {
		identities = seal.reopen()
	}
	if _, err := readArchive(ctx, f, seal.reopen == nil, identities, onlyLook{}, tell); err != nil {
		return fmt.Errorf("read the archive back: %w", err)
	}
	return nil
}

func size(path string) int64 {
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
