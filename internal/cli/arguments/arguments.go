// Package arguments parses the arguments and flags that several commands share: times, spans, limits, selections of
// records, and names with typing mistakes.
package arguments

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// NoArguments rejects arguments. For a command with subcommands the argument is an unknown subcommand.
func NoArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasSubCommands():
		return fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	default:
		return fmt.Errorf("unexpected argument %q", args[0])
	}
}

// Required rejects anything but exactly the named arguments.
func Required(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("%s is missing", names[len(args)])
		}
		if len(args) > len(names) {
			return fmt.Errorf("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// OptionalArgument accepts one argument or none.
func OptionalArgument(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("unexpected argument %q", args[1])
	}
	return nil
}

// HighestLimit is the highest value of --limit.
const HighestLimit = 100_000

// CheckLimit rejects a --limit that is out of range.
func CheckLimit(limit int) error {
	if limit < 1 || limit > HighestLimit {
		return failure.UsageError("--limit must be between 1 and 100000", "Leave it out for the default.")
	}
	return nil
}

// JoinValues returns the values with commas between them.
func JoinValues[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// WithoutRepeats returns the names in their order, each once.
func WithoutRepeats(names []string) []string {
	var out []string
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// FieldVariable returns the environment variable for a field of a form.
func FieldVariable(prefix, field string) string {
	return prefix + strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return '_'
		}
		return unicode.ToUpper(r)
	}, field)
}
