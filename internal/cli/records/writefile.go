package records

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

func writeError(err error) *failure.Error {
	return &failure.Error{Code: "write_failed", Exit: failure.ExitFailed, Err: err,
		Message: failure.SafeText("the export could not be written: " + firstRootCause(err).Error()),
		Next:    "Check the place and the free space, then try again."}
}

// firstRootCause is RootCause for joined errors. It follows the first of them.
func firstRootCause(err error) error {
	for {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || len(joined.Unwrap()) == 0 {
			return failure.RootCause(err)
		}
		err = joined.Unwrap()[0]
	}
}

// writeWholeFile writes a private file that appears complete or not at all.
func writeWholeFile(path string, force bool, write func(io.Writer) (int64, error)) (n int64, err error) {
	if info, err := os.Lstat(path); err == nil {
		switch {
		case !info.Mode().IsRegular():
			return 0, &failure.Error{Code: "file_exists", Exit: failure.ExitFailed, Message: path + " is not an ordinary file",
				Next: "Choose another name."}
		case !force:
			return 0, &failure.Error{Code: "file_exists", Exit: failure.ExitFailed, Message: path + " exists already",
				Next: "Choose another name, or replace it with --force."}
		}
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".pdpp-export-*") // mode 0600
	if err != nil {
		return 0, writeError(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	buffered := bufio.NewWriterSize(temp, 1<<16)
	n, err = write(buffered)
	if err != nil {
		return n, errors.Join(err, temp.Close())
	}
	if err := errors.Join(buffered.Flush(), temp.Sync(), temp.Close()); err != nil {
		return n, writeError(err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return n, writeError(err)
	}
	return n, nil
}
