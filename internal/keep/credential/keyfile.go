package credential

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

// KeyFile is the name of the key file in the home folder.
const KeyFile = "secret.key"

// maxKeyFile is more than any way of writing a key needs.
const maxKeyFile = 1 << 10

// LoadKey reads the key file in the folder, and makes it at the first use. Of
// several processes that start at once all get the same key, and a process that
// dies in the middle leaves no half of one. A file that others can read is refused.
func LoadKey(home string) (Key, error) {
	path := filepath.Join(home, KeyFile)
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeKey(home, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return Key{}, fmt.Errorf("make the key file: %w", err)
	}
	return readKey(path)
}

func readKey(path string) (Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return Key{}, fmt.Errorf("open the key file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Key{}, fmt.Errorf("look at the key file: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return Key{}, &fault.Fault{Status: http.StatusBadRequest, Code: CodeKeyExposed, Message: fmt.Sprintf("other users may read or change %s (mode %04o)", path, info.Mode().Perm()),
			Next: "Run: chmod 600 " + path}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return Key{}, fmt.Errorf("read the key file: %w", err)
	}
	key, err := ParseKey(string(text))
	if err != nil {
		return Key{}, &fault.Fault{Status: http.StatusBadRequest, Code: CodeKeyInvalid, Message: path + " does not hold a key", Next: "Restore the file from a backup; without it the stored credentials must be entered again."}
	}
	return key, nil
}

// makeKey writes a whole file under a name of its own and then gives it the
// right name, which fails when there is one already.
func makeKey(home, path string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(home, KeyFile+".*") // exclusive, mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(NewKey().text() + "\n")
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(home)
}

// syncFolder makes the new name durable: a key that a power cut takes away
// takes every credential with it.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
