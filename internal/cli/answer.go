package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"pdpp/internal/interaction"
	"pdpp/internal/store"
	"pdpp/protocol"
)

const answerText = `Answers the question that a run of a worker has for you. You are asked field by
field, and secrets are not shown. The answer is sealed for that run and is stored
nowhere.

A script gives the answer on standard input, as one JSON object (--stdin), or in
variables PDPP_ANSWER_<FIELD> (--from-env), each of which may be a _FILE too. It is
never given on the command line, where others could see it.`

const answerExamples = `  pdpp answer example                       ask me, and answer the run
  pdpp answer example --cancel              refuse: the run goes on without an answer
  pdpp answer example --stdin < code.json   {"code":"123456"}
  PDPP_ANSWER_CODE_FILE=code pdpp answer example --from-env`

// answerPrefix begins the variables that hold an answer.
const answerPrefix = "PDPP_ANSWER_"

type answerFlags struct{ cancel, stdin, fromEnv bool }

func (a *app) answerCommand() *cobra.Command {
	var f answerFlags
	cmd := &cobra.Command{
		Use: "answer CONNECTION|RUN", Short: "Answer the question of a run", Long: answerText, Example: answerExamples,
		Args: needArgs("the name of a connection or run"),
		RunE: a.withStore(func(ctx context.Context, st store.Store, args []string) error {
			q, err := a.findQuestion(ctx, st, args[0])
			if err != nil {
				return err
			}
			response, err := a.compose(ctx, q, f)
			if err != nil {
				return err
			}
			if err := interaction.Answer(ctx, st, q.RunID, q.RequestID, response, a.env.Now()); err != nil {
				return err
			}
			a.tellAnswered(q, response.Status)
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.cancel, "cancel", false, "refuse the question")
	flags.BoolVar(&f.stdin, "stdin", false, "read the answer from standard input, as one JSON object")
	flags.BoolVar(&f.fromEnv, "from-env", false, "take the answer from variables "+answerPrefix+"<FIELD>")
	cmd.MarkFlagsMutuallyExclusive("cancel", "stdin", "from-env")
	return cmd
}

// findQuestion gives the oldest open question of a run or connection that can
// be answered from here.
func (a *app) findQuestion(ctx context.Context, st store.Store, name string) (store.Interaction, error) {
	run, found, err := findRun(ctx, st, name)
	if err != nil {
		return store.Interaction{}, err
	}
	connection := run.ConnectionID
	if !found {
		conn, err := pickConnection(ctx, st, name, byName)
		if err != nil {
			return store.Interaction{}, err
		}
		connection = conn.ID
	}
	open, err := a.openQuestions(ctx, st, connection)
	if err != nil {
		return store.Interaction{}, err
	}
	for _, q := range open {
		if found && q.RunID != run.ID {
			continue
		}
		if len(q.Key) == 0 {
			return q, interaction.ErrElsewhere
		}
		return q, nil
	}
	return store.Interaction{}, &Error{Code: interaction.ErrNotPending.Code, Exit: ExitNotFound, Message: connection + " has no open question",
		Next: "See what is asked of you: pdpp attention"}
}

// compose gets the answer from where the owner wants to give it.
func (a *app) compose(ctx context.Context, q store.Interaction, f answerFlags) (protocol.InteractionResponse, error) {
	refused := protocol.InteractionResponse{RequestID: q.RequestID, Status: protocol.ResponseCancelled}
	if f.cancel {
		return refused, nil
	}
	fields, err := formOf(protocol.Interaction{RequestID: q.RequestID, Kind: q.Kind, Message: q.Message, Schema: q.Schema})
	if err != nil {
		return refused, interaction.ErrFormUnreadable
	}
	var data jsontext.Value
	switch {
	case f.stdin:
		data, err = a.answerFromStdin()
	case f.fromEnv:
		data, err = a.answerFromEnv(fields)
	default:
		data, err = a.answerFromTerminal(ctx, q.Message, fields)
	}
	if errors.Is(err, io.EOF) {
		return refused, nil
	}
	if err != nil {
		return refused, err
	}
	return protocol.InteractionResponse{RequestID: q.RequestID, Status: protocol.ResponseSuccess, Data: data}, nil
}

func (a *app) answerFromStdin() (jsontext.Value, error) {
	b, err := io.ReadAll(io.LimitReader(a.env.Stdin, maxValueFile+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	data := jsontext.Value(strings.TrimSpace(string(b)))
	if len(b) > maxValueFile || !data.IsValid() || data.Kind() != '{' {
		return nil, usage("standard input is not one JSON object", `Give the fields by their names, like {"code":"123456"}.`)
	}
	return data, nil
}

func (a *app) answerFromEnv(fields []field) (jsontext.Value, error) {
	answers := map[string]any{}
	for _, f := range fields {
		name := answerVariable(f.name)
		text, _, err := a.variable(name)
		if err != nil {
			return nil, err
		}
		v, ok, err := f.value(text)
		if err != nil {
			return nil, configError(name+": "+err.Error(), "Set it, or "+name+"_FILE.")
		}
		if ok {
			answers[f.name] = v
		}
	}
	return json.Marshal(answers, json.Deterministic(true))
}

// answerVariable is the variable of a question's field.
func answerVariable(field string) string { return variableFor(answerPrefix, field) }

// variableFor is the variable of a form's field.
func variableFor(prefix, field string) string {
	return prefix + strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return '_'
		}
		return unicode.ToUpper(r)
	}, field)
}

// answerFromTerminal gives io.EOF when the owner refuses.
func (a *app) answerFromTerminal(ctx context.Context, message string, fields []field) (jsontext.Value, error) {
	answers, err := a.askOwner(ctx, message, "(Ctrl-D to refuse, Ctrl-C to leave the question open)", fields, "Give the answer with --stdin or --from-env.")
	if err != nil {
		return nil, err
	}
	return json.Marshal(answers, json.Deterministic(true))
}

func (a *app) tellAnswered(q store.Interaction, status protocol.ResponseStatus) {
	if a.json {
		writeJSON(a.out, map[string]any{"run_id": q.RunID, "connection_id": q.ConnectionID, "request_id": q.RequestID, "status": status})
		return
	}
	what := "The answer is"
	if status == protocol.ResponseCancelled {
		what = "Your refusal is"
	}
	printf(a.out, "%s on its way to run %s.\n", what, q.RunID)
}
