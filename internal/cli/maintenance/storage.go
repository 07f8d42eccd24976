package maintenance

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/diskuse"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const storageHelp = `Shows what uses disk space: records, files, imported files and browser profiles, by source
and stream; the database and its search index; the free space; and what you can free up.
Sizes by source are updated with every commit, so this is fast however much is stored.`

// NewStorageCommand returns the command pdpp storage.
func NewStorageCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "storage", Short: "Show what uses disk space, and what you can free up", Long: storageHelp,
		Args: arguments.NoArguments,
		RunE: inv.OrFirstSteps(inv.WithOwner(func(ctx context.Context, o api.Owner, _ []string) error {
			s, err := o.Storage(ctx)
			return inv.Show(err, s, func() { printStorageUse(inv, s) })
		}), command.EmptyList("sources")),
	}
}

func printStorageUse(inv *command.Invocation, s diskuse.Storage) {
	output.Printf(inv.Out, "%s\n\n", s.Summary())
	if len(s.Sources) == 0 {
		output.Printf(inv.Out, "Nothing has been collected yet. Begin with: pdpp connect CONNECTOR\n")
		return
	}
	t := inv.NewTable("SOURCE", "STREAM", "RECORDS", "DATA", "FILES", "IMPORTED", "PROFILE", "MOSTLY")
	for _, src := range s.Sources {
		t.Row(src.ConnectionID, "", "", words.SizeOrCounting(src.RecordBytes), text.Bytes(src.FileBytes),
			text.Bytes(src.ImportBytes), text.Bytes(src.ProfileBytes), src.Mostly)
		for _, st := range src.Streams {
			t.Row("", st.Name, text.Number(st.Records), words.SizeOrCounting(st.RecordBytes), text.Bytes(st.FileBytes), "", "",
				"")
		}
	}
	t.Flush()
	output.Printf(inv.Out, "\n")
	for _, part := range s.Parts() {
		output.Printf(inv.Out, "%-16s %s\n", part.Name, part.Size)
	}
	if s.SharedFileBytes > 0 {
		output.Printf(inv.Out, "Files that several streams have are stored once, which saves %s.\n",
			text.Bytes(s.SharedFileBytes))
	}
	if len(s.Upkeep) > 0 {
		output.Printf(inv.Out, "\nStill being made:\n")
		for _, n := range s.Upkeep {
			output.Printf(inv.Out, "  %s %s\n", n.What, n.Next)
		}
	}
	output.Printf(inv.Out, "\nYou can free up:\n")
	if len(s.Freeable) == 0 {
		output.Printf(inv.Out, "  Nothing. %s\n", diskuse.RecordsStay)
		return
	}
	for _, f := range s.Freeable {
		output.Printf(inv.Out, "  %s: %s. %s\n", f.What, text.Bytes(f.Bytes), f.How)
	}
	output.Printf(inv.Out, "  %s\n", diskuse.RecordsStay)
}
