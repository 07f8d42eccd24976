package reply

// Scope is a part of what an owner can do. An owner token is allowed some of them, and
// every route of the owner's needs one.
type Scope string

const (
	ScopeRead   Scope = "read"   // look at everything, and export it
	ScopeRun    Scope = "run"    // start and stop runs, and answer them
	ScopeManage Scope = "manage" // change connections, grants and settings, and take ways in away
	// ScopeAll is everything: besides the others, what adds a way in, and deleting records. A
	// session needs fresh proof for it.
	ScopeAll Scope = "all"
)

// Scopes lists them, the least first.
var Scopes = []Scope{ScopeRead, ScopeRun, ScopeManage, ScopeAll}
