package audit

import "context"

// ActorKind is in what way an actor was known.
type ActorKind string

const (
	Stranger   ActorKind = "stranger" // not known, or not yet
	Session    ActorKind = "session"
	OwnerToken ActorKind = "owner_token"
	Grant      ActorKind = "grant"
	Command    ActorKind = "command" // on the machine that holds the data
	Device     ActorKind = "device"
	Server     ActorKind = "server" // by itself
)

// Actor is who does something. ID names a session, a token or a grant without opening
// anything.
type Actor struct {
	Kind     ActorKind
	ID, Name string
	Address  string
}

type actorKey struct{}

// With gives a context in which everything is done by an actor.
func With(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, actorKey{}, a) }

// From gives who does what is done in a context; false when nobody has said.
func From(ctx context.Context) (Actor, bool) {
	a, ok := ctx.Value(actorKey{}).(Actor)
	return a, ok
}
