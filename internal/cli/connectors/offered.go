package connectors

import (
	"context"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/manifest"
)

// FindOffered returns a connector that can be connected.
func FindOffered(ctx context.Context, o api.Owner, name string) (api.Connector, error) {
	all, err := o.Connectors(ctx)
	if err != nil {
		return api.Connector{}, err
	}
	names := make([]string, len(all))
	for i, c := range all {
		if c.ID == manifest.CanonicalKey(name) {
			return c, unusableConnector(c)
		}
		names[i] = c.ID
	}
	e := &failure.Error{Code: "unknown_connector", Exit: failure.ExitNotFound,
		Message: fmt.Sprintf("there is no connector %q", name),
		Next: "Installed are: " + strings.Join(names, ", ") +
			"; the folder of another belongs into connectors in the home of the server."}
	if len(names) == 0 {
		e.Next = "None is installed; the folder of one belongs into connectors in the home of the server."
	}
	if near := arguments.NearestName(name, names); near != "" {
		e.Next = "Did you mean " + near + "? " + e.Next
	}
	return api.Connector{}, e
}

// unusableConnector returns an error if an installed connector cannot be connected.
func unusableConnector(c api.Connector) error {
	if c.Problem == "" {
		return nil
	}
	return &failure.Error{Code: failure.CodeConnectorUnusable, Exit: failure.ExitFailed,
		Message: failure.SafeText(c.Problem), Next: failure.ConnectorUnusableNextStep}
}
