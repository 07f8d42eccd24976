package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const heldText = `Names the deletions that a backup still holds records of. Say when the backup was made, or
name a file or folder that pg_dump wrote in its custom or directory format, which tells when.

A backup from before a deletion holds the records as they were. One from before they were
removed for good holds them hidden, and can undo the deletion. PDPP does not reach backups:
delete those that you do not want to keep.`

const heldExamples = `  pdpp deletions held 2026-03-01
  pdpp deletions held 2026-03-01T08:00:00Z
  pdpp deletions held house.dump              made by pg_dump --format=custom`

// heldDeletion is a deletion with what a backup holds of it.
type heldDeletion struct {
	api.Deletion
	Held string `json:"held"`
}

const (
	heldAsBefore = "as before"
	heldHidden   = "hidden"
)

func (a *app) heldCommand() *cobra.Command {
	return &cobra.Command{
		Use: "held WHEN|FILE", Short: "Deleted records that a backup still holds", Long: heldText,
		Example: heldExamples,
		Args:    needArgs("when the backup was made"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			made, err := backupMade(args[0])
			if err != nil {
				return err
			}
			all, err := o.Deletions(ctx)
			if err != nil {
				return err
			}
			a.printHeld(made, heldIn(all, made))
			return nil
		}),
	}
}

// heldIn returns the deletions of which a backup of that moment holds something.
func heldIn(all []api.Deletion, made time.Time) []heldDeletion {
	held := []heldDeletion{}
	for _, d := range all {
		switch {
		case d.State != "hiding" && d.Records+d.Tombstones == 0: // there was nothing to delete
		case d.State == "undone" || d.EndedAt != nil && !made.Before(*d.EndedAt):
		case made.Before(d.AskedAt):
			held = append(held, heldDeletion{d, heldAsBefore})
		default:
			held = append(held, heldDeletion{d, heldHidden})
		}
	}
	return held
}

func (a *app) printHeld(made time.Time, held []heldDeletion) {
	if a.json {
		writeJSON(a.out, map[string]any{"made_at": made.UTC(), "held": held})
		return
	}
	if len(held) == 0 {
		printf(a.out, "A backup of %s holds nothing that you deleted.\n", when(made))
		return
	}
	n := text.Count(int64(len(held)), "deletion", "deletions")
	printf(a.out, "A backup of %s can hold records of %s:\n", when(made), n)
	t := a.table("DELETED", "WHAT", "RECORDS", "IN THE BACKUP", "DELETION")
	for _, d := range held {
		t.row(d.AskedAt.UTC().Format(time.DateOnly), text.Cut(oneLine(d.What), 40), fmt.Sprint(d.Records), d.Held, d.ID)
	}
	t.flush()
}

// backupMade returns the moment that an argument names: a time, or that of a dump.
func backupMade(named string) (time.Time, error) {
	at, err := moment("WHEN", named)
	if err == nil {
		return at, nil
	}
	info, statErr := os.Stat(named)
	if statErr != nil {
		return at, err
	}
	if info.IsDir() {
		named = filepath.Join(named, "toc.dat")
	}
	if at, err = dumpMade(named); err != nil {
		return at, usage(named+" does not tell when it was made: "+err.Error(),
			"Say when, like pdpp deletions held 2026-03-01T08:00:00Z")
	}
	return at, nil
}

// errNoDump means that a file was not written by pg_dump in a format that begins with a header.
var errNoDump = errors.New("it is no dump in the custom or directory format")

// dumpMade reads from the header of a dump when pg_dump began it, by the clock of its machine.
func dumpMade(path string) (time.Time, error) {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	// The mark, three numbers of the version, the size of a number, the size of an offset, and the format.
	var head [11]byte
	_, err = io.ReadFull(in, head[:])
	known := string(head[:5]) == "PGDMP" && head[5] == 1 && head[6] >= 10 && head[8] > 0 && head[8] <= 8
	if err != nil || !known {
		return time.Time{}, errNoDump
	}
	number := func() (n int) {
		sign, _ := in.ReadByte()
		for shift := range int(head[8]) {
			b, readErr := in.ReadByte()
			err = errors.Join(err, readErr)
			n |= int(b) << (8 * shift)
		}
		if sign != 0 {
			n = -n
		}
		return n
	}
	if head[6] >= 15 {
		_, err = in.ReadByte() // how it is compressed
	} else {
		number()
	}
	var t [6]int // seconds, minutes, hours, day, month from 0, years since 1900
	for i := range t {
		t[i] = number()
	}
	if err != nil {
		return time.Time{}, errNoDump
	}
	return time.Date(1900+t[5], time.Month(1+t[4]), t[3], t[2], t[1], t[0], 0, time.Local), nil
}
