package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// ChooseByID is the next step when an argument matches several connections.
const ChooseByID = "Choose one by its id: "

// ChooseByFlag is the next step when several connections exist and none was named.
const ChooseByFlag = "Choose one with --connection: "

// ConnectionDetail finds a connection by name and returns its details.
func ConnectionDetail(ctx context.Context, o api.Owner, name string) (api.Detail, error) {
	conn, err := FindConnection(ctx, o, name, ChooseByID)
	if err != nil {
		return api.Detail{}, err
	}
	return o.Connection(ctx, conn.ID)
}

// FindStream returns a stream of a connection. The error for an unknown stream lists the streams.
func FindStream(ctx context.Context, o api.Owner, connectionID, name string) (api.Stream, error) {
	streams, err := o.Streams(ctx, connectionID)
	if err != nil {
		return api.Stream{}, err
	}
	if i := slices.IndexFunc(streams, func(s api.Stream) bool { return s.Name == name }); i >= 0 {
		return streams[i], nil
	}
	names := make([]string, len(streams))
	for i, s := range streams {
		names[i] = s.Name
	}
	return api.Stream{}, unknownStream(connectionID, name, names)
}

// ChooseStream returns a stream of --connection or, without it, of the only connection that has a stream of that name.
func (inv *Invocation) ChooseStream(ctx context.Context, o api.Owner, name string) (api.Stream, error) {
	conn, err := FindConnection(ctx, o, inv.Connection, ChooseByFlag)
	if err == nil {
		return FindStream(ctx, o, conn.ID, name)
	}
	var several *failure.Error
	if inv.Connection != "" || !errors.As(err, &several) || several.Code != codeConnectionRequired {
		return api.Stream{}, err
	}
	all, err := o.Streams(ctx, "")
	if err != nil {
		return api.Stream{}, err
	}
	var found []api.Stream
	var names, ids []string
	for _, s := range all {
		if s.Name == name {
			found, ids = append(found, s), append(ids, s.ConnectionID)
		}
		names = append(names, s.Name)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		next := "See which streams there are: pdpp streams"
		if near := arguments.NearestName(name, names); near != "" {
			next = "Did you mean " + near + "? " + next
		}
		return api.Stream{}, failure.UnknownName(fmt.Sprintf("no connection has a stream %q", name), next)
	}
	return api.Stream{}, &failure.Error{Code: codeConnectionRequired, Exit: failure.ExitUsage,
		Message: fmt.Sprintf("several connections have a stream %q", name), Next: ChooseByFlag + strings.Join(ids, ", ")}
}

func unknownStream(connectionID, name string, names []string) *failure.Error {
	next := "Streams of " + connectionID + " are: " + strings.Join(names, ", ")
	if len(names) == 0 {
		next = "Nothing has been collected for " + connectionID + ". Begin with: pdpp run " + connectionID
	}
	return failure.UnknownName(fmt.Sprintf("there is no stream %q", name), next)
}

// AnyWorkerAlive reports whether a worker can execute runs.
func AnyWorkerAlive(ctx context.Context, o api.Owner) (bool, error) {
	r, err := o.Runtime(ctx)
	return slices.ContainsFunc(r.Workers, func(w api.Worker) bool { return w.Alive }), err
}

// FindRun returns a run by its id. Found is false when no such run exists.
func FindRun(ctx context.Context, o api.Owner, id string) (run api.Run, found bool, err error) {
	run, err = o.RunByID(ctx, id)
	if failure.HasCode(err, api.CodeNotFound) {
		return run, false, nil
	}
	return run, err == nil, err
}
