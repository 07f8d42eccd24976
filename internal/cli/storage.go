package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const storageText = `Shows what takes how much room: records, files, imported files and browser profiles, by source
and stream; the database and its search index; what is left on the disk; and what can be had back.
Sizes by source are kept with every commit, so that this is quick however much is kept.`

func (a *app) storageCommand() *cobra.Command {
	return &cobra.Command{
		Use: "storage", Short: "Show what takes how much room, and what can be had back", Long: storageText, Args: noArgs,
		RunE: a.orBegin(a.withOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			s, err := o.Storage(ctx)
			if err != nil {
				return err
			}
			a.printStorage(s)
			return nil
		}), noneOf("sources")),
	}
}

func (a *app) printStorage(s api.Storage) {
	if a.json {
		writeJSON(a.out, s)
		return
	}
	printf(a.out, "%s\n\n", s.Summary())
	if len(s.Sources) == 0 {
		printf(a.out, "Nothing has been collected yet. Begin with: pdpp connect CONNECTOR\n")
		return
	}
	t := a.table("SOURCE", "STREAM", "RECORDS", "DATA", "FILES", "IMPORTED", "PROFILE", "MOSTLY")
	for _, src := range s.Sources {
		t.row(src.ConnectionID, "", "", countedBytes(src.RecordBytes), text.Bytes(src.FileBytes), text.Bytes(src.ImportBytes), text.Bytes(src.ProfileBytes), src.Mostly)
		for _, st := range src.Streams {
			t.row("", st.Name, text.Number(st.Records), countedBytes(st.RecordBytes), text.Bytes(st.FileBytes), "", "", "")
		}
	}
	t.flush()
	printf(a.out, "\n")
	for _, part := range s.Parts() {
		printf(a.out, "%-16s %s\n", part.Name, part.Size)
	}
	if s.SharedFileBytes > 0 {
		printf(a.out, "Files that several streams have are stored once, which saves %s.\n", text.Bytes(s.SharedFileBytes))
	}
	if len(s.Upkeep) > 0 {
		printf(a.out, "\nStill being made:\n")
		for _, n := range s.Upkeep {
			printf(a.out, "  %s %s\n", n.What, n.Next)
		}
	}
	printf(a.out, "\nCan be had back:\n")
	if len(s.Freeable) == 0 {
		printf(a.out, "  Nothing. %s\n", api.RecordsStay)
		return
	}
	for _, f := range s.Freeable {
		printf(a.out, "  %s: %s. %s\n", f.What, text.Bytes(f.Bytes), f.How)
	}
	printf(a.out, "  %s\n", api.RecordsStay)
}

// countedBytes is a size that may not be counted yet.
func countedBytes(n *int64) string {
	if n == nil {
		return "counting"
	}
	return text.Bytes(*n)
}
