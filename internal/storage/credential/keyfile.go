package credential

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// KeyFile is the name of the key file in the home folder.
const KeyFile = "secret.key"

// maxKeyFileSize is larger than any encoding of a key.
const maxKeyFileSize = 1 << 10

// LoadKey reads the key file in the folder, and creates it on first use. Processes that start at the same time all
// get the same key, and an interrupted one leaves no partial file. A file that others can read is rejected.
func LoadKey(home string) (Key, error) {
	path := filepath.Join(home, KeyFile)
	key, err := readKeyFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := createKeyFile(home, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return Key{}, fmt.Errorf("make the key file: %w", err)
	}
	return readKeyFile(path)
}

func readKeyFile(path string) (Key, error) {
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
		return Key{}, &usererr.Error{Status: http.StatusBadRequest, Code: CodeKeyExposed,
			Message: fmt.Sprintf("other users may read or change %s (mode %04o)", path, info.Mode().Perm()),
			Next:    "Run: chmod 600 " + path}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFileSize))
	if err != nil {
		return Key{}, fmt.Errorf("read the key file: %w", err)
	}
	key, err := ParseKey(string(text))
	if err != nil {
		return Key{}, &usererr.Error{Status: http.StatusBadRequest, Code: CodeKeyInvalid, Message: path +
			" does not hold a key", Next: "Restore the file from a backup; without it the stored credentials must be entered " +
			"again."}
	}
	return key, nil
}

// createKeyFile writes a complete temporary file and then links it to its name, which fails when the name exists.
func createKeyFile(home, path string) error {
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
	return syncKeyFolder(home)
}

// syncKeyFolder makes the new name durable: losing the key in a power cut would lose every credential.
func syncKeyFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
