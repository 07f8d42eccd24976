package runview

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// AnswerData turns what was typed into the object that the question's form asks for.
func AnswerData(q store.Interaction, typed map[string]string) (jsontext.Value, error) {
	fields, err := questionFields(q)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	data := map[string]any{}
	for _, f := range fields {
		known[f.Name] = true
		value, given, err := typedValue(f, typed[f.Name])
		if err != nil {
			return nil, err
		}
		if given {
			data[f.Name] = value
		}
	}
	for name := range typed {
		if !known[name] {
			return nil, api.Invalid("data", "The question has no such field.", "Answer the fields of the question.")
		}
	}
	body, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return nil, api.Invalid("data", "The answer is not text.", "Enter it again.")
	}
	return body, nil
}

// AnswerFits returns an error if the typed text is not a valid answer for the field.
func AnswerFits(f api.QuestionField, text string) error {
	_, _, err := typedValue(f, text)
	return err
}

// typedValue converts typed text to a JSON value. The second result is false for an empty optional field. The error
// names the field and never contains the typed text.
func typedValue(f api.QuestionField, text string) (value any, given bool, err error) {
	wrong := func(message string) error {
		return &api.Error{Status: http.StatusBadRequest, Code: interaction.ErrInvalidAnswer.Code, Param: f.Name,
			Message: f.Label + ": " + message, Next: interaction.ErrInvalidAnswer.Next}
	}
	if text == "" {
		if f.Required {
			return nil, false, wrong("an answer is needed.")
		}
		return nil, false, nil
	}
	if len(f.Options) > 0 && !slices.Contains(f.Options, text) {
		return nil, false, wrong("choose one of the options.")
	}
	switch f.Type {
	case typeYesNo:
		switch strings.ToLower(text) {
		case "y", "yes", "true", "on":
			return true, true, nil
		case "n", "no", "false", "off":
			return false, true, nil
		}
		return nil, false, wrong("answer yes or no.")
	case typeWhole:
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, false, wrong("a whole number is needed.")
		}
		return n, true, nil
	case typeDecimal:
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || n-n != 0 {
			return nil, false, wrong("a number is needed.")
		}
		return n, true, nil
	default:
		return text, true, nil
	}
}
