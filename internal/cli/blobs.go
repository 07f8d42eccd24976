package cli

import (
	"path/filepath"
	"strconv"
	"strings"

	"pdpp/internal/blob"
	"pdpp/internal/collect/launch"
)

// How much is kept of the files of records.
const (
	envBlobBytes    = "PDPP_MAX_BLOB_BYTES"
	envRunBlobBytes = "PDPP_MAX_RUN_BLOB_BYTES"
	envAllBlobBytes = "PDPP_MAX_ALL_BLOB_BYTES"
)

// blobs is where the files of records are kept on this machine, and how much of them.
func (a *app) blobs() (b launch.Blobs, err error) {
	home, err := a.homeDir()
	if err != nil {
		return b, err
	}
	b.Place = blob.Folder{Dir: filepath.Join(home, "blobs")}
	for name, to := range map[string]*int64{envBlobBytes: &b.Each, envRunBlobBytes: &b.Run, envAllBlobBytes: &b.All} {
		if *to, err = a.blobLimit(name); err != nil {
			return b, err
		}
	}
	return b, nil
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
