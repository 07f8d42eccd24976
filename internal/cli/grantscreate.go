package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const grantCreateText = `Makes a grant and prints its token, which is shown only now: hand it to the app.

A part of a stream is written CONNECTION/STREAM, or CONNECTION/STREAM:FIELD,FIELD for
some of its fields, or CONNECTION/STREAM:view:ID for those of a view. --profile adds the
streams that a connector declares under a name (pdpp connectors show lists views and
profiles). --resource bounds a stream to records by their keys, or by the field that its
connector names for it. It ends after a year unless --expires says otherwise. --since and --until hold for every named stream, and need streams
whose connector says which field is their time.`

const grantCreateExamples = `  pdpp grants create 'Garden diary' --stream cin_github_1/issues
  pdpp grants create Tax --stream bank/transactions:date,amount --since 2025-01-01 --until 2026-01-01 --single-use
  pdpp grants create Match --stream bank/transactions:view:reconciliation
  pdpp grants create Match --profile bank/reconciliation
  pdpp grants create Digest --stream chat/messages --resource messages=C0GENERAL
  pdpp grants create Agent --stream github/starred --expires 30d --purpose 'Weekly digest' --json`

type grantFlags struct {
	streams, resources    []string
	profiles              []string
	since, until, expires string
	purpose               string
	singleUse             bool
}

func (a *app) grantCreateCommand() *cobra.Command {
	var f grantFlags
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Let somebody read a part of your records", Long: grantCreateText, Example: grantCreateExamples,
		Args: needArgs("the name of who may read"),
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			return a.createGrant(ctx, o, args[0], f)
		}),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.streams, "stream", nil, "what may be read, as CONNECTION/STREAM[:FIELD,...] (may be repeated)")
	flags.StringArrayVar(&f.profiles, "profile", nil, "the streams of a profile, as CONNECTION/PROFILE (may be repeated)")
	flags.StringArrayVar(&f.resources, "resource", nil, "only this record of a stream, as STREAM=KEY, which is fetched if it is not here yet, or only records with this value of its resource field (may be repeated)")
	flags.StringVar(&f.since, "since", "", "only records from this time on (RFC 3339 or a date)")
	flags.StringVar(&f.until, "until", "", "only records before this time")
	flags.StringVar(&f.expires, "expires", "", "when it ends: a time, a date, a span like 30d or 12h, or never (default after a year)")
	flags.BoolVar(&f.singleUse, "single-use", false, "each stream may be read through once")
	flags.StringVar(&f.purpose, "purpose", "", "what it is for, in your words")
	return cmd
}

func (a *app) createGrant(ctx context.Context, o api.Owner, name string, f grantFlags) error {
	g := api.NewGrant{ClientName: name, Purpose: f.purpose, Mode: "continuous"}
	if f.singleUse {
		g.Mode = "single_use"
	}
	var err error
	if g.NeverExpires = f.expires == "never"; !g.NeverExpires {
		if g.ExpiresAt, err = a.expiry(f.expires); err != nil {
			return err
		}
	}
	all, err := connectionsOf(ctx, o)
	if err != nil {
		return err
	}
	if g.Streams, err = grantStreams(all, f); err != nil {
		return err
	}
	for _, text := range f.profiles {
		name, profile, found := strings.Cut(text, "/")
		if !found || name == "" || profile == "" {
			return usage("--profile "+strconv.Quote(text)+" is not CONNECTION/PROFILE", "Write it like --profile bank/reconciliation")
		}
		conn, err := pickAmong(all, name, byName)
		if err != nil {
			return err
		}
		g.Profiles = append(g.Profiles, api.GrantProfile{ConnectionID: conn.ID, Profile: profile})
	}
	made, token, err := o.CreateGrant(ctx, g)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"grant": made, "token": token})
		return nil
	}
	a.printGrant(made)
	printf(a.out, "\nThe token, which is not shown again:\n%s\n", token)
	return nil
}

// grantStreams reads CONNECTION/STREAM[:FIELD,...].
func grantStreams(all []store.Connection, f grantFlags) ([]api.GrantStream, error) {
	if len(f.streams)+len(f.profiles) == 0 {
		return nil, usage("--stream is missing", "Say what may be read, like --stream CONNECTION/STREAM (pdpp streams lists them).")
	}
	since, err := optionalMoment("--since", f.since)
	if err != nil {
		return nil, err
	}
	until, err := optionalMoment("--until", f.until)
	if err != nil {
		return nil, err
	}
	chosen, err := selectionOf(f.resources)
	if err != nil {
		return nil, err
	}
	out := []api.GrantStream{}
	for _, text := range f.streams {
		part, fields, some := strings.Cut(text, ":")
		name, stream, found := strings.Cut(part, "/")
		if !found || name == "" || stream == "" || some && fields == "" {
			return nil, usage("--stream "+strconv.Quote(text)+" is not CONNECTION/STREAM[:FIELD,...]", "Write it like --stream github/issues:title,state")
		}
		conn, err := pickAmong(all, name, byName)
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
			return nil, usage("--resource names the stream "+c.Stream+", which the grant does not have", "Add it with --stream.")
		}
	}
	return out, nil
}

func optionalMoment(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	t, err := moment(flag, text)
	if err != nil {
		return nil, err
	}
	return &t, nil
}

// spanOf reads a span like 90d or 12h; zero when it is none.
func spanOf(text string) time.Duration {
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100_000 {
			return time.Duration(n) * 24 * time.Hour
		}
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return max(0, d)
}

// expiry reads a moment, or a span from now on; nil means never.
func (a *app) expiry(text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if span := spanOf(text); span > 0 {
		t := a.env.Now().Add(span)
		return &t, nil
	}
	t, err := moment("--expires", text)
	if err != nil {
		return nil, usage("--expires "+strconv.Quote(text)+" is neither a time nor a span", "Write a span like 30d or 12h, or a date like 2026-03-01.")
	}
	return &t, nil
}
