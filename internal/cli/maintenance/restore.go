package maintenance

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/backup"
)

const restoreHelp = `Creates a home from a file that pdpp backup wrote. The file is unpacked and checked next
to the home and replaces it in one step at the end: if anything goes wrong, the folder
contains either the old data or the new.

A home with data is refused. With --force the whole home is moved aside and its new name
is printed; nothing is deleted. Stop the server first.

An unencrypted file is refused: anybody could have made it, with a connector in it that
runs here. Use --plain if you trust it. Sessions, owner tokens, grants, devices, passkeys,
recovery codes and push targets of the backup are ended and listed, because you may have
revoked some since; --keep-access keeps them.

Anybody who knows the recipient, which is not a secret, can make a backup for it. Set a
new password after you restore such a backup (pdpp password).`

const restoreExamples = `  pdpp restore pdpp.backup --to ~/.pdpp
  pdpp restore pdpp.backup --to ~/.pdpp --force            keep the old home beside it
  pdpp restore pdpp.backup --to /srv/pdpp --identity key.txt   sealed with --recipient`

type restoreFlags struct {
	to, identity string
	stdin, force bool
	plain, keep  bool
	drill        bool
}

// NewRestoreCommand returns the command pdpp restore.
func NewRestoreCommand(inv *command.Invocation) *cobra.Command {
	var f restoreFlags
	cmd := &cobra.Command{
		Use: "restore FILE --to HOME", Short: "Create a home from a backup", Long: restoreHelp, Example: restoreExamples,
		Args: arguments.Required("the name of a file"),
		RunE: func(cmd *cobra.Command, args []string) error { return restoreBackup(cmd.Context(), inv, args[0], f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.to, "to", "", "folder that gets the data")
	flags.StringVar(&f.identity, "identity", "", "file with the age identity that opens it")
	flags.BoolVar(&f.stdin, "passphrase-stdin", false, "read the passphrase from standard input")
	flags.BoolVar(&f.force, "force", false, "move a home that has data aside")
	flags.BoolVar(&f.plain, "plain", false, "accept a file that is not sealed")
	flags.BoolVar(&f.keep, "keep-access", false,
		"keep every way in as it was: sessions, tokens, grants, devices, passkeys, recovery codes, push targets")
	flags.BoolVar(&f.drill, "drill", false, "restore into a throw-away folder, compare everything, and replace nothing")
	cmd.MarkFlagsMutuallyExclusive("drill", "to")
	cmd.MarkFlagsMutuallyExclusive("drill", "force")
	cmd.MarkFlagsMutuallyExclusive("plain", "passphrase-stdin")
	return cmd
}

// drillBackup proves that a backup can be restored.
func drillBackup(ctx context.Context, inv *command.Invocation, file string, f restoreFlags) error {
	if err := inv.RefuseServer(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pdpp-drill-*") // mode 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	o := backup.ProveOptions{File: file, Folder: folder, Now: inv.Env.Now(), Keys: f.keys(ctx, inv)}
	text, _, err := inv.Variable(command.EnvCredentialKey)
	if err == nil && text != "" {
		o.Key, err = inv.CredentialKey()
	}
	if err != nil {
		return err
	}
	display := newStepDisplay(inv)
	o.Observe = display.observe
	proof, err := backup.Prove(ctx, o)
	display.end()
	if err != nil {
		return err
	}
	return inv.PrintResult(proof, "The backup of %s was restored and compared: %s in %d streams, %d files, %d "+
		"credentials. Nothing was replaced.\n", output.FormatTime(proof.CreatedAt), backupCounts(proof.Counts),
		len(proof.Streams), proof.Files, proof.Secrets)
}

// keys returns what opens the backup.
func (f restoreFlags) keys(ctx context.Context, inv *command.Invocation) backup.Keys {
	return backup.Keys{Plain: f.plain, Identities: f.identity,
		Passphrase: func() (string, error) { return readPassphrase(ctx, inv, f.stdin) }}
}

func restoreBackup(ctx context.Context, inv *command.Invocation, file string, f restoreFlags) error {
	if f.drill {
		return drillBackup(ctx, inv, file, f)
	}
	if f.to == "" {
		return failure.UsageError("--to is missing", "Name the folder that gets the data, like --to ~/.pdpp")
	}
	if err := inv.RefuseServer(); err != nil {
		return err
	}
	display := newStepDisplay(inv)
	done, err := backup.Restore(ctx, backup.RestoreOptions{
		File: file, Home: f.to, Force: f.force, KeepAccess: f.keep, Now: inv.Env.Now(), Observe: display.observe,
		Keys: f.keys(ctx, inv),
	})
	display.end()
	if err != nil {
		return err
	}
	recordInHome(ctx, inv, done.Home, audit.Entry{Kind: audit.Restore, Records: &done.Counts.Records})
	return inv.Show(nil, done, func() {
		output.Printf(inv.Out, "Restored %s of %s: %s.\n", done.Home, output.FormatTime(done.CreatedAt),
			backupCounts(done.Counts))
		if done.Aside != "" {
			output.Printf(inv.Out, "The old home is %s now.\n", done.Aside)
		}
		printReturnedRecords(ctx, inv, done.Aside, done.CreatedAt)
		if !f.keep {
			output.Printf(inv.Out, "Everybody was signed out; %s ended. Make new ones where you need them.\n",
				text.Count(int64(done.Ended), "way in was", "ways in were"))
			for _, e := range done.EndedList {
				output.Printf(inv.Out, "  %-16s %s\n", strings.ReplaceAll(e.Kind, "_", " "), failure.SafeText(e.Name))
			}
		}
		if len(done.Connectors) > 0 {
			output.Printf(inv.Out, "These connectors came along and run once you have confirmed them: %s\n",
				strings.Join(done.Connectors, ", "))
		}
		if f.identity != "" {
			output.Printf(inv.Out, "Anybody who knows the recipient could have made this file. Set a new password: pdpp "+
				"password --home %s\n", done.Home)
		}
		output.Printf(inv.Out, "Next: pdpp status --home %s\n", done.Home)
	})
}
