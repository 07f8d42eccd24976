package sharing

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const grantCreateHelp = `Creates a grant and prints its token, which is shown only once: pass it to the app.

Write a part of a stream as CONNECTION/STREAM, as CONNECTION/STREAM:FIELD,FIELD for some
of its fields, or as CONNECTION/STREAM:view:ID for the fields of a view. --profile adds the
streams that a connector declares under a name (pdpp connectors show lists views and
profiles). --resource limits a stream to records by their keys, or by the field that its
connector names for this. The grant ends after 90 days unless you set --expires. --since and
--until apply to every named stream, and need streams whose connector declares their time
field.`

const grantCreateExamples = `  pdpp grants create 'Garden diary' --stream cin_github_1/issues
  pdpp grants create Tax --stream bank/transactions:date,amount --since 2025-01-01 --until 2026-01-01 --single-use
  pdpp grants create Match --stream bank/transactions:view:reconciliation
  pdpp grants create Match --profile bank/reconciliation
  pdpp grants create Digest --stream chat/messages --resource messages=C0GENERAL
  pdpp grants create Agent --stream github/starred --expires 30d --purpose 'Weekly digest' --json`

type grantCreateFlags struct {
	streams, resources    []string
	profiles              []string
	since, until, expires string
	purpose               string
	singleUse             bool
}

func newGrantCreateCommand(inv *command.Invocation) *cobra.Command {
	var f grantCreateFlags
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Allow an app to read a part of your records", Long: grantCreateHelp,
		Example: grantCreateExamples,
		Args:    arguments.Required("the name of who may read"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return createGrant(ctx, inv, o, args[0], f)
		}),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.streams, "stream", nil, "what may be read, as CONNECTION/STREAM[:FIELD,...] (may be repeated)")
	flags.StringArrayVar(&f.profiles, "profile", nil, "the streams of a profile, as CONNECTION/PROFILE (may be repeated)")
	flags.StringArrayVar(&f.resources, "resource", nil,
		"only this record of a stream, as STREAM=KEY, which is fetched if it is not here yet, or only records with this "+
			"value of its resource field (may be repeated)")
	flags.StringVar(&f.since, "since", "", "only records from this time on (RFC 3339 or a date)")
	flags.StringVar(&f.until, "until", "", "only records before this time")
	flags.StringVar(&f.expires, "expires", "",
		"when it ends: a time, a date, a span like 30d or 12h, or never (default after 90 days)")
	flags.BoolVar(&f.singleUse, "single-use", false, "each stream may be read through once")
	flags.StringVar(&f.purpose, "purpose", "", "what it is for, in your words")
	return cmd
}

func createGrant(ctx context.Context, inv *command.Invocation, o api.Owner, name string, f grantCreateFlags) error {
	g := api.NewGrant{ClientName: name, Purpose: f.purpose, Mode: "continuous"}
	if f.singleUse {
		g.Mode = "single_use"
	}
	var err error
	if g.NeverExpires = f.expires == "never"; !g.NeverExpires {
		if g.ExpiresAt, err = arguments.ParseExpiry(f.expires, inv.Env.Now()); err != nil {
			return err
		}
	}
	all, err := command.ActiveConnections(ctx, o)
	if err != nil {
		return err
	}
	if g.Streams, err = parseGrantStreams(all, f); err != nil {
		return err
	}
	for _, text := range f.profiles {
		name, profile, found := strings.Cut(text, "/")
		if !found || name == "" || profile == "" {
			return failure.UsageError("--profile "+strconv.Quote(text)+" is not CONNECTION/PROFILE",
				"Write it like --profile bank/reconciliation")
		}
		conn, err := command.ChooseConnection(all, name, command.ChooseByID)
		if err != nil {
			return err
		}
		g.Profiles = append(g.Profiles, api.GrantProfile{ConnectionID: conn.ID, Profile: profile})
	}
	made, token, err := o.CreateGrant(ctx, g)
	return inv.Show(err, map[string]any{"grant": made, "token": token}, func() {
		printGrant(inv, made)
		output.Printf(inv.Out, "\nThe token, which is not shown again:\n%s\n", token)
	})
}

// parseGrantStreams parses CONNECTION/STREAM[:FIELD,...].
func parseGrantStreams(all []store.Connection, f grantCreateFlags) ([]api.GrantStream, error) {
	if len(f.streams)+len(f.profiles) == 0 {
		return nil, failure.UsageError("--stream is missing",
			"Say what may be read, like --stream CONNECTION/STREAM (pdpp streams lists them).")
	}
	since, err := arguments.ParseOptionalMoment("--since", f.since)
	if err != nil {
		return nil, err
	}
	until, err := arguments.ParseOptionalMoment("--until", f.until)
	if err != nil {
		return nil, err
	}
	chosen, err := arguments.ParseResources(f.resources)
	if err != nil {
		return nil, err
	}
	out := []api.GrantStream{}
	for _, text := range f.streams {
		part, fields, some := strings.Cut(text, ":")
		name, stream, found := strings.Cut(part, "/")
		if !found || name == "" || stream == "" || some && fields == "" {
			return nil, failure.UsageError("--stream "+strconv.Quote(text)+" is not CONNECTION/STREAM[:FIELD,...]",
				"Write it like --stream github/issues:title,state")
		}
		conn, err := command.ChooseConnection(all, name, command.ChooseByID)
		if err != nil {
			return nil, err
		}
		s := api.GrantStream{ConnectionID: conn.ID, Stream: stream, Since: since, Until: until}
		if some {
			s.Fields = strings.Split(fields, ",")
		}
		for _, c := range chosen.Streams {
			if c.Stream == stream {
				s.Resources = c.Resources
			}
		}
		out = append(out, s)
	}
	for _, c := range chosen.Streams {
		if !slices.ContainsFunc(out, func(s api.GrantStream) bool { return s.Stream == c.Stream }) {
			return nil, failure.UsageError("--resource names the stream "+c.Stream+", which the grant does not have",
				"Add it with --stream.")
		}
	}
	return out, nil
}
