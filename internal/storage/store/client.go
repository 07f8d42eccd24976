package store

import "context"

type clientContextKey struct{}

// ForClient marks a context whose reads serve a client with a grant. The store uses separate database connections for
// them, so that no client delays the owner.
func ForClient(ctx context.Context) context.Context {
	return context.WithValue(ctx, clientContextKey{}, true)
}

// IsForClient reports whether ctx was marked by ForClient.
func IsForClient(ctx context.Context) bool { return ctx.Value(clientContextKey{}) != nil }
