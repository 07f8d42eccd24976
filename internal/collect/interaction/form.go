package interaction

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/manifest"
)

// largestAnswer bounds what an owner can send to a connector. A form holds a
// password or a code, and at most a pasted page of settings.
const largestAnswer = 256 << 10

// errForm is an answer that is not even an object.
var errForm = &usererr.Error{Status: http.StatusBadRequest, Param: "data", Code: ErrInvalidAnswer.Code,
	Message: "an answer is a JSON object of moderate size", Next: "Send the fields as one object."}

// checkForm holds the answer to the question's form, if it has one. Fields that
// the form declares are named; nothing else of the answer is.
func checkForm(form, data jsontext.Value) error {
	if len(data) == 0 {
		data = jsontext.Value("{}")
	}
	var answer any
	if len(data) > largestAnswer || jsonx.Unmarshal(data, &answer) != nil {
		return errForm
	}
	if _, object := answer.(map[string]any); !object {
		return errForm
	}
	if len(form) == 0 {
		return nil
	}
	schema, err := compile(form)
	if err != nil {
		return ErrFormUnreadable
	}
	err = schema.Validate(answer)
	var wrong *jsonschema.ValidationError
	switch {
	case errors.As(err, &wrong):
		out := *ErrInvalidAnswer
		if fields := wrongFields(schema, wrong); len(fields) > 0 {
			out.Param, out.Message = fields[0], out.Message+": "+strings.Join(fields, ", ")
		}
		return &out
	case err != nil:
		return ErrFormUnreadable
	}
	return nil
}

// compile uses the guards that record schemas have: no other document is read,
// and no number is beyond computing.
func compile(form jsontext.Value) (*jsonschema.Schema, error) {
	m := manifest.Manifest{Streams: []manifest.Stream{{Name: "answer", Schema: json.RawMessage(form)}}}
	compiled, err := m.CompileSchemas()
	return compiled["answer"], err
}

// wrongFields are the declared members that are missing or do not fit, in order.
func wrongFields(schema *jsonschema.Schema, e *jsonschema.ValidationError) []string {
	var names []string
	note := func(name string) {
		if _, declared := schema.Properties[name]; declared && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.InstanceLocation) > 0 {
			note(e.InstanceLocation[0])
		}
		if missing, ok := e.ErrorKind.(*kind.Required); ok && len(e.InstanceLocation) == 0 {
			for _, name := range missing.Missing {
				note(name)
			}
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(e)
	slices.Sort(names)
	return names
}
