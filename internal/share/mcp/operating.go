package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type (
	operateArguments struct {
		Connection string `json:"connection_id" jsonschema:"id of the connection"`
	}
	retryArguments struct {
		Gap string `json:"gap_id" jsonschema:"id of the gap"`
	}
	operateAnswer struct {
		Result string `json:"result"`
	}
)

// addOperating adds the tools that an owner has allowed.
func (t *tools) addOperating(s *sdk.Server) {
	if t.Operator == nil {
		return
	}
	result := func(sentence string, err error) (toolAnswer[operateAnswer], error) {
		return toolAnswer[operateAnswer]{operateAnswer{sentence}, sentence}, err
	}
	addTool(s, toolDescription{name: "run_now", title: "Collect now", changes: true,
		about: "Asks a source for new data now."}, t.Log,
		func(ctx context.Context, in operateArguments) (toolAnswer[operateAnswer], error) {
			return result(t.Operator.RunNow(ctx, in.Connection))
		})
	addTool(s, toolDescription{name: "retry_gap", title: "Try a gap again", changes: true,
		about: "Lets the next run try again to fetch something that is missing."}, t.Log,
		func(ctx context.Context, in retryArguments) (toolAnswer[operateAnswer], error) {
			return result(t.Operator.RetryGap(ctx, in.Gap))
		})
	addTool(s, toolDescription{name: "why", title: "Why is a source in its state",
		about: "Explains the state of a connection, step by step."}, t.Log,
		func(ctx context.Context, in operateArguments) (toolAnswer[operateAnswer], error) {
			return result(t.Operator.Why(ctx, in.Connection))
		})
}
