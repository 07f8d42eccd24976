package maintenance

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

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const heldHelp = `Lists the deletions whose records are still in a backup. Enter when the backup was made,
or name a file or folder that pg_dump wrote in its custom or directory format.

A backup from before a deletion contains the records as they were. A backup from before
their final removal contains them hidden, and can undo the deletion. PDPP does not change
backups: delete those that you do not want to keep.`

const heldExamples = `  pdpp deletions held 2026-03-01
  pdpp deletions held 2026-03-01T08:00:00Z
  pdpp deletions held house.dump              made by pg_dump --format=custom`

// heldDeletion is a deletion and how a backup holds its records.
type heldDeletion struct {
	api.Deletion
	Held string `json:"held"`
}

const (
	heldAsBefore = "as before"
	heldHidden   = "hidden"
)

func newDeletionsHeldCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "held WHEN|FILE", Short: "List deleted records that are still in a backup", Long: heldHelp,
		Example: heldExamples,
		Args:    arguments.Required("when the backup was made"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			made, err := parseBackupTime(args[0])
			if err != nil {
				return err
			}
			all, err := o.Deletions(ctx)
			held := deletionsInBackup(all, made)
			return inv.Show(err, map[string]any{"made_at": made.UTC(), "held": held}, func() {
				printHeldDeletions(inv, made, held)
			})
		}),
	}
}

// deletionsInBackup returns the deletions with records in a backup of that time.
func deletionsInBackup(all []api.Deletion, made time.Time) []heldDeletion {
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

func printHeldDeletions(inv *command.Invocation, made time.Time, held []heldDeletion) {
	if len(held) == 0 {
		output.Printf(inv.Out, "A backup of %s holds nothing that you deleted.\n", output.FormatTime(made))
		return
	}
	n := text.Count(int64(len(held)), "deletion", "deletions")
	output.Printf(inv.Out, "A backup of %s can hold records of %s:\n", output.FormatTime(made), n)
	t := inv.NewTable("DELETED", "WHAT", "RECORDS", "IN THE BACKUP", "DELETION")
	for _, d := range held {
		t.Row(d.AskedAt.UTC().Format(time.DateOnly), text.Cut(output.SingleLine(d.What), 40), fmt.Sprint(d.Records), d.Held,
			d.ID)
	}
	t.Flush()
}

// parseBackupTime parses a time, or reads the time of a dump from its file.
func parseBackupTime(named string) (time.Time, error) {
	at, err := arguments.ParseMoment("WHEN", named)
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
	if at, err = readDumpTime(named); err != nil {
		return at, failure.UsageError(named+" does not tell when it was made: "+err.Error(),
			"Say when, like pdpp deletions held 2026-03-01T08:00:00Z")
	}
	return at, nil
}

// errNotADump means that pg_dump did not write the file in a format with a header.
var errNotADump = errors.New("it is no dump in the custom or directory format")

// readDumpTime reads from the header of a dump when pg_dump started it, by the clock of its machine.
func readDumpTime(path string) (time.Time, error) {
	f, err := os.Open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	// The header starts with a mark, three numbers of the version, the size of a number, the size of an offset, and the
	// format.
	var head [11]byte
	_, err = io.ReadFull(in, head[:])
	known := string(head[:5]) == "PGDMP" && head[5] == 1 && head[6] >= 10 && head[8] > 0 && head[8] <= 8
	if err != nil || !known {
		return time.Time{}, errNotADump
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
		return time.Time{}, errNotADump
	}
	return time.Date(1900+t[5], time.Month(1+t[4]), t[3], t[2], t[1], t[0], 0, time.Local), nil
}
