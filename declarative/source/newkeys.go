package source

import (
	"errors"
	"hash/maphash"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/declarative/expression"
)

const (
	// maxOldPages bounds the pages of a partition in a row that have no new record.
	maxOldPages = 3
	// maxKnownKeys bounds the records of a partition that are compared.
	maxKnownKeys = 100_000
)

var errOldPages = errors.New("three pages have no new record: the provider does not go on to other pages")

var keySeed = maphash.MakeSeed()

// newKeys finds pages without a new record in the pages of one partition. A provider that ignores the number of a page
// never sends a last one.
type newKeys struct {
	known map[uint64]struct{}
	old   int // pages in a row
}

// check returns an error if too many pages had no new record.
func (n *newKeys) check(items []jsontext.Value, key []string) error {
	if len(items) == 0 {
		return nil
	}
	if n.known == nil || len(n.known) > maxKnownKeys {
		n.known = map[uint64]struct{}{}
	}
	before := len(n.known)
	for _, item := range items {
		n.known[itemHash(item, key)] = struct{}{}
	}
	if len(n.known) > before {
		n.old = 0
		return nil
	}
	if n.old++; n.old >= maxOldPages {
		return connectorkit.Fail(connectorkit.Malformed, errOldPages)
	}
	return nil
}

// itemHash identifies an item by the members of the key, or by all if it lacks one.
func itemHash(item jsontext.Value, key []string) uint64 {
	var h maphash.Hash
	h.SetSeed(keySeed)
	found := 0
	expression.EachMember(item, func(quoted, value jsontext.Value) bool {
		for _, name := range key {
			if expression.IsName(quoted, name) {
				_, _ = h.Write(value) // a hash has no errors
				found++
			}
		}
		return found < len(key)
	})
	if found == 0 || found < len(key) {
		return maphash.Bytes(keySeed, item)
	}
	return h.Sum64()
}
