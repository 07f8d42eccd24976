package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/disk"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/backup"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// BackupPlan is when backups are made, and where.
type BackupPlan struct {
	Folder     string
	Every      time.Duration
	Keep       int // the newest files; the one that was proven last stays as well
	Passphrase string
	// Work is the cost of testing the passphrase; zero means the default.
	Work int
	// Key opens the credentials if the configuration has it; zero means the key file.
	Key credential.Key
}

const (
	// backupLook is how often it is looked whether a backup is due.
	backupLook = time.Minute
	// backupRetry is the pause after a backup that could not be made or proven.
	backupRetry = time.Hour

	backupPrefix, backupSuffix = "pdpp-", ".backup"
)

// makeBackups makes a backup whenever one is due and proves it, for as long as the process runs.
func (s *process) makeBackups(ctx context.Context) {
	for s.Backups != nil {
		proof, err := store.ReadBackupProof(ctx, s.Store)
		if err != nil {
			s.Log.WarnContext(ctx, "whether a backup is due is not known; it is tried again", "error", err)
		} else if pause := s.Backups.pause(proof); s.Now().Sub(proof.TriedAt) >= pause {
			s.backUpOnce(ctx, proof)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(backupLook):
		}
	}
}

// pause returns how long after the last attempt the next one begins.
func (p *BackupPlan) pause(last store.BackupProof) time.Duration {
	if last.Failure != "" {
		return min(backupRetry, p.Every)
	}
	return p.Every
}

// backUpOnce makes a backup, proves it, removes old ones and stores the result.
func (s *process) backUpOnce(ctx context.Context, proof store.BackupProof) {
	proof.TriedAt, proof.Failure = s.Now(), ""
	file := filepath.Join(s.Backups.Folder, backupPrefix+proof.TriedAt.UTC().Format("20060102-150405")+backupSuffix)
	proven, err := s.writeAndProve(ctx, file)
	if ctx.Err() != nil {
		return
	}
	var known *usererr.Error
	switch {
	case err == nil:
		proof.ProvenAt, proof.File, proof.Records = s.Now(), file, proven.Counts.Records
		s.Log.InfoContext(ctx, "a backup was made, restored and compared", "file", file, "records", proof.Records)
	case errors.As(err, &known):
		proof.Failure = strings.TrimSuffix(known.Message, ".")
	default:
		proof.Failure = "the backup failed, and the log of the server says why"
	}
	if err != nil {
		s.Log.ErrorContext(ctx, "a backup could not be made or proven", "file", file, "error", err)
	}
	if err := s.Backups.removeOld(proof.File); err != nil {
		s.Log.WarnContext(ctx, "old backups could not be removed", "error", err)
	}
	if err := proof.SaveIn(ctx, s.Store); err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "the result of a backup could not be stored", "error", err)
	}
}

// writeAndProve makes a backup and restores it into a throw-away home.
func (s *process) writeAndProve(ctx context.Context, file string) (backup.Proof, error) {
	p := s.Backups
	if err := os.MkdirAll(p.Folder, 0o700); err != nil {
		return backup.Proof{}, fmt.Errorf("make the folder of backups: %w", err)
	}
	written, err := backup.Write(ctx, backup.Options{Home: s.Home, File: file, Program: s.Worker.Version, Now: s.Now(),
		Seal: backup.Seal{Passphrase: p.Passphrase, Work: p.Work}})
	if err != nil {
		return backup.Proof{}, err
	}
	if s.Audit != nil {
		s.Audit.Record(ctx, audit.Entry{Kind: audit.Backup, Records: &written.Counts.Records})
	}
	need := 2*written.Database + written.Bytes
	if free, _, err := disk.Space(s.Home); err == nil && free < uint64(need) {
		return backup.Proof{}, &usererr.Error{Code: backup.CodeNotProven,
			Message: "to prove it " + text.Bytes(need) + " have to be free in the home",
			Next:    "Make room on that disk."}
	}
	return backup.Prove(ctx, backup.ProveOptions{File: file, Folder: s.Home, Key: p.Key, Now: s.Now(),
		Keys: backup.Keys{Passphrase: func() (string, error) { return p.Passphrase, nil }}})
}

// removeOld removes all backups but the newest ones and the one that was proven last.
func (p *BackupPlan) removeOld(proven string) error {
	all, err := filepath.Glob(filepath.Join(p.Folder, backupPrefix+"*"+backupSuffix))
	if err != nil {
		return err
	}
	slices.Sort(all) // by time
	for _, path := range all[:max(0, len(all)-p.Keep)] {
		if path != proven {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}
