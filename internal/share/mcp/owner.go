package mcp

import "context"

// Owner answers what only an owner may know. A server for the caller of a grant has none.
type Owner interface {
	// Missing returns what is missing of each connection, or of one, in the words of its verdict.
	Missing(ctx context.Context, connectionID string) ([]Missing, error)
	// Versions returns earlier versions of a record, the newest first.
	Versions(ctx context.Context, connectionID, stream, id string) ([]Version, error)
}

// Operator changes something for an owner. Each method returns one sentence about the result.
type Operator interface {
	// RunNow requests a run of a connection.
	RunNow(ctx context.Context, connectionID string) (string, error)
	// RetryGap lets the next run try a gap again.
	RetryGap(ctx context.Context, gapID string) (string, error)
	// Why explains the state of a connection.
	Why(ctx context.Context, connectionID string) (string, error)
}

// Missing is what an owner knows about the completeness of a connection.
type Missing struct {
	Connection string   `json:"connection_id"`
	Name       string   `json:"name"`
	State      string   `json:"state" jsonschema:"the verdict on the connection"`
	Statement  string   `json:"statement,omitempty" jsonschema:"what the verdict expects next"`
	Records    int64    `json:"record_count"`
	Missing    *int64   `json:"missing_count,omitempty" jsonschema:"records that exist and are not held, if known"`
	Reason     string   `json:"reason,omitempty" jsonschema:"what is missing and why"`
	Ranges     []string `json:"missing_ranges,omitempty" jsonschema:"days that are not held whole, with the reason"`
}

// Version is an earlier version of a record.
type Version struct {
	At   string `json:"changed_at"`
	Data any    `json:"data,omitempty"`
}
