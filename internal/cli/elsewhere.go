package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"pdpp/internal/ownerapi"
	"pdpp/internal/store"
)

// hereOrElsewhere makes a command that does more over the store of this machine than a
// server elsewhere offers, and the same as far as that goes.
func (a *app) hereOrElsewhere(here func(context.Context, store.Store, []string) error, elsewhere func(context.Context, ownerapi.Owner, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		r, err := a.server()
		if err != nil {
			return err
		}
		if r != nil {
			return elsewhere(cmd.Context(), r.owner(), args)
		}
		return a.withStore(here)(cmd, args)
	}
}

// runElsewhere asks a server for a run.
func (a *app) runElsewhere(ctx context.Context, o ownerapi.Owner, name string, f runFlags) error {
	if f.recoveryOnly {
		return usage("a server elsewhere decides by itself what to retry", "Leave --recovery-only out.")
	}
	conn, err := pickOwned(ctx, o, name, byName)
	if err != nil {
		return err
	}
	newest, err := o.Runs(ctx, conn.ID, 1)
	if err != nil {
		return err
	}
	if err := o.Run(ctx, conn.ID); err != nil {
		return err
	}
	before := ""
	if len(newest) > 0 {
		before = newest[0].ID
	}
	if f.wait {
		return a.follow(ctx, o, conn.ID, conn.DisplayName, before)
	}
	if a.json {
		writeJSON(a.out, map[string]any{"request": map[string]any{"connection_id": conn.ID}})
		return nil
	}
	printf(a.out, "The server is asked to run %s.\nNext: look at it with pdpp status %s; stop it with pdpp cancel %s\n", conn.ID, conn.ID, conn.ID)
	return nil
}

// cancelElsewhere stops a run by its id, or the one that a connection is making.
func (a *app) cancelElsewhere(ctx context.Context, o ownerapi.Owner, args []string) error {
	run, err := o.RunByID(ctx, args[0])
	var e *ownerapi.Error
	if errors.As(err, &e) && e.Code == ownerapi.CodeNotFound {
		run, err = activeRun(ctx, o, args[0])
	}
	if err != nil {
		return err
	}
	if err := o.Cancel(ctx, run.ID); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"connection_id": run.ConnectionID, "run_id": run.ID, "request_withdrawn": false})
		return nil
	}
	printf(a.out, "Stopping run %s of %s; what is finished is kept.\n", run.ID, run.ConnectionID)
	return nil
}

func activeRun(ctx context.Context, o ownerapi.Owner, name string) (ownerapi.Run, error) {
	conn, err := pickOwned(ctx, o, name, byName)
	if err != nil {
		return ownerapi.Run{}, err
	}
	d, err := o.Connection(ctx, conn.ID)
	if err != nil {
		return ownerapi.Run{}, err
	}
	if d.ActiveRun == nil {
		return ownerapi.Run{}, &Error{Code: "run_not_active", Exit: ExitNotFound, Message: "connection " + conn.ID + " is not running",
			Next: "See how it is doing: pdpp status " + conn.ID}
	}
	return *d.ActiveRun, nil
}

// streamsElsewhere lists the streams at a server, which counts live records alone.
func (a *app) streamsElsewhere(ctx context.Context, o ownerapi.Owner, _ []string) error {
	id, err := a.ownedFilter(ctx, o)
	if err != nil {
		return err
	}
	streams, err := o.Streams(ctx, id)
	if err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"streams": streams})
		return nil
	}
	if len(streams) == 0 {
		printf(a.out, "Nothing has been collected yet. Connect a source: pdpp connect CONNECTOR\n")
		return nil
	}
	t := a.table("CONNECTION", "STREAM", "RECORDS", "LAST CHANGE")
	for _, s := range streams {
		t.row(s.ConnectionID, s.Name, count(s.Records), whenever(s.UpdatedAt))
	}
	t.flush()
	return nil
}

// credentialElsewhere gives a server a new credential; the connection checks it by itself.
func (a *app) credentialElsewhere(ctx context.Context, o ownerapi.Owner, name string, fromEnv bool) error {
	conn, err := pickOwned(ctx, o, name, byName)
	if err != nil {
		return err
	}
	d, err := o.Connection(ctx, conn.ID)
	if err != nil {
		return err
	}
	if d.Connector == nil || d.Connector.Form == nil {
		return &Error{Code: "no_credential_form", Exit: ExitFailed, Message: "the connector of " + conn.ID + " asks for no credential, or is not installed there",
			Next: "See how the connection is doing: pdpp status " + conn.ID}
	}
	fields, err := a.connectFields(ctx, d.Connector.Form, connectFlags{fromEnv: fromEnv})
	if err != nil {
		return err
	}
	if err := o.SetCredential(ctx, conn.ID, fields); err != nil {
		return err
	}
	if a.json {
		writeJSON(a.out, map[string]any{"connection_id": conn.ID, "stored": true})
		return nil
	}
	printf(a.out, "Stored the credential of %s.\nNext: nothing; the connection checks it by itself, with one run. See pdpp status %s\n", conn.ID, conn.ID)
	return nil
}
