package connectors

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/declarative/review"
	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

const addHelp = `Adds a source from a file that declares it: a low-code manifest in YAML, in the format of
Airbyte's manifest-only sources. The command shows which hosts the source talks to, where
its secrets go, what it collects and what not, and asks before it adds anything.

Afterwards the source is listed like any other: pdpp connect NAME. A source that was
edited or replaced does not run until you have seen what changed: add it again, or run
"pdpp connectors confirm NAME" for a file that was edited in place.`

func newConnectorAddCommand(inv *command.Invocation) *cobra.Command {
	var name string
	var yes bool
	cmd := &cobra.Command{
		Use: "add FILE", Short: "Add a source from a file, or accept a new version of the file", Long: addHelp,
		Example: "  pdpp connectors add todo.yaml\n  pdpp connectors add manifest.yaml --name todo --yes",
		Args:    arguments.Required("a source file"),
		RunE: inv.OwnerCommand(command.MayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			text, err := readSourceFile(args[0])
			if err != nil {
				return err
			}
			if name == "" {
				if name = review.NameOf(args[0]); name == "" {
					return failure.UsageError("the file's name cannot be the name of a source", "Give one: --name NAME.")
				}
			}
			return addSource(ctx, inv, o, api.SourceFile{Name: name, Bytes: int64(len(text))}, text, yes)
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the source, such as todo (default: that of the file)")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

func readSourceFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.UsageError("there is no file "+path, "Check its path.")
	}
	if err != nil {
		return nil, failure.UsageError(path+" cannot be read: "+err.Error(), "Check what it is, and its rights.")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, review.MaxFile+1))
	if err != nil {
		return nil, failure.UsageError(path+" cannot be read: "+err.Error(), "Check what it is, and its rights.")
	}
	return text, nil
}

// addSource shows what a source file would do, and adds it. A nil text means the installed file.
func addSource(ctx context.Context, inv *command.Invocation, o api.Owner, f api.SourceFile, text []byte,
	yes bool) error {
	content := func() io.Reader {
		if text == nil {
			return nil
		}
		return bytes.NewReader(text)
	}
	f.Content = content()
	reviewed, err := o.ReviewSourceFile(ctx, f)
	if err != nil {
		return err
	}
	if reviewed.Same {
		return inv.PrintResult(reviewed, "%s is added already, and its file is the same.\n", reviewed.Name)
	}
	if !inv.JSON {
		printReview(inv.ErrOut, &reviewed)
	}
	if !yes {
		question := "Add it?"
		if reviewed.Installed {
			question = "Accept the changes?"
		}
		if err := inv.Confirm(ctx, "a source from a file", question); err != nil {
			return err
		}
	}
	f.Content, f.SHA256 = content(), reviewed.SHA256
	if reviewed, err = o.AddSourceFile(ctx, f); err != nil {
		return err
	}
	if reviewed.Installed {
		return inv.PrintResult(reviewed, "Accepted. %s runs from now on as the file declares.\n", reviewed.Name)
	}
	return inv.PrintResult(reviewed, "Added. Next: pdpp connect %s\n", reviewed.Name)
}

// printReview prints what a source file would do.
func printReview(to io.Writer, r *api.SourceReview) {
	line := func(head, text string) { output.Printf(to, "  %-10s %s\n", head, output.SingleLine(text)) }
	if r.Installed {
		output.Printf(to, "%s was added before. What changed:\n", r.Name)
		for _, c := range r.Changes {
			line("", words.SourceChange(c))
		}
		if len(r.Changes) == 0 {
			line("", "Details of requests or records only: the hosts, secrets and contents below are as before.")
		}
	}
	output.Printf(to, "%s comes from a file (SHA-256 %s). PDPP makes its requests:\n", r.Name, r.SHA256)
	for _, h := range r.Hosts {
		line("talks to", words.SourceHost(h))
	}
	for _, s := range r.Secrets {
		line("secret", words.SourceSecret(s))
	}
	if len(r.Settings) > 0 {
		line("asks for", strings.Join(r.Settings, ", "))
	}
	if post := r.POST(); len(post) > 0 {
		line("can change", "something at the provider: it sends POST requests for "+strings.Join(post, ", "))
	}
	for _, s := range r.Streams {
		line("collects", s.Name)
	}
	for _, s := range r.Disabled {
		line("does not", s.Name+": it "+s.Reason+" ("+s.Path+"). "+s.Fix)
	}
	for _, note := range r.Notes {
		line("note", note)
	}
}

func newConnectorRemoveCommand(inv *command.Invocation) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "remove CONNECTOR", Short: "Remove a source that was added from a file",
		Long: "Removes a source that was added from a file and is not connected any more. What was\n" +
			"collected stays. The folder of any other connector is removed by hand.",
		Example: "  pdpp connectors remove todo",
		Args:    arguments.Required("the name of a source"),
		RunE: inv.OwnerCommand(command.MayCreate, func(ctx context.Context, o api.Owner, args []string) error {
			if !yes {
				if err := inv.Confirm(ctx, "removing a source", "Remove "+args[0]+"?"); err != nil {
					return err
				}
			}
			if err := o.RemoveSourceFile(ctx, args[0]); err != nil {
				return err
			}
			return inv.PrintResult(map[string]any{"connector": args[0], "removed": true}, "Removed.\n")
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}
