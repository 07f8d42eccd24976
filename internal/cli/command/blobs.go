package command

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/blob/bucket"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
)

// Variables that limit the size of stored files.
const (
	envBlobBytes    = "PDPP_MAX_BLOB_BYTES"
	envRunBlobBytes = "PDPP_MAX_RUN_BLOB_BYTES"
	envAllBlobBytes = "PDPP_MAX_ALL_BLOB_BYTES"
)

// Variables that store files in a bucket instead of on this machine.
const (
	envBlobs      = "PDPP_BLOBS_URL"
	envKeyID      = "AWS_ACCESS_KEY_ID"
	envKeySecret  = "AWS_SECRET_ACCESS_KEY"
	envKeySession = "AWS_SESSION_TOKEN"
)

// Blobs returns where files of records are stored, and their limits.
func (inv *Invocation) Blobs() (b launch.Blobs, err error) {
	home, err := inv.HomeFolder()
	if err != nil {
		return b, err
	}
	if b.Place, err = inv.blobPlace(filepath.Join(home, "blobs")); err != nil {
		return b, err
	}
	for name, to := range map[string]*int64{envBlobBytes: &b.Each, envRunBlobBytes: &b.Run, envAllBlobBytes: &b.All} {
		if *to, err = inv.blobLimit(name); err != nil {
			return b, err
		}
	}
	return b, nil
}

// blobPlace returns the local folder, or the configured bucket. A bucket requires PostgreSQL, because a backup of the
// embedded database includes only the local folder.
func (inv *Invocation) blobPlace(folder string) (blob.Storage, error) {
	address, _, err := inv.Variable(envBlobs)
	if address = strings.TrimSpace(address); err != nil || address == "" {
		return blob.FolderStorage{Dir: folder}, err
	}
	database, err := inv.PostgresURL()
	if err != nil {
		return nil, err
	}
	if database == "" {
		return nil, failure.ConfigurationError(envBlobs+" needs a PostgreSQL.", "Set "+EnvDatabase+", or leave "+envBlobs+
			" out: files are kept beside the embedded database then.")
	}
	keys, err := inv.accessKeys()
	if err != nil {
		return nil, err
	}
	place, err := bucket.Open(address, keys, filepath.Join(folder, "tmp"))
	if err != nil {
		return nil, failure.ConfigurationError(envBlobs+" names no bucket: "+err.Error()+".",
			"See docs/operate/several-machines.md.")
	}
	return place, nil
}

func (inv *Invocation) accessKeys() (keys bucket.AccessKeys, err error) {
	for name, to := range map[string]*string{envKeyID: &keys.ID, envKeySecret: &keys.Secret,
		envKeySession: &keys.Session} {
		if *to, _, err = inv.Variable(name); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// BucketFiles returns the files of a bucket. Each address has a folder in the home for content in transit.
func (inv *Invocation) BucketFiles(address string) (f bucket.Files, err error) {
	keys, err := inv.accessKeys()
	if err != nil {
		return f, err
	}
	home, err := inv.HomeFolder()
	if err != nil {
		return f, err
	}
	sum := sha256.Sum256([]byte(address))
	f, err = bucket.OpenFiles(address, keys, filepath.Join(home, "mirrors", hex.EncodeToString(sum[:8])))
	if err != nil {
		return f, failure.ConfigurationError("This names no bucket: "+err.Error()+".", "See docs/use/exporting.md.")
	}
	return f, nil
}

// blobLimit returns a number of bytes: zero means the default, negative means no limit.
func (inv *Invocation) blobLimit(name string) (int64, error) {
	text, _, err := inv.Variable(name)
	if err != nil {
		return 0, err
	}
	switch text = strings.TrimSpace(text); {
	case text == "":
		return 0, nil
	case text == "0" || strings.EqualFold(text, "infinity"):
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, failure.ConfigurationError(name+" is not a number of bytes: "+strconv.Quote(text),
			"Use a whole number, or 0 to disable the limit.")
	}
	return n, nil
}
