package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/ops/text"
)

// BackupProof is the state of the scheduled backups.
type BackupProof struct {
	// ProvenAt is when a backup was last restored and compared; zero means never. File and Records describe it.
	ProvenAt time.Time `json:"proven_at,omitzero"`
	File     string    `json:"file,omitempty"`
	Records  int64     `json:"records,omitzero"`
	// TriedAt is when a backup was last begun. Failure is why it is not proven; empty means that it is.
	TriedAt time.Time `json:"tried_at,omitzero"`
	Failure string    `json:"failure,omitempty"`
}

const backupProofSetting = "backup_proof"

// settingStore is the part of a store that a proof needs.
type settingStore interface {
	Setting(ctx context.Context, name string) ([]byte, error)
	PutSetting(ctx context.Context, name string, value []byte, now time.Time) error
}

// ReadBackupProof returns the state of the scheduled backups; the zero value means that none was made.
func ReadBackupProof(ctx context.Context, s settingStore) (p BackupProof, err error) {
	body, err := s.Setting(ctx, backupProofSetting)
	if errors.Is(err, ErrNotFound) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(body, &p)
	}
	if err != nil {
		return p, fmt.Errorf("read the proof of backups: %w", err)
	}
	return p, nil
}

// SaveIn stores the state.
func (p BackupProof) SaveIn(ctx context.Context, s settingStore) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return s.PutSetting(ctx, backupProofSetting, body, p.TriedAt)
}

// Sentence describes the state to the owner; empty means that no backup was made.
func (p BackupProof) Sentence() string {
	proven := "Backup proven on " + p.ProvenAt.Format("2 January 2006") + ": " +
		text.Count(p.Records, "record", "records") + " restored and compared."
	switch {
	case p.TriedAt.IsZero():
		return ""
	case p.Failure == "":
		return proven
	case p.ProvenAt.IsZero():
		return "No backup is proven: " + p.Failure + "."
	}
	return "The last backup is not proven: " + p.Failure + ". " + proven
}
