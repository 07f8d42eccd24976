package listdetail

import (
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// keyLedger records the outcome of every key that a lane considered in this run. The last outcome of a key counts.
type keyLedger struct {
	keys     []string // in order of first consideration
	entries  map[string]ledgerEntry
	backlogs int // keys that represent a window, not an item
}

type ledgerEntry struct {
	hydrated bool
	at       time.Time // content time when considered; zero if unknown
}

func newKeyLedger() *keyLedger { return &keyLedger{entries: map[string]ledgerEntry{}} }

func (b *keyLedger) setOutcome(key string, hydrated bool, at time.Time) {
	if _, known := b.entries[key]; !known {
		b.keys = append(b.keys, key)
	}
	b.entries[key] = ledgerEntry{hydrated: hydrated, at: at}
}

// wasConsidered reports whether this version of the item was already considered.
func (b *keyLedger) wasConsidered(item Item) bool {
	e, known := b.entries[item.Key]
	return known && (item.Time.IsZero() || e.at.Equal(item.Time))
}

// isComplete reports whether every considered key is hydrated.
func (b *keyLedger) isComplete() bool {
	for _, e := range b.entries {
		if !e.hydrated {
			return false
		}
	}
	return true
}

// keyCoverage returns the account of the keys, each of which was set.
func (b *keyLedger) keyCoverage(keys []string) *protocol.KeyCoverage {
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
