package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

func writeError(err error) *Error {
	return &Error{Code: "write_failed", Exit: ExitFailed, Err: err, Message: safe("the export could not be written: " + innermost(err).Error()),
		Next: "Check the place and the free space, then try again."}
}

// innermost is cause for errors that were joined: of several the first counts.
func innermost(err error) error {
	for {
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || len(joined.Unwrap()) == 0 {
			return cause(err)
		}
		err = joined.Unwrap()[0]
	}
}

// writeFile makes path appear with its whole content or not at all, private to
// its owner.
func writeFile(path string, force bool, write func(io.Writer) (int64, error)) (n int64, err error) {
	if info, err := os.Lstat(path); err == nil {
		switch {
		case !info.Mode().IsRegular():
			return 0, &Error{Code: "file_exists", Exit: ExitFailed, Message: path + " is not an ordinary file", Next: "Choose another name."}
		case !force:
			return 0, &Error{Code: "file_exists", Exit: ExitFailed, Message: path + " exists already", Next: "Choose another name, or replace it with --force."}
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
