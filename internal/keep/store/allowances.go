package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Allowances are what providers allow several runs together. A key tells nothing of the account that it stands
// for. A run draws on an allowance from its joining until it no longer holds its lease: its end, and that of its
// process, gives its part back.
type Allowances interface {
	// JoinAllowance makes the run one of those that draw on the allowance, under its lease and behind those
	// that do already, and gives the allowance as it is then. Joining again changes nothing. From then on a wait
	// of the sender is one of all connections that drew on the allowance (Waits), for as long as it is remembered.
	JoinAllowance(ctx context.Context, l Lease, key, sender string, now time.Time) (Allowance, error)
	// TellAllowances keeps what runs tell of allowances that they draw on. What others tell is left out.
	TellAllowances(ctx context.Context, told []Told, now time.Time) error
	// Allowances gives those that runs draw on by now, ordered by key.
	Allowances(ctx context.Context, keys []string, now time.Time) ([]Allowance, error)
}

// Sharing is what an owner may know of allowances.
type Sharing interface {
	// Sharers gives who shares an allowance with the connection; of several allowances the one that most do. It
	// counts the connection itself, but none that its owner revoked, and is zero when it drew on none that is
	// remembered.
	Sharers(ctx context.Context, connectionID string, now time.Time) (Sharers, error)
}

// Sharers are how many connections draw on one allowance, and how many runs do at this moment.
type Sharers struct{ Connections, Runs int }

// Allowance is what is known of one, and who draws on it.
type Allowance struct {
	Key     string
	Learned jsontext.Value // as told last; nil when nobody has
	Members []AllowanceMember
}

// AllowanceMember is a run that draws on an allowance. Members are in the order of their joining.
type AllowanceMember struct {
	RunID  string
	Holder string         // as in the run's lease
	Joined int64          // which joining it was; no two runs have the same
	News   jsontext.Value // as told last; nil when there are none
}

// Told is what a run tells of an allowance. What is nil stays as it was.
type Told struct {
	Key, RunID string
	News       jsontext.Value // for the runs beside it
	Learned    jsontext.Value // for those after it
}

// AllowanceKept is how long an allowance is remembered that nobody draws on. What was learned of it is not
// trusted for as long.
const AllowanceKept = 24 * time.Hour
