package connections

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
)

// formEntry is a connector's form to fill in.
type formEntry struct {
	form *api.CredentialForm
	// variables returns the variables that may hold a field.
	variables func(field string) []string
	// leave explains how to leave the question; other is the next step without a terminal.
	leave, other string
}

// connectVariables returns the variables for a connector with unknown variables.
func connectVariables(field string) []string {
	return []string{arguments.FieldVariable(connectVariablePrefix, field)}
}

// declaredVariables returns the variables that an installed connector declares for its fields. A remote server does not
// report them.
func declaredVariables(ctx context.Context, inv *command.Invocation,
	connectorID string) (func(field string) []string, error) {
	r, err := inv.RemoteServer()
	if err != nil || r != nil {
		return connectVariables, err
	}
	connectors, err := inv.Connectors()
	if err != nil {
		return nil, err
	}
	found, err := command.FindConnector(ctx, connectors, connectorID)
	if err != nil {
		return nil, err
	}
	declared := map[string][]string{}
	for _, f := range service.CredentialForm(found.Manifest).Fields {
		declared[f.Name] = f.Env
	}
	return func(field string) []string {
		if len(declared[field]) == 0 {
			return connectVariables(field)
		}
		return declared[field]
	}, nil
}

// variableNames returns the variables of all fields.
func (e formEntry) variableNames() (names []string) {
	for _, f := range e.form.Fields {
		names = append(names, e.variables(f.Name)...)
	}
	return arguments.WithoutRepeats(names)
}

// enterFromTerminal asks for each field.
func enterFromTerminal(ctx context.Context, inv *command.Invocation, e formEntry) (map[string]string, error) {
	var ask []api.QuestionField
	for _, f := range e.form.Fields {
		title := f.Label
		if f.Help != "" {
			title += " [" + f.Help + "]"
		}
		ask = append(ask, api.QuestionField{Name: f.Name, Label: title, Required: f.Required, Secret: f.Secret})
	}
	message := strings.TrimSpace(cmp.Or(e.form.Label, "What the source asks for, to sign in.") + " " + e.form.Description)
	given, err := inv.AskOwner(ctx, message, e.leave, ask, e.other)
	if errors.Is(err, io.EOF) {
		return nil, failure.ErrUnchanged
	}
	return given, err
}

// enterFromEnv reads each field from the first of its variables that is set.
func enterFromEnv(inv *command.Invocation, e formEntry) (map[string]string, error) {
	given := map[string]string{}
	for _, f := range e.form.Fields {
		names := e.variables(f.Name)
		for _, name := range names {
			text, _, err := inv.Variable(name)
			if err != nil {
				return nil, err
			}
			if given[f.Name] == "" && text != "" {
				given[f.Name] = text
			}
		}
		if given[f.Name] == "" && f.Required {
			either := strings.Join(names, " or ")
			return nil, failure.ConfigurationError(either+" is not set", "Set it, or "+strings.Join(names, "_FILE or ")+"_FILE.")
		}
	}
	return given, nil
}
