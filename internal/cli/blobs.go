package cli

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/blob/bucket"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
)

// How much is kept of the files of records.
const (
	envBlobBytes    = "PDPP_MAX_BLOB_BYTES"
	envRunBlobBytes = "PDPP_MAX_RUN_BLOB_BYTES"
	envAllBlobBytes = "PDPP_MAX_ALL_BLOB_BYTES"
)

// Where they are kept, if not on this machine.
const (
	envBlobs      = "PDPP_BLOBS_URL"
	envKeyID      = "AWS_ACCESS_KEY_ID"
	envKeySecret  = "AWS_SECRET_ACCESS_KEY"
	envKeySession = "AWS_SESSION_TOKEN"
)

// blobs is where the files of records are kept, and how much of them.
func (a *app) blobs() (b launch.Blobs, err error) {
	home, err := a.homeDir()
	if err != nil {
		return b, err
	}
	if b.Place, err = a.blobPlace(filepath.Join(home, "blobs")); err != nil {
		return b, err
	}
	for name, to := range map[string]*int64{envBlobBytes: &b.Each, envRunBlobBytes: &b.Run, envAllBlobBytes: &b.All} {
		if *to, err = a.blobLimit(name); err != nil {
			return b, err
		}
	}
	return b, nil
}

// blobPlace is the folder, or the bucket that is named instead. A backup of the embedded database
// takes the folder along and knows no other place, so that a bucket needs PostgreSQL.
func (a *app) blobPlace(folder string) (blob.Place, error) {
	address, _, err := a.variable(envBlobs)
	if address = strings.TrimSpace(address); err != nil || address == "" {
		return blob.Folder{Dir: folder}, err
	}
	database, err := a.postgresURL()
	if err != nil {
		return nil, err
	}
	if database == "" {
		return nil, configError(envBlobs+" needs a PostgreSQL.", "Set "+envDatabase+", or leave "+envBlobs+" out: files are kept beside the embedded database then.")
	}
	var keys bucket.Keys
	for name, to := range map[string]*string{envKeyID: &keys.ID, envKeySecret: &keys.Secret, envKeySession: &keys.Session} {
		if *to, _, err = a.variable(name); err != nil {
			return nil, err
		}
	}
	place, err := bucket.Open(address, keys, filepath.Join(folder, "tmp"))
	if err != nil {
		return nil, configError(envBlobs+" names no bucket: "+err.Error()+".", "See `Files in a bucket` in docs/operations.md.")
	}
	return place, nil
}

// blobLimit is a number of bytes: zero for the default, negative for none.
func (a *app) blobLimit(name string) (int64, error) {
	text, _, err := a.variable(name)
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
		return 0, configError(name+" is not a number of bytes: "+strconv.Quote(text), "Use a whole number, or 0 to disable the limit.")
	}
	return n, nil
}
