package api

import (
	"context"
	"net/http"
)

// RunOptions are what a request for a run may ask for. The body may be left out.
type RunOptions struct {
	// AskAnyway asks the source although it announced a pause. It is a step of its own, for an owner
	// who has read provider_wait.
	AskAnyway bool `json:"ask_anyway" required:"false"`
	// RecoveryOnly tries again what is missing, and nothing else.
	RecoveryOnly bool `json:"recovery_only" required:"false"`
}

// Run sends no options.
func (c *Client) Run(ctx context.Context, connectionID string) error {
	return c.run(ctx, connectionID, nil)
}

// RunAnyway sends ask_anyway.
func (c *Client) RunAnyway(ctx context.Context, connectionID string) error {
	return c.run(ctx, connectionID, RunOptions{AskAnyway: true})
}

// RunRecovery sends recovery_only.
func (c *Client) RunRecovery(ctx context.Context, connectionID string, anyway bool) error {
	return c.run(ctx, connectionID, RunOptions{AskAnyway: anyway, RecoveryOnly: true})
}

func (c *Client) run(ctx context.Context, connectionID string, body any) error {
	path := []string{"_ref", "connections", connectionID, "run"}
	return c.call(ctx, request{method: http.MethodPost, path: path, body: body}, nil)
}
