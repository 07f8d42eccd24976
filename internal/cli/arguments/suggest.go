package arguments

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

var (
	unknownFlagMessage    = regexp.MustCompile(`^unknown flag: --(\S+)`)
	unknownCommandMessage = regexp.MustCompile(`^unknown command "([^"]*)"`)
	exclusiveFlagsMessage = regexp.MustCompile(`none of the others can be; \[(\S+) (\S+)[^\]]*\] were all set`)
)

// ParserError turns an error of the command line parser into one line and a next step.
func ParserError(cmd *cobra.Command, err error) error {
	var known *failure.Error
	if errors.As(err, &known) {
		return err
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	next := "See: " + cmd.CommandPath() + " --help"
	if m := unknownFlagMessage.FindStringSubmatch(message); m != nil {
		if near := nearestFlag(cmd, m[1]); near != "" {
			next = "Did you mean --" + near + "? See: " + cmd.CommandPath() + " --help"
		}
	}
	if m := unknownCommandMessage.FindStringSubmatch(message); m != nil {
		if near := nearestCommand(cmd, m[1]); near != "" {
			next = "Did you mean: " + cmd.CommandPath() + " " + near
		}
	}
	if m := exclusiveFlagsMessage.FindStringSubmatch(message); m != nil {
		message, next = "--"+m[1]+" and --"+m[2]+" cannot be used together", "Leave one of them out. See: "+cmd.CommandPath()+
			" --help"
	}
	return failure.UsageError(message, next)
}

func nearestCommand(cmd *cobra.Command, typed string) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return NearestName(typed, names)
}

func nearestFlag(cmd *cobra.Command, typed string) string {
	var names []string
	each := func(f *pflag.Flag) { names = append(names, f.Name) }
	cmd.LocalFlags().VisitAll(each)
	cmd.InheritedFlags().VisitAll(each)
	return NearestName(typed, names)
}

// NearestName returns the name that the owner probably meant, or "" when none is close.
func NearestName(typed string, names []string) string {
	best, distance := "", max(2, len(typed)/3)+1
	for _, name := range names {
		d := editDistance(typed, name)
		if strings.HasPrefix(name, typed) {
			d = min(d, 1)
		}
		if d < distance {
			best, distance = name, d
		}
	}
	return best
}

// editDistance counts the letters to insert, delete or replace between two words.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
