package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const manText = `Writes the manual pages of all commands into a folder, one file per command:
pdpp.1, pdpp-run.1 and so on. Read them with: man -l DIR/pdpp.1`

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write manual pages into a folder", Long: manText,
		Example: "  pdpp man ~/.local/share/man/man1 && man pdpp",
		Args:    needArgs("the name of a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := writeManual(cmd.Root(), args[0])
			if err != nil {
				return &Error{Code: "write_failed", Exit: ExitFailed, Err: err, Message: "the pages could not be written: " + cause(err).Error(), Next: "Check the folder."}
			}
			if a.json {
				writeJSON(a.out, map[string]any{"folder": args[0], "pages": n})
				return nil
			}
			printf(a.out, "%s written to %s\n", text.Count(int64(n), "page", "pages"), args[0])
			return nil
		},
	}
}

// writeManual writes the page of a command and of all below it.
func writeManual(cmd *cobra.Command, dir string) (n int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(manPage(cmd)), 0o644); err != nil {
		return 0, err
	}
	n = 1
	for _, c := range documented(cmd) {
		more, err := writeManual(c, dir)
		if err != nil {
			return n, err
		}
		n += more
	}
	return n, nil
}

// documented are the commands below one that have a page.
func documented(cmd *cobra.Command) (out []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if (c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()) && c.Name() != "help" {
			out = append(out, c)
		}
	}
	return out
}

// manPage is a manual page in roff.
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	title := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"PDPP\" \"Owner's commands\"\n", strings.ToUpper(roff(title)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(title), roff(cmd.Short))
	if cmd.Runnable() || cmd.HasSubCommands() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n" + roffText(text))
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\nSee\n.BR pdpp\\-exit\\-codes (1).\n")
	var also []string
	if cmd.HasParent() {
		also = append(also, cmd.Parent().CommandPath())
	}
	for _, c := range documented(cmd) {
		also = append(also, c.CommandPath())
	}
	if len(also) > 0 {
		b.WriteString(".SH SEE ALSO\n")
		for i, path := range also {
			comma := ","
			if i == len(also)-1 {
				comma = ""
			}
			fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(strings.ReplaceAll(path, " ", "-")), comma)
		}
	}
	return b.String()
}

func manFlags(b *strings.Builder, heading string, flags *pflag.FlagSet) {
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
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(head), roff(words))
	})
}

// roffText keeps what is indented as it is, and lets the rest flow.
func roffText(text string) string {
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
		b.WriteString(roff(line) + "\n")
	}
	if literal {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// roff keeps text from being read as a request: at the start of a line a dot or an
// apostrophe would be one.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
