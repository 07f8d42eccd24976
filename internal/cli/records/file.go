package records

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

const fileHelp = `Writes the file of a record, such as an attachment, to a file or to standard output. Its
content is checked against its hash. The file appears only when it is complete, and only
you can read it.

Files are named by the SHA-256 of their content; pdpp record shows those of a record.`

const fileExamples = `  pdpp record attachments INBOX/1/7/1      what files it has, and their hashes
  pdpp file 9f86d081...0f00a08 -o map.pdf
  pdpp file 9f86d081...0f00a08 > map.pdf`

type fileFlags struct {
	output string
	force  bool
}

// NewFileCommand returns the command pdpp file.
func NewFileCommand(inv *command.Invocation) *cobra.Command {
	var f fileFlags
	cmd := &cobra.Command{
		Use: "file SHA256", Short: "Get a file of a record", Long: fileHelp, Example: fileExamples,
		Args: arguments.Required("the hash of a file"),
		PreRunE: func(_ *cobra.Command, args []string) error {
			if !protocol.IsBlobHash(args[0]) {
				return failure.UsageError("this is not the hash of a file: 64 digits, in small letters",
					"Look at the record: pdpp record STREAM KEY shows its files.")
			}
			return nil
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return writeRecordFile(ctx, inv, o, args[0], f)
		}),
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "file to write (default: standard output)")
	cmd.Flags().BoolVar(&f.force, "force", false, "replace the file if it exists")
	return cmd
}

// hashingWriter forwards a file, hashes it, and keeps the error of the destination.
type hashingWriter struct {
	to     io.Writer
	sum    hash.Hash
	n      int64
	failed error
}

func (c *hashingWriter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	_, _ = c.sum.Write(b[:n]) // a hash never fails
	c.n += int64(n)
	c.failed = err
	return n, err
}

func writeRecordFile(ctx context.Context, inv *command.Invocation, o api.Owner, hash string, f fileFlags) error {
	write := func(w io.Writer) (int64, error) {
		sum := &hashingWriter{to: w, sum: sha256.New()}
		err := o.CopyFile(ctx, sum, hash)
		switch {
		case sum.failed != nil:
			return 0, writeError(sum.failed)
		case err != nil:
			return 0, err
		case hex.EncodeToString(sum.sum.Sum(nil)) != hash:
			return 0, &failure.Error{Code: "file_damaged", Exit: failure.ExitFailed,
				Message: "the file that is kept is not the one that was stored",
				Next:    "pdpp doctor says which are damaged, and what brings them back."}
		}
		return sum.n, nil
	}
	if f.output == "" {
		_, err := write(output.ExactWriter(inv.Out))
		return err
	}
	n, err := writeWholeFile(f.output, f.force, write)
	if err != nil {
		return err
	}
	return inv.PrintResult(map[string]any{"file": f.output, "sha256": hash, "bytes": n}, "%s written to %s\n",
		text.Bytes(n), f.output)
}
