package cli

import (
	"context"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/backup"
)

const restoreText = `Makes a home of a file that pdpp backup wrote. The file is unpacked and checked beside
the home, and takes its place in one step at the end: whatever happens meanwhile, the
folder holds the old data or the new.

A home that has data is refused. With --force it is moved aside, whole, and its new name
is printed; nothing is deleted. Stop the server first.

A file that is not sealed is refused: anybody could have made it, with a connector in it that
runs here. With --plain you say that you trust it. Sessions, owner tokens, grants, devices,
passkeys, recovery codes and push targets of the backup are ended and listed, because some may
have been taken back since; --keep-access keeps them.

A backup that was sealed for a recipient can be made by anybody who knows the recipient, which is
no secret. Set a new password after restoring one (pdpp password).`

const restoreExamples = `  pdpp restore pdpp.backup --to ~/.pdpp
  pdpp restore pdpp.backup --to ~/.pdpp --force            keep the old home beside it
  pdpp restore pdpp.backup --to /srv/pdpp --identity key.txt   sealed with --recipient`

type restoreFlags struct {
	to, identity string
	stdin, force bool
	plain, keep  bool
}

func (a *app) restoreCommand() *cobra.Command {
	var f restoreFlags
	cmd := &cobra.Command{
		Use: "restore FILE --to HOME", Short: "Make a home of a backup", Long: restoreText, Example: restoreExamples,
		Args: needArgs("the name of a file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.restore(cmd.Context(), args[0], f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.to, "to", "", "folder that gets the data")
	flags.StringVar(&f.identity, "identity", "", "file with the age identity that opens it")
	flags.BoolVar(&f.stdin, "passphrase-stdin", false, "read the passphrase from standard input")
	flags.BoolVar(&f.force, "force", false, "move a home that has data aside")
	flags.BoolVar(&f.plain, "plain", false, "accept a file that is not sealed")
	flags.BoolVar(&f.keep, "keep-access", false,
		"keep every way in as it was: sessions, tokens, grants, devices, passkeys, recovery codes, push targets")
	cmd.MarkFlagsMutuallyExclusive("plain", "passphrase-stdin")
	return cmd
}

func (a *app) restore(ctx context.Context, file string, f restoreFlags) error {
	if f.to == "" {
		return usage("--to is missing", "Name the folder that gets the data, like --to ~/.pdpp")
	}
	if err := a.refuseServer(); err != nil {
		return err
	}
	display := a.newSteps()
	done, err := backup.Restore(ctx, backup.RestoreOptions{
		File: file, Home: f.to, Force: f.force, KeepAccess: f.keep, Now: a.env.Now(), Observe: display.observe,
		Keys: backup.Keys{Plain: f.plain, Identities: f.identity, Passphrase: func() (string, error) { return a.passphrase(ctx, f.stdin) }},
	})
	display.end()
	if err != nil {
		return err
	}
	a.recordAt(ctx, done.Home, audit.Entry{Kind: audit.Restore, Records: &done.Counts.Records})
	if a.json {
		writeJSON(a.out, done)
		return nil
	}
	printf(a.out, "Restored %s of %s: %s.\n", done.Home, when(done.CreatedAt), countsWords(done.Counts))
	if done.Aside != "" {
		printf(a.out, "The old home is %s now.\n", done.Aside)
	}
	a.tellReturned(ctx, done.Aside, done.CreatedAt)
	if !f.keep {
		printf(a.out, "Everybody was signed out; %s ended. Make new ones where you need them.\n",
			text.Count(int64(done.Ended), "way in was", "ways in were"))
		for _, e := range done.EndedList {
			printf(a.out, "  %-16s %s\n", strings.ReplaceAll(e.Kind, "_", " "), safe(e.Name))
		}
	}
	if len(done.Connectors) > 0 {
		printf(a.out, "These connectors came along and run once you have confirmed them: %s\n", strings.Join(done.Connectors, ", "))
	}
	if f.identity != "" {
		printf(a.out, "Anybody who knows the recipient could have made this file. Set a new password: pdpp password --home %s\n", done.Home)
	}
	printf(a.out, "Next: pdpp status --home %s\n", done.Home)
	return nil
}
