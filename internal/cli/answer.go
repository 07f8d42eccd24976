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

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/runview"
	"github.com/pdpp-go/pdpp/protocol"
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
		RunE: a.withOwner(func(ctx context.Context, o api.Owner, args []string) error {
			run, q, err := findQuestion(ctx, o, args[0])
			if err != nil {
				return err
			}
			answer, err := a.compose(ctx, q, f)
			if err != nil {
				return err
			}
			if err := o.Answer(ctx, run.ID, answer); err != nil {
				return err
			}
			a.tellAnswered(run, answer)
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

// findQuestion gives the open question of a run, or of the run that a connection is making.
func findQuestion(ctx context.Context, o api.Owner, name string) (api.Run, api.Question, error) {
	run, found, err := findRun(ctx, o, name)
	if err != nil {
		return run, api.Question{}, err
	}
	if !found {
		conn, err := pickOwned(ctx, o, name, byName)
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
	if hasCode(err, api.CodeNoQuestion) {
		err = noQuestion(run.ConnectionID)
	}
	return run, q, err
}

func noQuestion(connectionID string) *Error {
	return &Error{Code: api.CodeNoQuestion, Exit: ExitNotFound, Message: connectionID + " has no open question",
		Next: "See what is asked of you: pdpp attention"}
}

// compose gets the answer from where the owner wants to give it.
func (a *app) compose(ctx context.Context, q api.Question, f answerFlags) (api.Answer, error) {
	refused := api.Answer{RequestID: q.RequestID, Status: string(protocol.ResponseCancelled)}
	var data map[string]string
	var err error
	switch {
	case f.cancel:
		return refused, nil
	case f.stdin:
		data, err = a.answerFromStdin()
	case f.fromEnv:
		data, err = a.answerFromEnv(q.Fields)
	default:
		data, err = a.askOwner(ctx, q.Message, "(Ctrl-D to refuse, Ctrl-C to leave the question open)", q.Fields, "Give the answer with --stdin or --from-env.")
	}
	if errors.Is(err, io.EOF) {
		return refused, nil
	}
	return api.Answer{RequestID: q.RequestID, Status: string(protocol.ResponseSuccess), Data: data}, err
}

// answerFromStdin reads one JSON object. Its members are texts, numbers, or true and
// false; null is a field left empty.
func (a *app) answerFromStdin() (map[string]string, error) {
	b, err := io.ReadAll(io.LimitReader(a.env.Stdin, maxValueFile+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	var members map[string]jsontext.Value
	if len(b) > maxValueFile || json.Unmarshal(b, &members) != nil || members == nil {
		return nil, usage("standard input is not one JSON object", `Give the fields by their names, like {"code":"123456"}.`)
	}
	answers := map[string]string{}
	for name, value := range members {
		var text string
		switch value.Kind() {
		case 'n':
			continue
		case '{', '[':
			return nil, usage("the field "+safe(name)+" is not one value", `Give the fields by their names, like {"code":"123456"}.`)
		case '"':
			if json.Unmarshal(value, &text) != nil {
				return nil, usage("the field "+safe(name)+" is not text", "Write it in UTF-8.")
			}
		default:
			text = string(value)
		}
		answers[name] = text
	}
	return answers, nil
}

func (a *app) answerFromEnv(fields []api.QuestionField) (map[string]string, error) {
	answers := map[string]string{}
	for _, f := range fields {
		name := answerVariable(f.Name)
		text, _, err := a.variable(name)
		if err != nil {
			return nil, err
		}
		if err := runview.Fits(f, text); err != nil {
			return nil, configError(name+": "+err.Error(), "Set it, or "+name+"_FILE.")
		}
		if text != "" {
			answers[f.Name] = text
		}
	}
	return answers, nil
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

func (a *app) tellAnswered(run api.Run, answer api.Answer) {
	if a.json {
		writeJSON(a.out, map[string]any{"run_id": run.ID, "connection_id": run.ConnectionID, "request_id": answer.RequestID, "status": answer.Status})
		return
	}
	what := "The answer is"
	if answer.Status == string(protocol.ResponseCancelled) {
		what = "Your refusal is"
	}
	printf(a.out, "%s on its way to run %s.\n", what, run.ID)
}
