package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectors"
	"github.com/pdpp-go/pdpp/manifest"
)

// What a connector holds is small, and little of it lives long: memory is collected when it has grown
// to so many percent beyond what lives, and at any rate within the limit.
const (
	collectAt   = 300
	memoryLimit = 48 << 20
)

func newRun() *cobra.Command {
	return &cobra.Command{
		Use:   "run NAME",
		Short: "Run a connector as this process: protocol on stdin and stdout, logs on stderr",
		Long: "Run a connector as this process.\n\nIt reads START from stdin, writes protocol messages to stdout and logs " +
			"to stderr.\n" +
			"It is meant to be started by a runner, which gives it only the variables that its\nmanifest declares.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := find(args[0])
			if err != nil {
				return err
			}
			debug.SetGCPercent(collectAt)
			if os.Getenv("GOMEMLIMIT") == "" {
				debug.SetMemoryLimit(memoryLimit)
			}
			connectorkit.Main(e.NewConnector())
			return nil
		},
	}
}

func newList() *cobra.Command {
	var asJSON, names bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the built-in connectors",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listConnectors(cmd.OutOrStdout(), asJSON, names)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false,
		"print JSON, one array of objects with name, display_name, version and streams")
	cmd.Flags().BoolVar(&names, "names", false, "give the names alone; no manifest is read for them")
	return cmd
}

func listConnectors(w io.Writer, asJSON, names bool) error {
	type row struct {
		Name        string   `json:"name"`
		DisplayName string   `json:"display_name,omitempty"`
		Version     string   `json:"version,omitempty"`
		Streams     []string `json:"streams,omitempty"`
	}
	rows := []row{}
	for _, e := range connectors.Registered {
		if names {
			rows = append(rows, row{Name: e.Name})
			continue
		}
		m := e.New().Manifest
		rows = append(rows, row{m.Key(), m.DisplayName, m.Version, streamNames(m)})
	}
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	if names {
		for _, r := range rows {
			fmt.Fprintln(w, r.Name)
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tVERSION\tSOURCE\tSTREAMS")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Name, r.Version, r.DisplayName, strings.Join(r.Streams, ", "))
	}
	return t.Flush()
}

func newManifest() *cobra.Command {
	return &cobra.Command{
		Use:   "manifest NAME...",
		Short: "Print the manifests of connectors as JSON, one after the other",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				e, err := find(name)
				if err != nil {
					return err
				}
				b, err := e.New().Manifest.JSON()
				if err != nil {
					return err
				}
				if _, err := cmd.OutOrStdout().Write(b); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func find(name string) (connectors.ConnectorEntry, error) {
	e, ok := connectors.FindEntry(name)
	if !ok {
		var names []string
		for _, e := range connectors.Registered {
			names = append(names, e.Name)
		}
		return e, fmt.Errorf("no built-in connector %q; there is: %s", name, strings.Join(names, ", "))
	}
	return e, nil
}

func streamNames(m *manifest.Manifest) []string {
	names := []string{}
	for _, s := range m.Streams {
		names = append(names, s.Name)
	}
	return names
}
