package daemon

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// restrictFileModes removes the permissions of other users from the home, the key and the database. It returns the
// names of the files that it changed, and logs each mode that it could not change.
func restrictFileModes(home string, log *slog.Logger) (restored []string) {
	paths, _ := filepath.Glob(filepath.Join(home, command.DatabaseFile+"*")) // the pattern is a good one
	for _, path := range append([]string{home, filepath.Join(home, credential.KeyFile)}, paths...) {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		was := fmt.Sprintf("%04o", info.Mode().Perm())
		if err := os.Chmod(path, info.Mode().Perm()&0o700); err != nil {
			log.Warn("other users of this machine may reach a private file, and its mode cannot be changed", "path", path,
				"mode", was, "error", err)
			continue
		}
		log.Warn("other users of this machine could reach a private file; now only its owner can", "path", path, "mode", was)
		restored = append(restored, filepath.Base(path))
	}
	return restored
}

// storeRestrictedModes stores for doctor which files restrictFileModes changed at this start.
func storeRestrictedModes(ctx context.Context, st store.Store, restored []string, now time.Time) error {
	c := evidence.Component{Name: store.ComponentFileModes, Status: evidence.ProbeOK, Reason: strings.Join(restored, ","),
		At: now}
	if err := st.PutComponent(ctx, c); err != nil {
		return fmt.Errorf("report the modes of files: %w", err)
	}
	return nil
}
