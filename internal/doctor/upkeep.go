package doctor

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// checkUpkeep looks how far what is made of stored records is: counts, search and indexes.
func (x *checkup) checkUpkeep(ctx context.Context) {
	u, err := x.store.Upkeep(ctx, store.IndexAbove)
	if err != nil {
		x.reportUnreadable(CheckUpkeep, err)
		return
	}
	notes := u.Notes()
	for _, n := range notes {
		x.reportWarning(CheckUpkeep, n.Text, n.Next)
	}
	if len(notes) == 0 {
		x.reportGood(CheckUpkeep, "all records are counted and searchable, and "+formatCount(len(u.Indexes), "index is",
			"indexes are")+" ready")
	}
}

// staleBackup is the age at which the backup that was proven last is no longer good enough.
const staleBackup = 30 * 24 * time.Hour

// checkBackup looks whether the scheduled backups can be restored. Without a schedule it reports nothing.
func (x *checkup) checkBackup(ctx context.Context) {
	proof, err := store.ReadBackupProof(ctx, x.store)
	const fix = "Read the log of pdpp serve, then look at the variables PDPP_BACKUP_FOLDER and PDPP_BACKUP_PASSPHRASE."
	switch {
	case err != nil:
		x.reportUnreadable(CheckBackup, err)
	case proof.TriedAt.IsZero():
	case proof.Failure != "":
		x.reportFailure(CheckBackup, proof.Sentence(), fix)
	case x.now.Sub(proof.ProvenAt) > staleBackup:
		x.reportWarning(CheckBackup, "no backup was made for a month. "+proof.Sentence(), fix)
	default:
		x.reportGood(CheckBackup, proof.Sentence())
	}
}
