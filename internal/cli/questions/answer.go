package questions

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/runview"
	"github.com/pdpp-go/pdpp/protocol"
)

const answerHelp = `Answers the question of a run. You are asked field by field, and secrets are not shown.
The answer is encrypted for that run and is not stored.

A script can send the answer on standard input, as one JSON object (--stdin), or in
variables PDPP_ANSWER_<FIELD> (--from-env), each of which may be a _FILE too. It is
never on the command line, where others could see it.`

const answerExamples = `  pdpp answer example                       ask me, and answer the run
  pdpp answer example --cancel              refuse: the run goes on without an answer
  pdpp answer example --stdin < code.json   {"code":"123456"}
  PDPP_ANSWER_CODE_FILE=code pdpp answer example --from-env`

// answerVariablePrefix starts the variables that hold an answer.
const answerVariablePrefix = "PDPP_ANSWER_"

type answerFlags struct{ cancel, stdin, fromEnv bool }

// NewAnswerCommand returns the command pdpp answer.
func NewAnswerCommand(inv *command.Invocation) *cobra.Command {
	var f answerFlags
	cmd := &cobra.Command{
		Use: "answer CONNECTION|RUN", Short: "Answer the question of a run", Long: answerHelp, Example: answerExamples,
		Args: arguments.Required("the name of a connection or run"),
		RunE: inv.WithOwner(func(ctx context.Context, o api.Owner, args []string) error {
			run, q, err := findQuestion(ctx, o, args[0])
			if err != nil {
				return err
			}
			answer, err := composeAnswer(ctx, inv, q, f)
			if err != nil {
				return err
			}
			if err := o.Answer(ctx, run.ID, answer); err != nil {
				return err
			}
			return inv.Show(nil, map[string]any{"run_id": run.ID, "connection_id": run.ConnectionID,
				"request_id": answer.RequestID, "status": answer.Status}, func() {
				printAnswered(inv, run, answer)
			})
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.cancel, "cancel", false, "refuse the question")
	flags.BoolVar(&f.stdin, "stdin", false, "read the answer from standard input, as one JSON object")
	flags.BoolVar(&f.fromEnv, "from-env", false, "take the answer from variables "+answerVariablePrefix+"<FIELD>")
	cmd.MarkFlagsMutuallyExclusive("cancel", "stdin", "from-env")
	return cmd
}

// findQuestion returns the open question of a run, or of the active run of a connection.
func findQuestion(ctx context.Context, o api.Owner, name string) (api.Run, api.Question, error) {
	run, found, err := command.FindRun(ctx, o, name)
	if err != nil {
		return run, api.Question{}, err
	}
	if !found {
		conn, err := command.FindConnection(ctx, o, name, command.ChooseByID)
		if err != nil {
			return run, api.Question{}, err
		}
		d, err := o.Connection(ctx, conn.ID)
		if err != nil {
			return run, api.Question{}, err
		}
		if d.ActiveRun == nil {
			return run, api.Question{}, noQuestion(conn.ID)
		}
		run = *d.ActiveRun
	}
	q, err := o.Question(ctx, run.ID)
	if failure.HasCode(err, api.CodeNoQuestion) {
		err = noQuestion(run.ConnectionID)
	}
	return run, q, err
}

func noQuestion(connectionID string) *failure.Error {
	return &failure.Error{Code: api.CodeNoQuestion, Exit: failure.ExitNotFound, Message: connectionID +
		" has no open question",
		Next: "See what is asked of you: pdpp attention"}
}

// composeAnswer reads the answer from standard input, variables or the terminal.
func composeAnswer(ctx context.Context, inv *command.Invocation, q api.Question, f answerFlags) (api.Answer, error) {
	refused := api.Answer{RequestID: q.RequestID, Status: string(protocol.ResponseCancelled)}
	var data map[string]string
	var err error
	switch {
	case f.cancel:
		return refused, nil
	case f.stdin:
		data, err = answerFromStdin(inv)
	case f.fromEnv:
		data, err = answerFromEnv(inv, q.Fields)
	default:
		data, err = inv.AskOwner(ctx, q.Message, "(Ctrl-D to refuse, Ctrl-C to leave the question open)", q.Fields,
			"Give the answer with --stdin or --from-env.")
	}
	if errors.Is(err, io.EOF) {
		return refused, nil
	}
	return api.Answer{RequestID: q.RequestID, Status: string(protocol.ResponseSuccess), Data: data}, err
}

// answerFromStdin reads one JSON object. Its members are strings, numbers or booleans; null leaves a field empty.
func answerFromStdin(inv *command.Invocation) (map[string]string, error) {
	b, err := io.ReadAll(io.LimitReader(inv.Env.Stdin, command.LargestValue+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	var members map[string]jsontext.Value
	if len(b) > command.LargestValue || json.Unmarshal(b, &members) != nil || members == nil {
		return nil, failure.UsageError("standard input is not one JSON object",
			`Give the fields by their names, like {"code":"123456"}.`)
	}
	answers := map[string]string{}
	for name, value := range members {
		var text string
		switch value.Kind() {
		case 'n':
			continue
		case '{', '[':
			return nil, failure.UsageError("the field "+failure.SafeText(name)+" is not one value",
				`Give the fields by their names, like {"code":"123456"}.`)
		case '"':
			if json.Unmarshal(value, &text) != nil {
				return nil, failure.UsageError("the field "+failure.SafeText(name)+" is not text", "Write it in UTF-8.")
			}
		default:
			text = string(value)
		}
		answers[name] = text
	}
	return answers, nil
}

func answerFromEnv(inv *command.Invocation, fields []api.QuestionField) (map[string]string, error) {
	answers := map[string]string{}
	for _, f := range fields {
		name := answerVariable(f.Name)
		text, _, err := inv.Variable(name)
		if err != nil {
			return nil, err
		}
		if err := runview.AnswerFits(f, text); err != nil {
			return nil, failure.ConfigurationError(name+": "+err.Error(), "Set it, or "+name+"_FILE.")
		}
		if text != "" {
			answers[f.Name] = text
		}
	}
	return answers, nil
}

// answerVariable returns the variable for a field of a question.
func answerVariable(field string) string { return arguments.FieldVariable(answerVariablePrefix, field) }

func printAnswered(inv *command.Invocation, run api.Run, answer api.Answer) {
	what := "The answer is"
	if answer.Status == string(protocol.ResponseCancelled) {
		what = "Your refusal is"
	}
	output.Printf(inv.Out, "%s on its way to run %s.\n", what, run.ID)
}
