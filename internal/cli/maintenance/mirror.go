package maintenance

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
	"github.com/pdpp-go/pdpp/internal/owner/export/mirror"
)

const mirrorHelp = `Keeps a folder of files up to date with everything that changes, deletions included. Each
stream is a folder of parts, which are never changed: read them with any program, and only
new ones the next time. mirror.sql has views for DuckDB, with the newest version of every
record.

The folder may be in a bucket of an S3-compatible server, as s3://BUCKET/PREFIX, and
?endpoint=https://HOST after it if the server is not Amazon's. The keys are read from
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.

It can be interrupted at any moment; the same command continues. Records that you delete
for good are removed from the files by the next run.`

const mirrorExamples = `  pdpp mirror ~/records                        once
  pdpp mirror ~/records --follow               until interrupted
  cd ~/records && duckdb -init mirror.sql
  pdpp mirror s3://lake/records --format parquet --follow`

type mirrorFlags struct {
	format string
	follow bool
	every  time.Duration
}

// NewMirrorCommand returns the command pdpp mirror.
func NewMirrorCommand(inv *command.Invocation) *cobra.Command {
	var f mirrorFlags
	cmd := &cobra.Command{
		Use: "mirror FOLDER", Short: "Keep a folder of files up to date", Long: mirrorHelp, Example: mirrorExamples,
		Args: arguments.Required("the name of a folder, or the address of a bucket"),
		PreRunE: func(*cobra.Command, []string) error {
			if f.format != "jsonl" && f.format != "parquet" {
				return failure.UsageError("a mirror is written as jsonl or parquet", "Use one of them with --format.")
			}
			if f.every < time.Second {
				return failure.UsageError("--every needs at least a second", "Use a longer time, such as 10s.")
			}
			return nil
		},
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return followChanges(ctx, inv, o, args[0], f)
		}),
	}
	inv.ConnectionFlag(cmd, "only this connection")
	cmd.Flags().StringVar(&f.format, "format", "jsonl", "jsonl or parquet")
	cmd.Flags().BoolVar(&f.follow, "follow", false, "continue until interrupted")
	cmd.Flags().DurationVar(&f.every, "every", 10*time.Second, "how often to look for changes, with --follow")
	return cmd
}

func followChanges(ctx context.Context, inv *command.Invocation, o api.Owner, folder string, f mirrorFlags) error {
	only, err := inv.ConnectionFilter(ctx, o)
	if err != nil {
		return err
	}
	format, _ := export.FindFormat(f.format)
	m := mirror.Mirror{Owner: o, Format: format, To: mirror.Folder(folder), Only: only}
	if strings.HasPrefix(folder, "s3://") {
		if m.To, err = inv.BucketFiles(folder); err != nil {
			return err
		}
	}
	ticks, first := make(chan struct{}), true
	if f.follow {
		go func() {
			for ctx.Err() == nil {
				select {
				case <-ctx.Done():
				case <-time.After(f.every):
					select {
					case ticks <- struct{}{}:
					case <-ctx.Done():
					}
				}
			}
		}()
	} else {
		close(ticks)
	}
	var printed error
	err = m.Follow(ctx, ticks, func(p mirror.Pass) {
		if p.Changes > 0 || first {
			behind := ""
			if p.OldestAt != nil {
				behind = ", " + inv.Env.Now().Sub(*p.OldestAt).Round(time.Second).String() + " after the first of them"
			}
			printed = inv.PrintResult(p, "%s of %s in %s%s\n", text.Count(int64(p.Changes), "change", "changes"),
				text.Count(int64(p.Streams), "stream", "streams"), folder, behind)
		}
		first = false
	})
	if errors.Is(err, mirror.ErrInUse) {
		return &failure.Error{Code: "mirror_in_use", Exit: failure.ExitActive, Message: err.Error(),
			Next: "Stop the other one, or use another folder."}
	}
	if err != nil {
		return archiveError(err)
	}
	return printed
}
