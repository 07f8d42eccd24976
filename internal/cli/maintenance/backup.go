// Package maintenance has the commands that back up, restore, delete, check and measure what is stored.
package maintenance

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/backup"
)

const backupHelp = `Writes everything in this machine's home into one file: the database as of one moment,
the files of records, your imported files, the key of the stored credentials, and the
connectors that you added. A server can keep collecting meanwhile. Import folders outside
the home are not included.

The file is encrypted with age: with a passphrase, which you type twice, or for an age
recipient, whose key need not be on this machine. You can open it without PDPP as well
(age -d FILE | tar xz). The file gets its name after the whole backup was read back.

The passphrase can come from standard input, or from PDPP_BACKUP_PASSPHRASE or
PDPP_BACKUP_PASSPHRASE_FILE. If you lose it, the file cannot be opened.`

const backupExamples = `  pdpp backup pdpp.backup                              ask me for a passphrase
  pdpp backup pdpp.backup --passphrase-stdin < phrase
  pdpp backup pdpp.backup --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
  pdpp restore pdpp.backup --to ~/.pdpp                put it back`

type backupFlags struct {
	stdin, plain, force bool
	withoutImports      bool
	recipients          []string
}

// NewBackupCommand returns the command pdpp backup.
func NewBackupCommand(inv *command.Invocation) *cobra.Command {
	var f backupFlags
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write everything into one encrypted file", Long: backupHelp, Example: backupExamples,
		Args: arguments.Required("the name of a file"),
		RunE: func(cmd *cobra.Command, args []string) error { return writeBackup(cmd.Context(), inv, args[0], f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.stdin, "passphrase-stdin", false, "read the passphrase from standard input")
	flags.StringSliceVar(&f.recipients, "recipient", nil, "seal it for this age recipient (may be repeated)")
	flags.BoolVar(&f.plain, "plain", false, "do not seal it: whoever has the file has everything")
	flags.BoolVar(&f.force, "force", false, "replace the file if it exists")
	flags.BoolVar(&f.withoutImports, "without-imports", false,
		"leave out the files that you imported; their records are in it")
	cmd.MarkFlagsMutuallyExclusive("passphrase-stdin", "recipient", "plain")
	return cmd
}

func writeBackup(ctx context.Context, inv *command.Invocation, file string, f backupFlags) error {
	home, err := backupHome(ctx, inv)
	if err != nil {
		return err
	}
	seal := backup.Seal{Recipients: f.recipients, Plain: f.plain, Work: inv.Env.SealWork}
	switch {
	case f.plain:
		output.Printf(inv.ErrOut, "warning: the file is not sealed; whoever has it has your records and your credentials\n")
	case len(f.recipients) == 0:
		if seal.Passphrase, err = readNewPassphrase(ctx, inv, f.stdin); err != nil {
			return err
		}
	}
	display := newStepDisplay(inv)
	done, err := backup.Write(ctx, backup.Options{
		Home: home, File: file, Replace: f.force, Seal: seal, WithoutImports: f.withoutImports,
		Program: command.ReadBuildInfo().Version, Now: inv.Env.Now(), Observe: display.observe,
	})
	display.end()
	if err != nil {
		return err
	}
	recordInHome(ctx, inv, home, audit.Entry{Kind: audit.Backup, Records: &done.Counts.Records})
	return inv.Show(nil, done, func() {
		output.Printf(inv.Out, "Backed up to %s (%s; the database is %s): %s.\nIt was read back and is "+
			"whole.\nNext: keep it on another machine; restore with pdpp restore %s --to HOME\n",
			file, text.Bytes(done.Bytes), text.Bytes(done.Database), backupCounts(done.Counts), file)
		printHiddenDeletions(ctx, inv, home)
		if key, _, _ := inv.Variable(command.EnvCredentialKey); key != "" {
			output.Printf(inv.Out, "The key of your credentials comes from %s and is not in the file: keep a copy of it too.\n",
				command.EnvCredentialKey)
		}
	})
}

// backupHome returns the home to back up. It opens the database first, to report its faults and to upgrade its schema.
func backupHome(ctx context.Context, inv *command.Invocation) (string, error) {
	if err := inv.RefuseServer(); err != nil {
		return "", err
	}
	url, err := inv.PostgresURL()
	if err != nil {
		return "", err
	}
	if url != "" {
		return "", &failure.Error{Code: "backup_postgres", Exit: failure.ExitUsage,
			Message: "the data is in PostgreSQL, which has its own way to be backed up",
			Next: "Use pg_dump --format=custom for the database, and keep a copy of secret.key or " +
				command.EnvCredentialKey + " apart from it. " +
				"What a dump holds of deleted records: pdpp deletions held FILE"}
	}
	home, err := inv.HomeFolder()
	if err != nil {
		return "", err
	}
	st, err := inv.OpenStore(ctx, command.MustExist)
	if err != nil {
		return "", err
	}
	return home, st.Close()
}

// shortestPassphrase rejects passphrases that were entered by mistake.
const shortestPassphrase = 8

// readNewPassphrase asks twice, because a typing mistake would make the file unreadable.
func readNewPassphrase(ctx context.Context, inv *command.Invocation, stdin bool) (string, error) {
	text, _, err := inv.Variable(command.EnvBackupPassphrase)
	if err != nil {
		return "", err
	}
	if stdin || text != "" {
		text, err = readPassphrase(ctx, inv, stdin)
	} else {
		text, err = askPassphraseTwice(ctx, inv)
	}
	if err != nil {
		return "", err
	}
	if len(text) < shortestPassphrase {
		return "", failure.UsageError(fmt.Sprintf("a passphrase of fewer than %d characters protects nothing",
			shortestPassphrase), "Use several words.")
	}
	return text, nil
}

func askPassphraseTwice(ctx context.Context, inv *command.Invocation) (string, error) {
	fields := []api.QuestionField{
		{Name: "first", Label: "Passphrase", Required: true, Secret: true},
		{Name: "again", Label: "Once more", Required: true, Secret: true},
	}
	answers, err := inv.AskOwner(ctx, "The passphrase that opens this backup. Without it the backup cannot be opened.",
		"(Ctrl-D to leave)",
		fields,
		"Give it with --passphrase-stdin or "+command.EnvBackupPassphrase+"_FILE, or seal the file with --recipient.")
	if errors.Is(err, io.EOF) {
		return "", failure.ErrUnchanged
	}
	if err != nil {
		return "", err
	}
	if answers["again"] != answers["first"] {
		return "", failure.UsageError("the two passphrases differ", "Repeat the command.")
	}
	return answers["first"], nil
}

// readPassphrase reads the passphrase of an existing backup.
func readPassphrase(ctx context.Context, inv *command.Invocation, stdin bool) (string, error) {
	return inv.ReadSecret(ctx, stdin, command.SecretQuestion{
		Variable: command.EnvBackupPassphrase, Message: "The passphrase that this backup was closed with.",
		Label: "Passphrase", OtherWay: "Give it with --passphrase-stdin or " + command.EnvBackupPassphrase + "_FILE.",
	})
}

func backupCounts(c backup.Counts) string {
	return text.Count(c.Connections, "connection", "connections") + ", " + text.Count(c.Records, "record", "records") +
		", " + text.Count(c.Runs, "run", "runs")
}
