package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/foreign"
)

func newAdapt() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "adapt DIR",
		Short: "Run the program of a folder that \"wrap\" wrote, as this process",
		Long: "Run the program of a folder that \"wrap\" wrote, as this process.\n\n" +
			"Like \"run\" it is meant to be started by a runner: it reads START from stdin, writes\n" +
			"protocol messages to stdout and logs to stderr. It starts the program and puts what\nthat says into our words.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if check {
				return checkSettings(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), args[0])
			}
			load := foreign.Connector
			if declarative.IsDeclared(args[0]) {
				load = declarative.Load
			}
			c, err := load(args[0])
			if err != nil {
				return err
			}
			connectorkit.Main(c)
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check-settings", false, "check the settings on standard input, and run nothing")
	_ = cmd.Flags().MarkHidden("check-settings") // pdpp uses it before it stores settings
	return cmd
}

// newConfined is the step between the adapter and the program that it starts.
func newConfined() *cobra.Command {
	return &cobra.Command{
		Use:    foreign.ConfinedCommand + " namespace|report|PORT [COMMAND [ARGUMENT...]]",
		Short:  "Become a program that reaches the governing proxy alone, or report what this machine can enforce",
		Hidden: true, DisableFlagParsing: true, Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return foreign.Confined(args) },
	}
}

func newWrap() *cobra.Command {
	var o foreign.Order
	cmd := &cobra.Command{
		Use:   "wrap singer|airbyte NAME -- COMMAND [ARGUMENT...], or wrap declarative NAME FILE",
		Short: "Make a connector folder of a Singer tap, an Airbyte source or a source file",
		Long: "Make a connector folder of a Singer tap, an Airbyte source or a source file.\n\n" +
			"The program is asked what it offers, and the folder NAME gets manifest.json and\n" +
			"adapter.json. Put it into the folder of connectors and connect it like any other.\n" +
			"{dir} in an argument of the command is replaced by the working directory of a run.\n\n" +
			"A source file is a low-code manifest in YAML. It needs no other program: PDPP makes\nthe requests. " +
			"See what it would do first: pdpp-connectors validate FILE.",
		Example: "  pdpp-connectors wrap singer notes --config config.json --host api.notes.example -- tap-notes",
		Args:    cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Kind, o.Name, o.Command = foreign.TapProtocol(args[0]), args[1], args[2:]
			if o.Dir == "" {
				o.Dir = o.Name
			}
			if args[0] == declarative.AdapterKind {
				return wrapFile(cmd.OutOrStdout(), o.Dir, o.Name, args[2:])
			}
			a, err := foreign.Wrap(cmd.Context(), o)
			if err != nil {
				return &wrongError{text: err.Error()}
			}
			return wrapped(cmd.OutOrStdout(), o, a)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "dir", "", "the folder to write (default NAME)")
	f.StringVar(&o.Config, "config", "", "a JSON file with the program's configuration; its secrets are not copied")
	f.StringSliceVar(&o.Hosts, "host", nil, "a host that the program may reach, beside those that it asks now")
	f.StringSliceVar(&o.Paths, "path", nil, "a file or folder that the program needs to read")
	f.BoolVar(&o.Properties, "properties", false, "the tap is an older one, which wants its catalog by --properties")
	f.BoolVar(&o.Opaque, "no-inspect", false,
		"let the program's traffic through unread; nothing can be said then of how complete it is")
	return cmd
}

// wrapped prints what was created, and what to do with it.
func wrapped(w io.Writer, o foreign.Order, a *foreign.Adapter) error {
	var names, variables []string
	for _, s := range a.Streams {
		names = append(names, s.Name)
	}
	for _, s := range a.Config {
		variables = append(variables, s.Env)
	}
	fmt.Fprintf(w, "%s: %d streams: %s\n", filepath.Clean(o.Dir), len(names), strings.Join(names, ", "))
	if len(variables) > 0 {
		fmt.Fprintf(w, "variables: %s\n", strings.Join(variables, ", "))
	}
	if len(a.Hosts) == 0 {
		fmt.Fprintf(w, "hosts: none was asked; name those that it needs by --host, or in %s\n", foreign.HostsVariable(o.Name))
	} else {
		fmt.Fprintf(w, "hosts: %s\n", strings.Join(a.Hosts, ", "))
	}
	_, err := fmt.Fprintf(w, "next: move the folder into the folder of connectors, then: pdpp connect %s\n", o.Name)
	return err
}
