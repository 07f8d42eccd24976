package cli

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// restoreModes takes from other users of this machine what they may do with the home, the key and the database, and
// returns the names of those that were open to them. A mode that cannot be changed is logged.
func restoreModes(home string, log *slog.Logger) (restored []string) {
	paths, _ := filepath.Glob(filepath.Join(home, databaseFile+"*")) // the pattern is a good one
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

// reportModes keeps for doctor what restoreModes restored at this start, or that it was nothing.
func reportModes(ctx context.Context, st store.Store, restored []string, now time.Time) error {
	c := evidence.Component{Name: store.ComponentModes, Status: evidence.ProbeOK, Reason: strings.Join(restored, ","),
		At: now}
	if err := st.PutComponent(ctx, c); err != nil {
		return fmt.Errorf("report the modes of files: %w", err)
	}
	return nil
}
