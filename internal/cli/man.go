package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/ops/text"
)

const manualHelp = `Writes the manual pages of all commands into a folder, one file per command:
pdpp.1, pdpp-run.1 and so on. Read them with: man -l DIR/pdpp.1`

func manCommand(inv *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write manual pages into a folder", Long: manualHelp,
		Example: "  pdpp man ~/.local/share/man/man1 && man pdpp",
		Args:    arguments.Required("the name of a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := writeManual(cmd.Root(), args[0])
			if err != nil {
				return &failure.Error{Code: "write_failed", Exit: failure.ExitFailed, Err: err,
					Message: "the pages could not be written: " + failure.RootCause(err).Error(), Next: "Check the folder."}
			}
			return inv.Show(nil, map[string]any{"folder": args[0], "pages": n}, func() {
				output.Printf(inv.Out, "%s written to %s\n", text.Count(int64(n), "page", "pages"), args[0])
			})
		},
	}
}

// writeManual writes the pages of a command and its subcommands.
func writeManual(cmd *cobra.Command, dir string) (n int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(manualPage(cmd)), 0o644); err != nil {
		return 0, err
	}
	n = 1
	for _, c := range documentedCommands(cmd) {
		more, err := writeManual(c, dir)
		if err != nil {
			return n, err
		}
		n += more
	}
	return n, nil
}

// documentedCommands returns the subcommands that have a page.
func documentedCommands(cmd *cobra.Command) (out []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if (c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()) && c.Name() != "help" {
			out = append(out, c)
		}
	}
	return out
}

// manualPage returns a manual page in roff.
func manualPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	title := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"PDPP\" \"Owner's commands\"\n", strings.ToUpper(roffEscape(title)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roffEscape(title), roffEscape(cmd.Short))
	if cmd.Runnable() || cmd.HasSubCommands() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roffEscape(cmd.UseLine()))
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n" + roffParagraphs(text))
	manualFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manualFlags(&b, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roffEscape(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\nSee\n.BR pdpp\\-exit\\-codes (1).\n")
	var also []string
	if cmd.HasParent() {
		also = append(also, cmd.Parent().CommandPath())
	}
	for _, c := range documentedCommands(cmd) {
		also = append(also, c.CommandPath())
	}
	if len(also) > 0 {
		b.WriteString(".SH SEE ALSO\n")
		for i, path := range also {
			comma := ","
			if i == len(also)-1 {
				comma = ""
			}
			fmt.Fprintf(&b, ".BR %s (1)%s\n", roffEscape(strings.ReplaceAll(path, " ", "-")), comma)
		}
	}
	return b.String()
}

func manualFlags(b *strings.Builder, heading string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", heading)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		head := "--" + f.Name
		if f.Shorthand != "" {
			head = "-" + f.Shorthand + ", " + head
		}
		kind, words := pflag.UnquoteUsage(f)
		if kind != "" {
			head += " " + kind
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roffEscape(head), roffEscape(words))
	})
}

// roffParagraphs keeps indented lines as they are and lets other text flow.
func roffParagraphs(text string) string {
	var b strings.Builder
	literal := false
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !literal:
			b.WriteString(".nf\n")
		case !indented && literal:
			b.WriteString(".fi\n")
		}
		literal = indented
		if line == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(roffEscape(line) + "\n")
	}
	if literal {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// roffEscape escapes text, because roff reads a dot or an apostrophe at the start of a line as a request.
func roffEscape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
