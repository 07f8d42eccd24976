package connectorkit

import (
	"time"

	"pdpp/protocol"
)

// ledger says what became of every key that a lane considered in this run. A
// key considered twice has the outcome of the last time.
type ledger struct {
	keys     []string // in order of first consideration
	entries  map[string]entry
	backlogs int // keys that stand for a window, not for an item
}

type entry struct {
	hydrated bool
	at       time.Time // content time it was considered at; zero when unknown
}

func newLedger() *ledger { return &ledger{entries: map[string]entry{}} }

func (b *ledger) set(key string, hydrated bool, at time.Time) {
	if _, known := b.entries[key]; !known {
		b.keys = append(b.keys, key)
	}
	b.entries[key] = entry{hydrated: hydrated, at: at}
}

// handled reports whether this very version of the item was considered already.
func (b *ledger) handled(item Item) bool {
	e, known := b.entries[item.Key]
	return known && !item.Time.IsZero() && e.at.Equal(item.Time)
}

// coverage is the account of the given keys, each of which was set.
func (b *ledger) coverage(keys []string) *protocol.KeyCoverage {
	c := &protocol.KeyCoverage{RequiredKeys: keys}
	for _, key := range keys {
		if b.entries[key].hydrated {
			c.HydratedKeys = append(c.HydratedKeys, key)
		} else {
			c.GapKeys = append(c.GapKeys, key)
		}
	}
	return c
}
