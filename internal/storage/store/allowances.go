package store

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Allowances stores provider quotas that several runs share. A key reveals nothing about its account. A run is a
// member of an allowance from joining until it no longer holds its lease, also when its process ends.
type Allowances interface {
	// JoinAllowance adds the run as the last member of the allowance, under its lease, and returns the allowance.
	// Joining again changes nothing. From then on, a wait of the sender applies to all connections that used the
	// allowance (Waits), for as long as it is stored.
	JoinAllowance(ctx context.Context, l Lease, key, sender string, now time.Time) (Allowance, error)
	// UpdateAllowances stores updates of members. It ignores updates of runs that are not members.
	UpdateAllowances(ctx context.Context, allowanceUpdates []AllowanceUpdate, now time.Time) error
	// Allowances returns those that have members now, ordered by key.
	Allowances(ctx context.Context, keys []string, now time.Time) ([]Allowance, error)
}

// AllowanceSharing reads how many connections share an allowance.
type AllowanceSharing interface {
	// AllowanceSharers counts the connections and runs that share an allowance with the connection; of several
	// allowances, the one with the most. It counts the connection itself, but no revoked ones. It is zero when the
	// connection used no stored allowance.
	AllowanceSharers(ctx context.Context, connectionID string, now time.Time) (AllowanceSharers, error)
}

// AllowanceSharers counts the connections that use one allowance, and its runs at this moment.
type AllowanceSharers struct{ Connections, Runs int }

// Allowance is a shared quota and its members.
type Allowance struct {
	Key     string
	Learned jsontext.Value // the newest update; nil when there is none
	Members []AllowanceMember
}

// AllowanceMember is a run that uses an allowance. Members are listed in the order of joining.
type AllowanceMember struct {
	RunID  string
	Holder string         // as in the run's lease
	Joined int64          // position in the order of joining, unique per run
	News   jsontext.Value // the newest update; nil when there is none
}

// AllowanceUpdate is a member's update of an allowance. Nil members stay unchanged.
type AllowanceUpdate struct {
	Key, RunID string
	News       jsontext.Value // for the other members
	Learned    jsontext.Value // for later members
}

// AllowanceRetention is how long an allowance without members is stored. What was learned about it is trusted for a
// shorter time.
const AllowanceRetention = 24 * time.Hour
