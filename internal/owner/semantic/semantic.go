// Package semantic defines what an owner sees of searching by meaning, and of where texts of records are sent for it.
package semantic

import (
	"context"
	"time"
)

// Control turns searching by meaning on and off.
type Control interface {
	// SemanticSearch returns whether it is on, and where texts are sent.
	SemanticSearch(ctx context.Context) (Search, error)
	// SetSemanticSearch turns it on at an endpoint that answers. Another endpoint or model computes everything again.
	SetSemanticSearch(ctx context.Context, e Endpoint) (Search, error)
	// EndSemanticSearch turns it off and deletes what was computed. Nothing is sent any more.
	EndSemanticSearch(ctx context.Context) error
}

// Search is how searching by meaning goes. Only On is set while it is off.
type Search struct {
	On        bool       `json:"on"`
	Kind      string     `json:"kind" enum:"ollama,openai"`
	Address   string     `json:"address"`
	Model     string     `json:"model"`
	HasSecret bool       `json:"has_secret"`
	Leaves    bool       `json:"leaves_network"` // texts may be sent over the Internet
	ChangedAt *time.Time `json:"changed_at"`
	Vectors   int64      `json:"vectors"`         // texts that can be found
	Pending   int64      `json:"pending_changes"` // changes of records that are not looked at yet
	Failure   string     `json:"last_failure"`    // empty while the endpoint answers
	NextAt    *time.Time `json:"next_attempt_at"`
}

// Endpoint is where texts are sent, and the model that turns them into numbers.
type Endpoint struct {
	Kind    string `json:"kind" enum:"ollama,openai"`
	Address string `json:"address"` // without a path, the usual one of the kind
	Model   string `json:"model"`
	// Secret is sent as a bearer token. Empty keeps that of the same endpoint and model.
	Secret string `json:"secret,omitempty"`
}
