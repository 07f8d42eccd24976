package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/keep/audit"
)

const connectorSetText = `Has a connector that is not built in started by another program.

For a script, PATH is its interpreter: it is started instead of the one that the manifest
(runtime: node, deno or python) or the first line of the script names. For a connector that
is no script, PATH is the program to start in its place. It is a program of the machine that
collects, and is set there.

The connector then needs your word again: pdpp connectors confirm. An empty PATH takes the
setting back. What "pdpp-connectors wrap" made is wrapped again instead.`

func (a *app) connectorsSetCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "set CONNECTOR", Short: "Name the interpreter or the program of a connector", Long: connectorSetText,
		Example: "  pdpp connectors set weather --path /opt/python/bin/python3\n  pdpp connectors set weather --path \"\"     what it says itself",
		Args:    needArgs("the name of a connector"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.refuseServer(); err != nil {
				return err
			}
			if !cmd.Flags().Changed("path") {
				return usage("nothing to set", `Give --path PATH, or --path "" to take it back.`)
			}
			return a.setConnectorPath(cmd.Context(), args[0], path)
		},
	}
	cmd.Flags().StringVar(&path, "path", "", "whole path of its interpreter or program; empty for what it says itself")
	return cmd
}

func (a *app) setConnectorPath(ctx context.Context, name, path string) (err error) {
	connectors, err := a.connectors()
	if err != nil {
		return err
	}
	found, err := findConnector(ctx, connectors, name)
	if err != nil {
		return err
	}
	switch info, err := os.Stat(path); {
	case found.Builtin:
		return usage(found.Name+" is built in, and needs no program", "Set the path of one that is not: pdpp connectors.")
	case found.Starts != "":
		return usage(found.Name+" is a wrapped program", "Wrap it again with the other one: pdpp-connectors wrap.")
	case path == "":
	case !filepath.IsAbs(path):
		return usage("the path does not begin with /", "Give the whole path of a program.")
	case err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return usage("there is no program at "+path, "Give the whole path of a program.")
	}
	st, err := a.openStore(ctx, mayCreate)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if err := launch.Choose(ctx, st, found.Name, path, a.env.Now()); err != nil {
		return err
	}
	a.localTrail(st).Record(ctx, audit.Entry{Kind: audit.SettingChange, Object: found.Name, ObjectName: "program of the connector " + found.Name})
	if a.json {
		writeJSON(a.out, map[string]any{"connector": found.Name, "path": path})
		return nil
	}
	if path == "" {
		printf(a.out, "%s is started by what it says itself.\n", found.Name)
	} else {
		printf(a.out, "%s is started by %s.\n", found.Name, path)
	}
	printf(a.out, "Next: pdpp connectors confirm %s\n", found.Name)
	return nil
}
