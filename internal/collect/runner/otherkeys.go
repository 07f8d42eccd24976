package runner

import (
	"fmt"
	"hash/maphash"

	"github.com/pdpp-go/pdpp/protocol"
)

// maxOtherKeys bounds the keys of one stream that are checked for a second item.
const maxOtherKeys = 10_000

// otherKeys counts records of one stream with a key other than the value of their primary key.
type otherKeys struct {
	seen   map[string]uint64 // by key, the digest of the primary key's value
	stored int64
	shared int64 // items that were rejected because their key is that of another item
}

var otherKeySeed = maphash.MakeSeed()

// checkKey counts a record that is stored under a key other than the value of its primary key. It rejects a
// second item under the same key, which would replace the first.
func (st *stream) checkKey(m *protocol.Record) *protocol.Violation {
	value, other := st.OtherKey(m)
	if !other {
		return nil
	}
	o, digest := &st.otherKeys, maphash.String(otherKeySeed, value)
	before, used := o.seen[m.Key]
	switch {
	case used && before != digest:
		o.shared++
		return &protocol.Violation{Subtype: protocol.KeyMismatch, MessageType: protocol.TypeRecord, Stream: st.name,
			Received: "the key of another item", Expected: []string{"a key for each value of " + st.primaryKey()}}
	case !used && len(o.seen) < maxOtherKeys:
		if o.seen == nil {
			o.seen = map[string]uint64{}
		}
		o.seen[m.Key] = digest
	}
	o.stored++
	return nil
}

// noteOtherKeys writes to the run's timeline how many records have keys that their manifest does not promise.
func (s *session) noteOtherKeys() {
	for _, st := range s.streams.order {
		if n := st.otherKeys.stored; n > 0 {
			text := fmt.Sprintf("%d items are stored under the key that the connector sent. "+
				"Its manifest promises the value of %s as the key.", n, st.primaryKey())
			s.timeline.note("run.progress_reported", st.name, map[string]any{"message": text})
		}
	}
}
