package maintenance

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export/archive"
)

const archiveHelp = `Writes everything that you have into one zip file, or into a folder, that needs no PDPP:

  index.html        shows your records in a browser, without a network
  records           every record, as JSON lines
  texts             notes, conversations and mail, as Markdown
  calendars         events, as iCalendar
  contacts          contacts, as vCard
  mail              mail, as mbox
  files             the files of records, named by their SHA-256
  completeness.md   how complete each part is
  manifest.json     every file with its SHA-256, signed with the key of this machine

With --server it has the records of the server. It is not encrypted (pdpp backup is). It
appears only when it is complete. If it is interrupted, the same command continues. Equal
records make equal bytes.`

const archiveExamples = `  pdpp archive everything.zip
  pdpp verify everything.zip`

// NewArchiveCommand returns the command pdpp archive.
func NewArchiveCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "archive FILE.zip|FOLDER", Short: "Write everything into plain files that need no PDPP", Long: archiveHelp,
		Example: archiveExamples, Args: arguments.Required("the name of a zip file or a folder"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return makeArchive(ctx, inv, o, args[0])
		}),
	}
}

func makeArchive(ctx context.Context, inv *command.Invocation, o api.Owner, place string) error {
	if _, err := os.Lstat(place); err == nil {
		return &failure.Error{Code: "file_exists", Exit: failure.ExitFailed, Message: place + " exists already",
			Next: "Choose another name, or remove it."}
	}
	key, err := inv.CredentialKey()
	if err != nil {
		return err
	}
	progress := inv.NewProgress(nil)
	made, err := archive.Maker{Owner: o, Key: key.SigningKey(), Note: progress.Step}.Make(ctx, place)
	progress.Clear()
	if err != nil {
		return archiveError(err)
	}
	return inv.PrintResult(map[string]any{"file": place, "records": made.Records, "streams": len(made.Streams),
		"files": len(made.Files), "signer": made.Signer},
		"%s of %s written to %s\nIts key: %s\n", text.Count(made.Records, "record", "records"),
		text.Count(int64(len(made.Streams)), "stream", "streams"), place, made.Signer)
}

// archiveError names the place without its path when a file cannot be written.
func archiveError(err error) error {
	if place := (*os.PathError)(nil); errors.As(err, &place) {
		return &failure.Error{Code: "write_failed", Exit: failure.ExitFailed, Err: err,
			Message: failure.SafeText("the archive could not be written: " + place.Err.Error()),
			Next:    "Check the place and the free space, then try again."}
	}
	return err
}

const verifyHelp = `Compares an archive of pdpp archive with its manifest, and the manifest with its signature:
every file, its size and its SHA-256, and the records of each stream.

Without --key the key in the manifest is used, and the archive agrees with itself. With
--key, the key that pdpp archive printed, you also know who made it.`

// NewVerifyCommand returns the command pdpp verify.
func NewVerifyCommand(inv *command.Invocation) *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use: "verify FILE.zip|FOLDER", Short: "Check that an archive is whole and unchanged", Long: verifyHelp,
		Args: arguments.Required("the name of an archive"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := inv.RefuseServer(); err != nil {
				return err
			}
			v, err := archive.Verify(args[0], strings.TrimSpace(key))
			if err != nil {
				return &failure.Error{Code: "archive_unreadable", Exit: failure.ExitFailed, Err: err,
					Message: "the archive cannot be read", Next: "Name a file or folder that pdpp archive wrote."}
			}
			if len(v.Problems) > 0 {
				return archiveProblems(inv, v)
			}
			return inv.PrintResult(v, "%s in %s: whole and unchanged since it was signed with %s\n",
				text.Count(v.Records, "record", "records"), text.Count(int64(v.Files), "file", "files"), v.Signer)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the `key` that has to have signed it")
	return cmd
}

func archiveProblems(inv *command.Invocation, v archive.Verdict) error {
	if inv.JSON {
		output.WriteJSON(inv.Out, v)
	} else {
		for _, p := range v.Problems {
			output.Printf(inv.Out, "%s\n", p)
		}
	}
	return &failure.Error{Code: "archive_changed", Exit: failure.ExitFailed,
		Message: "the archive is not as it was made: " + text.Count(int64(len(v.Problems)), "difference", "differences"),
		Next:    "Use another copy."}
}
