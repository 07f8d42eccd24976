package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/backup"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const backupText = `Writes everything of this machine's home into one file: the database as of one moment,
the files of records and those that you imported, the key of the stored credentials, and
the connectors that you added. A server may go on collecting meanwhile. Import folders
that are elsewhere are not in it.

The file is sealed by age: with a passphrase, which you are asked for twice, or for an
age recipient, whose key need not be on this machine. It can be opened without PDPP as
well (age -d FILE | tar xz). It appears under its name after it was read back whole.

The passphrase can come from standard input, or from PDPP_BACKUP_PASSPHRASE or
PDPP_BACKUP_PASSPHRASE_FILE. Without it nobody can open the file, you included.`

const backupExamples = `  pdpp backup pdpp.backup                              ask me for a passphrase
  pdpp backup pdpp.backup --passphrase-stdin < phrase
  pdpp backup pdpp.backup --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
  pdpp restore pdpp.backup --to ~/.pdpp                put it back`

const envPassphrase = "PDPP_BACKUP_PASSPHRASE"

type backupFlags struct {
	stdin, plain, force bool
	withoutImports      bool
	recipients          []string
}

func (a *app) backupCommand() *cobra.Command {
	var f backupFlags
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write everything into one sealed file", Long: backupText, Example: backupExamples,
		Args: needArgs("the name of a file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.backup(cmd.Context(), args[0], f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.stdin, "passphrase-stdin", false, "read the passphrase from standard input")
	flags.StringSliceVar(&f.recipients, "recipient", nil, "seal it for this age recipient (may be repeated)")
	flags.BoolVar(&f.plain, "plain", false, "do not seal it: whoever has the file has everything")
	flags.BoolVar(&f.force, "force", false, "replace the file if it exists")
	flags.BoolVar(&f.withoutImports, "without-imports", false, "leave out the files that you imported; their records are in it")
	cmd.MarkFlagsMutuallyExclusive("passphrase-stdin", "recipient", "plain")
	return cmd
}

func (a *app) backup(ctx context.Context, file string, f backupFlags) error {
	home, err := a.backupHome(ctx)
	if err != nil {
		return err
	}
	seal := backup.Seal{Recipients: f.recipients, Plain: f.plain, Work: a.env.SealWork}
	switch {
	case f.plain:
		printf(a.errOut, "warning: the file is not sealed; whoever has it has your records and your credentials\n")
	case len(f.recipients) == 0:
		if seal.Passphrase, err = a.newPassphrase(ctx, f.stdin); err != nil {
			return err
		}
	}
	display := a.newSteps()
	done, err := backup.Write(ctx, backup.Options{
		Home: home, File: file, Replace: f.force, Seal: seal, WithoutImports: f.withoutImports, Program: buildVersion().Version, Now: a.env.Now(), Observe: display.observe,
	})
	display.end()
	if err != nil {
		return err
	}
	a.recordAt(ctx, home, audit.Entry{Kind: audit.Backup, Records: &done.Counts.Records})
	if a.json {
		writeJSON(a.out, done)
		return nil
	}
	printf(a.out, "Backed up to %s (%s; the database alone has %s): %s.\nIt was read back and is whole.\nNext: keep it on another machine; restore with pdpp restore %s --to HOME\n",
		file, text.Bytes(done.Bytes), text.Bytes(done.Database), countsWords(done.Counts), file)
	a.tellHidden(ctx, home)
	if key, _, _ := a.variable(envCredentialKey); key != "" {
		printf(a.out, "The key of your credentials comes from %s and is not in the file: keep a copy of it too.\n", envCredentialKey)
	}
	return nil
}

// backupHome is the home to be written. Opening the database first tells every fault
// of it in the usual words, and brings its schema up to date.
func (a *app) backupHome(ctx context.Context) (string, error) {
	if err := a.refuseServer(); err != nil {
		return "", err
	}
	url, err := a.postgresURL()
	if err != nil {
		return "", err
	}
	if url != "" {
		return "", &Error{Code: "backup_postgres", Exit: ExitUsage, Message: "the data is in PostgreSQL, which has its own way to be backed up",
			Next: "Use pg_dump --format=custom for the database, and keep a copy of secret.key or " + envCredentialKey +
				" apart from it. " +
				"What a dump holds of deleted records: pdpp deletions held FILE"}
	}
	home, err := a.homeDir()
	if err != nil {
		return "", err
	}
	st, err := a.openStore(ctx, mustExist)
	if err != nil {
		return "", err
	}
	return home, st.Close()
}

// shortestPassphrase keeps a slip of the finger from sealing a file.
const shortestPassphrase = 8

// newPassphrase asks twice, so that a typing mistake does not close the file for ever.
func (a *app) newPassphrase(ctx context.Context, stdin bool) (string, error) {
	text, _, err := a.variable(envPassphrase)
	if err != nil {
		return "", err
	}
	if stdin || text != "" {
		text, err = a.passphrase(ctx, stdin)
	} else {
		text, err = a.askPassphraseTwice(ctx)
	}
	if err != nil {
		return "", err
	}
	if len(text) < shortestPassphrase {
		return "", usage(fmt.Sprintf("a passphrase of fewer than %d characters protects nothing", shortestPassphrase), "Use several words.")
	}
	return text, nil
}

func (a *app) askPassphraseTwice(ctx context.Context) (string, error) {
	fields := []api.QuestionField{
		{Name: "first", Label: "Passphrase", Required: true, Secret: true},
		{Name: "again", Label: "Once more", Required: true, Secret: true},
	}
	answers, err := a.askOwner(ctx, "The passphrase that opens this backup. Without it nobody can.", "(Ctrl-D to leave)", fields,
		"Give it with --passphrase-stdin or "+envPassphrase+"_FILE, or seal the file with --recipient.")
	if errors.Is(err, io.EOF) {
		return "", errUnchanged
	}
	if err != nil {
		return "", err
	}
	if answers["again"] != answers["first"] {
		return "", usage("the two passphrases differ", "Repeat the command.")
	}
	return answers["first"], nil
}

// passphrase is one that exists already.
func (a *app) passphrase(ctx context.Context, stdin bool) (string, error) {
	return a.secretLine(ctx, stdin, secretQuestion{
		variable: envPassphrase, message: "The passphrase that this backup was closed with.", label: "Passphrase",
		other: "Give it with --passphrase-stdin or " + envPassphrase + "_FILE.",
	})
}

func countsWords(c backup.Counts) string {
	return text.Count(c.Connections, "connection", "connections") + ", " + text.Count(c.Records, "record", "records") + ", " + text.Count(c.Runs, "run", "runs")
}
