package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxAnswer is the most bytes of one answer: the structure, and the same as text. maxContent leaves room for the
// sentence and the envelope.
const (
	maxAnswer  = 64 << 10
	maxContent = maxAnswer - 6<<10
)

// contentSize returns the bytes of a value in an answer, in both forms.
func contentSize(value any) int {
	body, err := json.Marshal(value)
	if err != nil {
		return 0
	}
	text, err := json.Marshal(string(body))
	if err != nil {
		return 0
	}
	return len(body) + len(text)
}

// toolDescription is what a client learns of a tool.
type toolDescription struct {
	name, title, about string
	// changes means that the tool is not read-only.
	changes bool
}

// toolAnswer is the answer of a tool, with a sentence for clients that show only text.
type toolAnswer[Out any] struct {
	out      Out
	sentence string
}

// addTool adds a tool. Arguments are validated against the schema of In. The answer is written exactly as Out encodes,
// so that numbers of records keep every digit.
func addTool[In, Out any](s *sdk.Server, d toolDescription, log *slog.Logger,
	answer func(ctx context.Context, in In) (toolAnswer[Out], error)) {
	in, out := schemaOf[In](), schemaOf[Out]()
	no := false
	tool := &sdk.Tool{Name: d.name, Title: d.title, Description: d.about, InputSchema: in.schema,
		OutputSchema: out.schema, Annotations: &sdk.ToolAnnotations{Title: d.title, ReadOnlyHint: !d.changes,
			IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}}
	s.AddTool(tool, func(ctx context.Context, q *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var arguments In
		if err := in.decode(q.Params.Arguments, &arguments); err != nil {
			return failed(err.Error()), nil
		}
		made, err := answer(ctx, arguments)
		if err != nil {
			return failed(sayableError(ctx, log, d.name, err)), nil
		}
		body, err := json.Marshal(made.out)
		if err != nil {
			return failed(sayableError(ctx, log, d.name, err)), nil
		}
		return &sdk.CallToolResult{StructuredContent: json.RawMessage(body), Content: []sdk.Content{
			&sdk.TextContent{Text: made.sentence}, &sdk.TextContent{Text: string(body)}}}, nil
	})
}

// invalidArgument is an error about the arguments of a call.
type invalidArgument string

func (e invalidArgument) Error() string { return string(e) }

// sayableError returns the text of an error for the client. It logs an error of ours and hides it.
func sayableError(ctx context.Context, log *slog.Logger, tool string, err error) string {
	var refused *readError
	var invalid invalidArgument
	switch {
	case errors.As(err, &refused):
		return refused.Error()
	case errors.As(err, &invalid):
		return invalid.Error()
	case ctx.Err() != nil:
		return "The call was cancelled."
	}
	log.ErrorContext(ctx, "a tool of an assistant failed", "tool", tool, "error", err)
	return "Something went wrong in PDPP. Its log has more."
}

func failed(message string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: message}}}
}

// typeSchema is the JSON Schema of a type.
type typeSchema struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// knownSchemas holds a typeSchema for each type: they do not depend on the server.
var knownSchemas sync.Map

func schemaOf[T any]() typeSchema {
	key := reflect.TypeFor[T]()
	if known, ok := knownSchemas.Load(key); ok {
		return known.(typeSchema)
	}
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
	}})
	if err != nil {
		panic(fmt.Sprintf("no schema of %v: %v", key, err))
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("the schema of %v does not resolve: %v", key, err))
	}
	known, _ := knownSchemas.LoadOrStore(key, typeSchema{schema, resolved})
	return known.(typeSchema)
}

// decode reads the arguments of a call. An error is for the client, who sent them.
func (t typeSchema) decode(arguments json.RawMessage, into any) error {
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = json.RawMessage("{}")
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return invalidArgument("The arguments are not JSON.")
	}
	if err := t.resolved.Validate(value); err != nil {
		return invalidArgument("The arguments do not fit the tool's input schema: " + err.Error())
	}
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return invalidArgument("The arguments do not fit the tool's input schema.")
	}
	return nil
}
