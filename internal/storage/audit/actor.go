package audit

import "context"

// ActorKind is how an actor was identified.
type ActorKind string

const (
	UnknownActor ActorKind = "stranger" // not identified, or not yet
	SessionActor ActorKind = "session"
	OwnerToken   ActorKind = "owner_token"
	Grant        ActorKind = "grant"
	CommandActor ActorKind = "command" // on the machine that holds the data
	Device       ActorKind = "device"
	Server       ActorKind = "server" // without an actor
)

// Actor is who performs an action. ID identifies a session, token or grant without being a secret.
type Actor struct {
	Kind     ActorKind
	ID, Name string
	Address  string
}

type actorKey struct{}

// WithActor returns a context in which everything is attributed to the actor.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorFrom returns the actor of a context; false when there is none.
func ActorFrom(ctx context.Context) (Actor, bool) {
	a, ok := ctx.Value(actorKey{}).(Actor)
	return a, ok
}
