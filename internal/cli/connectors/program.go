package connectors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
)

const settingsHelp = `Sets how a connector that is not built in starts, and what it may use although its
manifest does not declare it. Set it on the machine that collects. Each setting replaces
the earlier value; an empty one removes it.

  --path     for a script its interpreter, which replaces the one that the manifest
             (runtime: node, deno or python) or the first line of the script names; for
             any other connector the program to start instead
  --read     a file or folder that it may read
  --env      a variable of this server's environment that it gets
  --modules  a folder with modules of its language: node_modules or site-packages

The connector needs your confirmation again: pdpp connectors confirm. A connector made with
"pdpp-connectors wrap" has no --path; wrap it again instead.`

const settingsExamples = `  pdpp connectors set weather --path /opt/python/bin/python3
  pdpp connectors set weather --path ""                   what it declares itself
  pdpp connectors set photos --read /home/ada/Pictures --env PHOTOS_EXPORT_DIR
  pdpp connectors set diary --modules /opt/diary/node_modules`

// variableName matches the names of variables that a connector may get.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

func newConnectorSetCommand(inv *command.Invocation) *cobra.Command {
	var wanted catalog.Choice
	cmd := &cobra.Command{
		Use: "set CONNECTOR", Short: "Set the program of a connector, and what it may use", Long: settingsHelp,
		Example: settingsExamples,
		Args:    arguments.Required("the name of a connector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inv.RefuseServer(); err != nil {
				return err
			}
			changed := cmd.Flags().Changed
			if !slices.ContainsFunc([]string{"path", "read", "env", "modules"}, changed) {
				return failure.UsageError("nothing to set", "Use --path, --read, --env or --modules.")
			}
			return changeChoice(cmd.Context(), inv, args[0], "", func(found catalog.Connector, choice *catalog.Choice) error {
				if changed("path") {
					choice.Path = wanted.Path
				}
				if changed("read") {
					choice.Read = withoutEmpty(wanted.Read)
				}
				if changed("env") {
					choice.Variables = withoutEmpty(wanted.Variables)
				}
				if changed("modules") {
					choice.Modules = withoutEmpty(wanted.Modules)
				}
				return checkChoice(found, *choice, changed("path"))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&wanted.Path, "path", "", "absolute path of its interpreter or program")
	flags.StringArrayVar(&wanted.Read, "read", nil, "absolute path of a file or folder; may be repeated")
	flags.StringArrayVar(&wanted.Variables, "env", nil, "name of a variable; may be repeated")
	flags.StringArrayVar(&wanted.Modules, "modules", nil, "absolute path of a folder with modules; may be repeated")
	return cmd
}

// withoutEmpty returns the values that are not empty.
func withoutEmpty(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
}

// checkChoice returns a usage error for a setting that the connector cannot use.
func checkChoice(found catalog.Connector, choice catalog.Choice, path bool) error {
	if path && found.Starts != "" {
		return failure.UsageError(found.Name+" is a wrapped program",
			"Wrap it again with the other one: pdpp-connectors wrap.")
	}
	if path && choice.Path != "" {
		info, err := os.Stat(choice.Path)
		switch {
		case !filepath.IsAbs(choice.Path):
			return failure.UsageError("the path does not begin with /", "Use the whole path of a program.")
		case err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
			return failure.UsageError("there is no program at "+choice.Path, "Use the whole path of a program.")
		}
	}
	for _, place := range slices.Concat(choice.Read, choice.Modules) {
		info, err := os.Stat(place)
		switch {
		case !filepath.IsAbs(place):
			return failure.UsageError(place+" does not begin with /", "Use the whole path of a folder.")
		case err != nil:
			return failure.UsageError("there is nothing at "+place, "Use the whole path of a folder that exists.")
		case found.OpensPrivate(place):
			return failure.UsageError(place+" holds data of PDPP itself", "Choose a folder that only the source uses.")
		case slices.Contains(choice.Modules, place) && !info.IsDir():
			return failure.UsageError(place+" is not a folder", "Name the folder that holds the modules.")
		}
	}
	for _, name := range choice.Variables {
		if !variableName.MatchString(name) || !found.MayReceive(name) {
			return failure.UsageError(name+" is not a variable that a connector may get",
				"Use a name of its own, not one of PDPP or of the system.")
		}
	}
	return nil
}

// changeChoice changes what the owner set for a foreign connector and prints the result. done describes what changed.
func changeChoice(ctx context.Context, inv *command.Invocation, name, done string,
	change func(found catalog.Connector, choice *catalog.Choice) error) (err error) {
	connectors, err := inv.Connectors()
	if err != nil {
		return err
	}
	st, err := inv.OpenStore(ctx, command.MayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	connectors = launch.AsChosen(connectors, st)
	found, err := command.FindConnector(ctx, connectors, name)
	if err != nil {
		return err
	}
	if found.Builtin {
		return failure.UsageError(found.Name+" is built in and has no such settings",
			"Set those of a connector that is not: pdpp connectors.")
	}
	choice := found.Chosen
	if err := change(found, &choice); err != nil {
		return err
	}
	if err := launch.Choose(ctx, st, found.Manifest.Key(), choice, inv.Env.Now()); err != nil {
		return err
	}
	inv.LocalTrail(st).Record(ctx, audit.Entry{Kind: audit.SettingChange, Object: found.Name,
		ObjectName: "program of the connector " + found.Name})
	if done == "" {
		done = describeChoice(found.Name, choice)
	}
	return inv.PrintResult(map[string]any{"connector": found.Name, "path": choice.Path, "read": choice.Read,
		"variables": choice.Variables, "modules": choice.Modules}, "%sNext: pdpp connectors confirm %s\n", done, found.Name)
}

// describeChoice returns what is set for a connector, one sentence per line.
func describeChoice(name string, choice catalog.Choice) string {
	var b strings.Builder
	if choice.Path == "" {
		fmt.Fprintf(&b, "%s is started by the program that it declares.\n", name)
	} else {
		fmt.Fprintf(&b, "%s is started by %s.\n", name, choice.Path)
	}
	for _, part := range []struct {
		verb string
		list []string
	}{{"may also read", choice.Read}, {"also gets", choice.Variables}, {"finds modules in", choice.Modules}} {
		if len(part.list) > 0 {
			fmt.Fprintf(&b, "It %s %s.\n", part.verb, strings.Join(part.list, ", "))
		}
	}
	return b.String()
}
