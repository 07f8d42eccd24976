package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlite"
)

// ProveOptions are what to prove and where.
type ProveOptions struct {
	File string
	Keys Keys
	// Folder gets the throw-away home, which is removed at the end. It needs as much space as the restored home.
	Folder string
	// Key opens the credentials if the configuration has it. Zero means that the archive has it.
	Key     credential.Key
	Now     time.Time
	Observe Observer
}

// Proof describes a backup that was restored and compared.
type Proof struct {
	File    string      `json:"file"`
	Streams []StreamSum `json:"streams"`
	Files   int         `json:"files_of_records"`
	Secrets int         `json:"credentials"`
	Header
}

const drillFolder = ".drill-*"

// Prove restores a backup into a throw-away home and compares everything: the sum of each file, the records of each
// stream by count and hash, the files that records refer to, and whether the key opens the credentials. It never
// touches another home.
func Prove(ctx context.Context, o ProveOptions) (p Proof, err error) {
	left, err := filepath.Glob(filepath.Join(o.Folder, drillFolder)) // of a drill that was interrupted
	if err != nil {
		return p, err
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return p, fileError(path, err)
		}
	}
	dir, err := os.MkdirTemp(o.Folder, drillFolder) // mode 0700
	if err != nil {
		return p, fileError(o.Folder, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	home := filepath.Join(dir, "home")
	restored, err := Restore(ctx, RestoreOptions{File: o.File, Home: home, Keys: o.Keys, KeepAccess: true, Now: o.Now,
		Observe: o.Observe})
	if err != nil {
		return p, err
	}
	p.File, p.Header = o.File, restored.Header
	if p.Streams, err = sumStreams(ctx, filepath.Join(home, databaseFile)); err != nil {
		return p, err
	}
	// Another schema may write records in another way.
	same := p.Header.Streams == nil || p.Schema != sqlite.SchemaVersion() || slices.Equal(p.Streams, p.Header.Streams)
	if !same {
		return p, notProven("the restored records are not those that were backed up", nil)
	}
	if p.Files, err = proveFiles(ctx, home); err != nil {
		return p, err
	}
	p.Secrets, err = proveSecrets(ctx, home, o.Key)
	return p, err
}

func notProven(message string, err error) *usererr.Error {
	return &usererr.Error{Code: CodeNotProven, Message: message, Err: err,
		Next: "Look for the cause with pdpp doctor, then make a new backup. Keep the earlier ones until one is proven."}
}

// proveFiles reads every file of records of a restored home.
func proveFiles(ctx context.Context, home string) (n int, err error) {
	hashes, err := referencedBlobs(ctx, filepath.Join(home, databaseFile))
	if err != nil {
		return 0, err
	}
	missing := 0
	for _, hash := range hashes {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		same, err := hasHash(filepath.Join(home, blobsDir, hash[:min(2, len(hash))], hash), hash)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && !same:
			missing++
		case err != nil:
			return n, err
		}
		n++
	}
	if missing > 0 {
		return n, notProven(fmt.Sprintf("the backup has not all files of records: %d of %d are missing", missing, n), nil)
	}
	return n, nil
}

func hasHash(path, hash string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)) == hash, err
}

// proveSecrets opens every stored credential of a restored home.
func proveSecrets(ctx context.Context, home string, key credential.Key) (n int, err error) {
	st, err := sqlite.Open(ctx, filepath.Join(home, databaseFile), sqlite.Options{})
	if err != nil {
		return 0, fmt.Errorf("open the restored database: %w", err)
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	all, err := st.ListConnections(ctx)
	if err != nil {
		return 0, err
	}
	for _, c := range all {
		kept, err := st.Credential(ctx, c.ID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return n, err
		}
		if key.IsZero() {
			if _, err := os.Lstat(filepath.Join(home, credential.KeyFile)); err != nil {
				return n, notProven("the backup has credentials, and no key that opens them", err)
			}
			if key, err = credential.LoadKey(home); err != nil {
				return n, err
			}
		}
		if _, err := credential.OpenFor(key, c.ID, kept.Sealed); err != nil {
			if _, tokensErr := credential.OpenTokens(key, c.ID, kept.Sealed); tokensErr != nil {
				return n, notProven("the key of the backup does not open the stored credentials", err)
			}
		}
		n++
	}
	return n, nil
}
