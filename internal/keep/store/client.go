package store

import "context"

type forClient struct{}

// ForClient marks what is read for a client with a grant. The store reads it through
// connections that owners do not use, so that no client keeps an owner waiting.
func ForClient(ctx context.Context) context.Context { return context.WithValue(ctx, forClient{}, true) }

// IsForClient reports whether the context is one of ForClient.
func IsForClient(ctx context.Context) bool { return ctx.Value(forClient{}) != nil }
