package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service"
)

// entry is a connector's form that the owner is to fill in.
type entry struct {
	form *api.CredentialForm
	// variables gives the variables that may hold a field.
	variables func(field string) []string
	// leave tells how to leave the question, and other how to answer without a terminal.
	leave, other string
}

// connectVariables are those of a connector whose own variables are not known here.
func connectVariables(field string) []string { return []string{variableFor(connectPrefix, field)} }

// declaredVariables are those that an installed connector declares for its fields. A
// remote server does not tell them.
func (a *app) declaredVariables(ctx context.Context, connectorID string) (func(field string) []string, error) {
	r, err := a.server()
	if err != nil || r != nil {
		return connectVariables, err
	}
	connectors, err := a.connectors()
	if err != nil {
		return nil, err
	}
	found, err := findConnector(ctx, connectors, connectorID)
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

// names are the variables of all fields.
func (e entry) names() (names []string) {
	for _, f := range e.form.Fields {
		names = append(names, e.variables(f.Name)...)
	}
	return unique(names)
}

// enterFromTerminal asks field by field.
func (a *app) enterFromTerminal(ctx context.Context, e entry) (map[string]string, error) {
	var ask []api.QuestionField
	for _, f := range e.form.Fields {
		title := f.Label
		if f.Help != "" {
			title += " [" + f.Help + "]"
		}
		ask = append(ask, api.QuestionField{Name: f.Name, Label: title, Required: f.Required, Secret: f.Secret})
	}
	message := strings.TrimSpace(cmp.Or(e.form.Label, "What the source asks for, to sign in.") + " " + e.form.Description)
	given, err := a.askOwner(ctx, message, e.leave, ask, e.other)
	if errors.Is(err, io.EOF) {
		return nil, errUnchanged
	}
	return given, err
}

// enterFromEnv takes each field from the first of its variables that is set.
func (a *app) enterFromEnv(e entry) (map[string]string, error) {
	given := map[string]string{}
	for _, f := range e.form.Fields {
		names := e.variables(f.Name)
		for _, name := range names {
			text, _, err := a.variable(name)
			if err != nil {
				return nil, err
			}
			if given[f.Name] == "" && text != "" {
				given[f.Name] = text
			}
		}
		if given[f.Name] == "" && f.Required {
			either := strings.Join(names, " or ")
			return nil, configError(either+" is not set", "Set it, or "+strings.Join(names, "_FILE or ")+"_FILE.")
		}
	}
	return given, nil
}

// errUnchanged is what a command ends with whose question the owner left.
var errUnchanged = &Error{Code: "cancelled", Exit: ExitCancelled, Message: "nothing was changed", Next: "Repeat the command when you like."}
